//! Drops: what happens at them, how many there are, and on which threads.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// Runs a closure when dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(crate) fn new(then: F) -> Self {
        Self(Some(then))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

/// A future that is pending for good and holds a value, which goes when it is dropped.
pub(crate) async fn hold<T>(value: T) {
    let _value = value;
    pending::<()>().await;
}

/// Counts the drops of its guards, on one thread.
#[derive(Clone, Default)]
pub(crate) struct Count(Rc<Cell<usize>>);

impl Count {
    pub(crate) fn guard(&self) -> OnDrop<impl FnOnce() + use<>> {
        let count = Rc::clone(&self.0);
        OnDrop::new(move || count.set(count.get() + 1))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.get()
    }
}

/// Which threads dropped things.
#[derive(Clone, Debug, Default)]
pub(crate) struct DropLog(Arc<Mutex<Vec<ThreadId>>>);

impl DropLog {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Something whose drop is logged. Not `Send`.
    pub(crate) fn local(&self) -> (LoggedDrop, Rc<()>) {
        (LoggedDrop(self.clone()), Rc::new(()))
    }

    /// Something whose drop is logged.
    pub(crate) fn item(&self) -> LoggedDrop {
        LoggedDrop(self.clone())
    }

    fn threads(&self) -> Vec<ThreadId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.threads().len()
    }

    /// There were `n` drops, and this thread did them all.
    #[track_caller]
    pub(crate) fn assert_here(&self, n: usize) {
        assert_eq!(self.threads(), vec![thread::current().id(); n]);
    }
}

#[derive(Debug)]
pub(crate) struct LoggedDrop(pub(crate) DropLog);

impl Drop for LoggedDrop {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(thread::current().id());
    }
}
