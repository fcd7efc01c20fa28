//! Groups: tasks of a queue that belong together.

use std::collections::HashMap;
#[cfg(feature = "observe")]
use std::sync::Arc;

use clockworker_schedulers::{Attributes, GroupId};
use slab::Slab;

use super::GroupCounters;
#[cfg(feature = "observe")]
use crate::observe::GroupLatency;
use crate::task::Finish;

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
    /// Of those groups that have one.
    #[cfg(feature = "observe")]
    names: HashMap<GroupIndex, Arc<str>>,
    /// Of those groups that were observed.
    #[cfg(feature = "observe")]
    latencies: HashMap<GroupIndex, Box<GroupLatency>>,
}

struct GroupSlot {
    key: u64,
    /// [`Group`](crate::Group) handles and unfinished tasks.
    holders: usize,
    attributes: Attributes,
    counters: GroupCounters,
    /// Whether a waiter waits for a task to go.
    is_awaited: bool,
}

/// A group that was opened, with one more holder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) index: GroupIndex,
    /// Whether it was not open before, so that its scheduler is to be told.
    pub(crate) is_new: bool,
}

/// The group id that a scheduler sees: even for a task without a group, odd for a group, so that both are dense.
#[inline]
pub(crate) fn group_of(slot: u32, group: GroupIndex) -> GroupId {
    GroupId::new(if group == NO_GROUP { 2 * slot } else { 2 * group + 1 })
}

/// The index of a group that a scheduler sees; none if it is a task without one.
#[inline]
pub(crate) fn index_of(group: GroupId) -> Option<GroupIndex> {
    (group.index() % 2 == 1).then_some((group.index() / 2) as GroupIndex)
}

impl GroupSlot {
    fn new(key: u64, attributes: Attributes) -> Self {
        Self { key, holders: 1, attributes, counters: GroupCounters::default(), is_awaited: false }
    }
}

impl Groups {
    /// Opens the group of that key with these attributes, unless it is open already.
    pub(super) fn open(&mut self, key: u64, attributes: Attributes) -> Opened {
        if let Some(index) = self.find(key) {
            return Opened { index, is_new: false };
        }
        if self.slots.len() >= NO_GROUP as usize {
            return Opened { index: NO_GROUP, is_new: false };
        }
        let index = self.slots.insert(GroupSlot::new(key, attributes)) as GroupIndex;
        self.by_key.insert(key, index);
        Opened { index, is_new: true }
    }

    /// The group of that key, if it is open, with one more holder.
    pub(super) fn find(&mut self, key: u64) -> Option<GroupIndex> {
        let index = self.index(key)?;
        self.retain(index);
        Some(index)
    }

    /// The group of that key, if it is open.
    pub(super) fn index(&self, key: u64) -> Option<GroupIndex> {
        self.by_key.get(&key).copied()
    }

    /// The key that a group was opened with.
    pub(super) fn key(&self, index: GroupIndex) -> Option<u64> {
        self.slots.get(index as usize).map(|slot| slot.key)
    }

    /// What was said of a group.
    pub(super) fn attributes(&self, index: GroupIndex) -> Attributes {
        self.slots.get(index as usize).map_or_else(Attributes::new, |slot| slot.attributes)
    }

    /// The name of a group, if it was given one.
    #[cfg(feature = "observe")]
    pub(super) fn name(&self, index: GroupIndex) -> Option<Arc<str>> {
        self.names.get(&index).cloned()
    }

    /// Gives an open group that name.
    #[cfg(feature = "observe")]
    pub(super) fn set_name(&mut self, index: GroupIndex, name: Arc<str>) {
        if self.slots.contains(index as usize) {
            self.names.insert(index, name);
        }
    }

    /// Forgets how long tasks of groups wait and run.
    #[cfg(feature = "observe")]
    pub(super) fn forget_latencies(&mut self) {
        self.latencies = HashMap::default();
    }

    /// How long the tasks of an open group wait and run.
    #[cfg(feature = "observe")]
    pub(super) fn latency(&self, index: GroupIndex) -> Option<&GroupLatency> {
        self.latencies.get(&index).map(|latency| &**latency)
    }

    /// The same, to be added to. None of a group that is gone.
    #[cfg(feature = "observe")]
    pub(super) fn latency_mut(&mut self, index: GroupIndex) -> Option<&mut GroupLatency> {
        let is_open = self.slots.contains(index as usize);
        is_open.then(|| &mut **self.latencies.entry(index).or_default())
    }

    /// Gives a group other attributes. False if it has them already, or is gone.
    pub(super) fn set_attributes(&mut self, index: GroupIndex, attributes: Attributes) -> bool {
        let slot = self.slots.get_mut(index as usize);
        slot.is_some_and(|slot| std::mem::replace(&mut slot.attributes, attributes) != attributes)
    }

    pub(super) fn retain(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
        }
    }

    /// Counts a task that was spawned, which holds the group.
    pub(super) fn add_task(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.holders += 1;
            slot.counters.spawned += 1;
        }
    }

    /// Counts how a task ended, which may hold the group for longer.
    pub(super) fn finished(&mut self, index: GroupIndex, finish: Finish) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.counters.finished(finish);
            if std::mem::take(&mut slot.is_awaited) {
                self.freed.push(index);
            }
        }
    }

    /// Counts so many polls, which took so long.
    pub(super) fn served(&mut self, index: GroupIndex, polls: u64, service_ns: u64) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.counters.polls += polls;
            slot.counters.busy_ns = slot.counters.busy_ns.wrapping_add(service_ns);
        }
    }

    /// Counts a task less that goes to another queue, and may hold the group for longer.
    pub(super) fn take_back(&mut self, index: GroupIndex) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.counters.spawned -= 1;
            if std::mem::take(&mut slot.is_awaited) {
                self.freed.push(index);
            }
        }
    }

    /// What the group has done.
    pub(super) fn counters(&self, index: GroupIndex) -> GroupCounters {
        self.slots.get(index as usize).map_or_else(GroupCounters::default, |slot| slot.counters)
    }

    /// The groups that are open, in the order of their indices, and their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupIndex, u64)> + '_ {
        self.slots.iter().map(|(index, slot)| (index as GroupIndex, slot.key))
    }

    /// How many unfinished tasks the group has.
    pub(super) fn live(&self, index: GroupIndex) -> usize {
        self.counters(index).live() as usize
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
        #[cfg(feature = "observe")]
        self.names.remove(&index);
        #[cfg(feature = "observe")]
        self.latencies.remove(&index);
        true
    }
}
