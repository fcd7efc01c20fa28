//! Drops, counted.

use std::cell::Cell;
use std::rc::Rc;

use super::OnDrop;

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
