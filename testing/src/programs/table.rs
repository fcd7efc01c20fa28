//! Things by the names of tasks, or of groups.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Things by name. Nothing of theirs is called while it is borrowed.
pub(super) struct Table<T>(RefCell<BTreeMap<u16, T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> Table<T> {
    pub(super) fn take(&self, name: u16) -> Option<T> {
        self.0.borrow_mut().remove(&name)
    }

    pub(super) fn put(&self, name: u16, thing: T) {
        let before = self.0.borrow_mut().insert(name, thing);
        drop(before);
    }

    pub(super) fn get(&self, name: u16) -> Option<T>
    where
        T: Clone,
    {
        self.0.borrow().get(&name).cloned()
    }

    /// All, by name. The table is empty then.
    pub(super) fn take_all(&self) -> BTreeMap<u16, T> {
        self.0.take()
    }
}
