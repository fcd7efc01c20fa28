//! A place for what is known only later.

use std::cell::RefCell;
use std::rc::Rc;

/// Holds a value that one closure puts there and another takes.
#[derive(Debug)]
pub(crate) struct Slot<T>(Rc<RefCell<Option<T>>>);

impl<T> Slot<T> {
    pub(crate) fn new() -> Self {
        Self(Rc::default())
    }

    /// Drops what was there.
    pub(crate) fn put(&self, value: T) {
        let old = self.0.replace(Some(value));
        drop(old);
    }

    #[track_caller]
    pub(crate) fn take(&self) -> T {
        self.0.take().expect("it was put there")
    }

    /// Uses the value where it is.
    #[track_caller]
    pub(crate) fn with<R>(&self, then: impl FnOnce(&T) -> R) -> R {
        then(self.0.borrow().as_ref().expect("it was put there"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_none()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}
