//! Groups: tasks of a queue that belong together.

use std::collections::HashMap;

use clockworker_schedulers::GroupId;
use slab::Slab;

/// A group's index among the groups of its queue; [`NO_GROUP`] for none. Of 29 bits.
pub(crate) type GroupIndex = u32;

/// See [`GroupIndex`].
pub(crate) const NO_GROUP: GroupIndex = GroupIndex::MAX >> 3;

/// The groups of a queue, by the user's key.
#[derive(Default)]
pub(super) struct Groups {
    by_key: HashMap<u64, GroupIndex>,
    slots: Slab<GroupSlot>,
}

struct GroupSlot {
    key: u64,
    /// Handles and unfinished tasks.
    holders: usize,
}

/// The group id that a scheduler sees: even for a task without a group, odd for a group, so that both are dense.
#[inline]
pub(crate) fn group_of(slot: u32, group: GroupIndex) -> GroupId {
    GroupId::new(if group == NO_GROUP { 2 * slot } else { 2 * group + 1 })
}

impl Groups {
    pub(super) fn open(&mut self, key: u64) -> GroupIndex {
        if let Some(&index) = self.by_key.get(&key) {
            self.retain(index);
            return index;
        }
        if self.slots.len() >= NO_GROUP as usize {
            return NO_GROUP;
        }
        let index = self.slots.insert(GroupSlot { key, holders: 1 }) as GroupIndex;
        self.by_key.insert(key, index);
        index
    }

    pub(super) fn retain(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
        }
    }

    /// True if that was the last holder. (After an executor was torn down there are handles to groups that are gone.)
    pub(super) fn release(&mut self, index: GroupIndex) -> bool {
        let Some(slot) = self.slots.get_mut(index as usize) else { return false };
        slot.holders -= 1;
        if slot.holders > 0 {
            return false;
        }
        let slot = self.slots.remove(index as usize);
        self.by_key.remove(&slot.key);
        true
    }
}
