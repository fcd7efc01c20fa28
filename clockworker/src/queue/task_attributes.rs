//! [`TaskAttributes`]: what was said of tasks when they were spawned, by slot.

use std::collections::HashMap;

use clockworker_schedulers::Attributes;

/// Entries whose memory is kept when none is left: some 100 KiB.
const KEPT: usize = 2_048;

/// The attributes of those tasks of a queue that have any. Most have none, and are not in here.
#[derive(Debug, Default)]
pub(super) struct TaskAttributes {
    by_slot: HashMap<u32, Attributes>,
}

impl TaskAttributes {
    pub(super) fn insert(&mut self, slot: u32, attributes: Attributes) {
        self.by_slot.insert(slot, attributes);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_slot.is_empty()
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<Attributes> {
        if self.by_slot.is_empty() { None } else { self.by_slot.get(&slot).copied() }
    }

    /// Forgets a task that has finished.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        if !self.by_slot.is_empty() {
            self.by_slot.remove(&slot);
        }
    }

    pub(super) fn clear(&mut self) {
        self.by_slot = HashMap::new();
    }

    /// Gives the memory of a burst back once no entry is left.
    pub(super) fn shrink(&mut self) {
        if self.by_slot.is_empty() && self.by_slot.capacity() > KEPT {
            self.clear();
        }
    }
}
