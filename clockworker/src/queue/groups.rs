//! Groups: tasks of a queue that belong together.

use std::collections::HashMap;
use std::sync::Arc;

use clockworker_schedulers::{Attributes, GroupId, Task, TaskId};
use slab::Slab;

use super::GroupCounters;
use crate::task::Finish;

/// The slot of a group's record, of 28 bits; [`NO_GROUP`] for none. It is the index by which schedulers know the group.
pub(crate) type GroupIndex = u32;

/// See [`GroupIndex`].
pub(crate) const NO_GROUP: GroupIndex = GroupIndex::MAX >> 4;

/// The groups of a queue, by the user's key.
#[derive(Default)]
pub(super) struct Groups {
    by_key: HashMap<u64, GroupIndex>,
    open: Slab<OpenGroup>,
    /// Of each index, the place in `open`; `NOWHERE` where the slot is a task's, or vacant.
    places: Vec<u32>,
    /// Groups from which a task went while a waiter waited for that.
    freed: Vec<GroupIndex>,
    /// Of those groups that have one.
    names: HashMap<GroupIndex, Arc<str>>,
}

/// No place.
const NOWHERE: u32 = u32::MAX;

struct OpenGroup {
    key: u64,
    index: GroupIndex,
    /// [`Group`](crate::Group) handles and unfinished tasks.
    holders: usize,
    attributes: Attributes,
    counters: GroupCounters,
    /// Whether a waiter waits for a task to go.
    is_awaited: bool,
}

/// A task as its scheduler knows it: without a group it is one of its own, under its slot.
#[inline]
pub(crate) fn as_task(id: TaskId, group: GroupIndex) -> Task {
    Task { id, group: GroupId::new(if group == NO_GROUP { id.slot() as u32 } else { group }) }
}

/// The group of a task that its scheduler knows so; none if it is a task without one.
#[inline]
pub(crate) fn group_of(task: Task) -> Option<GroupIndex> {
    let group = task.group.index();
    (group != task.id.slot()).then_some(group as GroupIndex)
}

impl OpenGroup {
    fn new(key: u64, index: GroupIndex, attributes: Attributes) -> Self {
        Self { key, index, holders: 1, attributes, counters: GroupCounters::default(), is_awaited: false }
    }
}

impl Groups {
    #[inline]
    fn get(&self, index: GroupIndex) -> Option<&OpenGroup> {
        self.open.get(*self.places.get(index as usize)? as usize)
    }

    #[inline]
    fn get_mut(&mut self, index: GroupIndex) -> Option<&mut OpenGroup> {
        self.open.get_mut(*self.places.get(index as usize)? as usize)
    }

    /// Whether an open group has that index.
    pub(super) fn contains(&self, index: GroupIndex) -> bool {
        self.get(index).is_some()
    }

    /// How many groups are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Opens a group under a key and an index that no open group has; with one holder.
    pub(super) fn open(&mut self, key: u64, index: GroupIndex, attributes: Attributes) {
        self.by_key.insert(key, index);
        if index as usize >= self.places.len() {
            self.places.resize(index as usize + 1, NOWHERE);
        }
        self.places[index as usize] = self.open.insert(OpenGroup::new(key, index, attributes)) as u32;
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
        self.get(index).map(|group| group.key)
    }

    /// What was said of a group.
    pub(super) fn attributes(&self, index: GroupIndex) -> Attributes {
        self.get(index).map_or_else(Attributes::new, |group| group.attributes)
    }

    /// The name of a group, if it was given one.
    pub(super) fn name(&self, index: GroupIndex) -> Option<Arc<str>> {
        self.names.get(&index).cloned()
    }

    /// Gives an open group that name.
    pub(super) fn set_name(&mut self, index: GroupIndex, name: Arc<str>) {
        if self.contains(index) {
            self.names.insert(index, name);
        }
    }

    /// Gives a group other attributes. False if it has them already, or is gone.
    pub(super) fn set_attributes(&mut self, index: GroupIndex, attributes: Attributes) -> bool {
        let group = self.get_mut(index);
        group.is_some_and(|group| std::mem::replace(&mut group.attributes, attributes) != attributes)
    }

    pub(super) fn retain(&mut self, index: GroupIndex) {
        if let Some(group) = self.get_mut(index) {
            group.holders += 1;
        }
    }

    /// Counts a task that was spawned, which holds the group.
    pub(super) fn add_task(&mut self, index: GroupIndex) {
        if let Some(group) = self.get_mut(index) {
            group.holders += 1;
            group.counters.spawned += 1;
        }
    }

    /// Counts how a task ended, which may hold the group for longer.
    pub(super) fn finished(&mut self, index: GroupIndex, finish: Finish) {
        self.left(index, |counters| counters.finished(finish));
    }

    /// Counts a task that went on in another queue, and may hold the group for longer.
    pub(super) fn moved(&mut self, index: GroupIndex) {
        self.left(index, |counters| counters.moved += 1);
    }

    fn left(&mut self, index: GroupIndex, count: impl FnOnce(&mut GroupCounters)) {
        if let Some(group) = self.get_mut(index) {
            count(&mut group.counters);
            if std::mem::take(&mut group.is_awaited) {
                self.freed.push(index);
            }
        }
    }

    /// Counts so many polls, which took so long.
    pub(super) fn served(&mut self, index: GroupIndex, polls: u64, service_ns: u64) {
        if let Some(group) = self.get_mut(index) {
            group.counters.polls += polls;
            group.counters.busy_ns = group.counters.busy_ns.wrapping_add(service_ns);
        }
    }

    /// What the group has done.
    pub(super) fn counters(&self, index: GroupIndex) -> GroupCounters {
        self.get(index).map_or_else(GroupCounters::default, |group| group.counters)
    }

    /// The groups that are open, in the order of their places, and their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupIndex, u64)> + '_ {
        self.open.iter().map(|(_, group)| (group.index, group.key))
    }

    /// Gives the memory of indices back behind that of the last open group.
    pub(super) fn shrink(&mut self) {
        let used = self.places.iter().rposition(|&place| place != NOWHERE).map_or(0, |last| last + 1);
        self.places.truncate(used);
        self.places.shrink_to_fit();
    }

    /// How many unfinished tasks the group has.
    pub(super) fn live(&self, index: GroupIndex) -> usize {
        self.counters(index).live() as usize
    }

    /// Has the group noted once a task has gone from it.
    pub(super) fn await_place(&mut self, index: GroupIndex) {
        if let Some(group) = self.get_mut(index) {
            group.is_awaited = true;
        }
    }

    /// Takes the groups that were noted.
    pub(super) fn take_freed(&mut self) -> Vec<GroupIndex> {
        std::mem::take(&mut self.freed)
    }

    /// Counts one holder less. True if it was the last. (After its executor was torn down, a handle's group may be gone
    /// already.)
    pub(super) fn release(&mut self, index: GroupIndex) -> bool {
        let Some(group) = self.get_mut(index) else { return false };
        group.holders -= 1;
        if group.holders > 0 {
            return false;
        }
        let place = std::mem::replace(&mut self.places[index as usize], NOWHERE);
        let group = self.open.remove(place as usize);
        self.by_key.remove(&group.key);
        self.names.remove(&index);
        true
    }
}
