//! Groups: tasks of a queue that belong together.

use std::collections::HashMap;

use clockworker_schedulers::GroupId;
use slab::Slab;

/// A group's index among the groups of its queue, of 29 bits; [`NO_GROUP`] for none.
pub(crate) type GroupIndex = u32;

/// See [`GroupIndex`].
pub(crate) const NO_GROUP: GroupIndex = GroupIndex::MAX >> 3;

/// The groups of a queue, by the user's key.
#[derive(Default)]
pub(super) struct Groups {
    by_key: HashMap<u64, GroupIndex>,
    slots: Slab<GroupSlot>,
    /// Groups from which a task went while a waiter waited for that.
    freed: Vec<GroupIndex>,
}

struct GroupSlot {
    key: u64,
    /// [`Group`](crate::Group) handles and unfinished tasks.
    holders: usize,
    /// Unfinished tasks.
    live: usize,
    /// Whether a waiter waits for a task to go.
    is_awaited: bool,
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
        let index =
            self.slots.insert(GroupSlot { key, holders: 1, live: 0, is_awaited: false }) as GroupIndex;
        self.by_key.insert(key, index);
        index
    }

    pub(super) fn retain(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
        }
    }

    /// Counts one task more, which is a holder.
    pub(super) fn join(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
            slot.live += 1;
        }
    }

    /// Counts one task less, which stays a holder until it is [released](Groups::release). (After its executor was torn down,
    /// the group may be another.)
    pub(super) fn leave(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.live = slot.live.saturating_sub(1);
            if std::mem::take(&mut slot.is_awaited) {
                self.freed.push(index);
            }
        }
    }

    /// Counts one task less, also as a holder. True if it was the last holder.
    pub(super) fn end_task(&mut self, index: GroupIndex) -> bool {
        self.leave(index);
        self.release(index)
    }

    /// How many unfinished tasks the group has.
    pub(super) fn live(&self, index: GroupIndex) -> usize {
        self.slots.get(index as usize).map_or(0, |slot| slot.live)
    }

    /// Has the group noted once a task has gone from it.
    pub(super) fn await_place(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.is_awaited = true;
        }
    }

    /// Takes the groups that were noted.
    pub(super) fn take_freed(&mut self) -> Vec<GroupIndex> {
        std::mem::take(&mut self.freed)
    }

    /// Counts one holder less. True if it was the last. (After its executor was torn down, a handle's group may be gone
    /// already.)
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
