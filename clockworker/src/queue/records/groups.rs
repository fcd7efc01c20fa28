//! The groups of a queue, each with a record of its own among those of the tasks.

use std::sync::Arc;

use clockworker_schedulers::{Attributes, GroupId, Task, TaskId};

use super::{Records, Standing};
use crate::queue::GroupCounters;
use crate::queue::groups::{GroupIndex, NO_GROUP, group_of};
use crate::task::Finish;
use crate::task::probe::GroupView;

/// A group that was opened, with one more holder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) index: GroupIndex,
    /// Whether it was not open before, so that its scheduler is to be told.
    pub(crate) is_new: bool,
}

impl Records {
    /// Opens the group with the user's `key`, unless it is open already; with one more holder.
    pub(crate) fn open_group(&mut self, key: u64, attributes: Attributes) -> Opened {
        if let Some(index) = self.find_group(key) {
            return Opened { index, is_new: false };
        }
        let slot = self.tasks.vacant_key();
        if slot >= NO_GROUP as usize {
            return Opened { index: NO_GROUP, is_new: false };
        }
        let (index, generation) = (slot as GroupIndex, self.next_generation());
        self.generation = generation.get();
        self.groups.open(key, index, attributes);
        self.long_polls.open(index);
        self.insert_record(None, generation, Standing::OF_GROUP);
        Opened { index, is_new: true }
    }

    /// The open group with the user's `key`, with one more holder.
    pub(crate) fn find_group(&mut self, key: u64) -> Option<GroupIndex> {
        self.groups.find(key)
    }

    /// The index of the group with the user's `key`; [`NO_GROUP`] if it is not open.
    pub(crate) fn group_index(&self, key: u64) -> GroupIndex {
        self.groups.index(key).unwrap_or(NO_GROUP)
    }

    /// The key that a group was opened with.
    pub(crate) fn group_key(&self, index: GroupIndex) -> Option<u64> {
        self.groups.key(index)
    }

    /// What was said of a group.
    pub(crate) fn group_attributes(&self, index: GroupIndex) -> Attributes {
        self.groups.attributes(index)
    }

    /// A number that no other group of the queue has had.
    pub(crate) fn group_number(&self, index: GroupIndex) -> u32 {
        self.tasks.get(index as usize).map_or(0, |record| record.generation.get())
    }

    /// What a probe is told of a group, if it is open.
    pub(crate) fn group_view(&self, index: GroupIndex) -> Option<GroupView> {
        let key = self.group_key(index)?;
        Some(GroupView { index, number: self.group_number(index), key, name: self.group_name(index) })
    }

    /// The name of a group, if it was given one.
    pub(crate) fn group_name(&self, index: GroupIndex) -> Option<Arc<str>> {
        self.groups.name(index)
    }

    /// Gives an open group that name.
    pub(crate) fn set_group_name(&mut self, index: GroupIndex, name: Arc<str>) {
        self.groups.set_name(index, name);
    }

    /// Gives a group other attributes; returns the group as its scheduler knows it. None if it has them already, or is gone.
    pub(crate) fn change_group(&mut self, index: GroupIndex, attributes: Attributes) -> Option<GroupId> {
        let is_changed = self.groups.set_attributes(index, attributes);
        is_changed.then(|| GroupId::new(index))
    }

    /// Counts one more handle to a group.
    pub(crate) fn retain_group(&mut self, index: GroupIndex) {
        self.groups.retain(index);
    }

    /// Counts one handle to a group less; returns the group as its scheduler knows it, if that was the last holder.
    pub(crate) fn release_group(&mut self, index: GroupIndex) -> Option<GroupId> {
        if !self.groups.release(index) {
            return None;
        }
        self.tasks.remove(index as usize);
        Some(GroupId::new(index))
    }

    /// How many unfinished tasks the group has.
    pub(crate) fn live_in(&self, group: GroupIndex) -> usize {
        self.groups.live(group)
    }

    /// Has the group noted once a task has gone from it.
    pub(crate) fn await_place(&mut self, group: GroupIndex) {
        self.groups.await_place(group);
    }

    /// Takes the groups that were noted.
    pub(crate) fn take_freed_groups(&mut self) -> Vec<GroupIndex> {
        self.groups.take_freed()
    }

    /// Counts a task in its group that was taken by [`take_all`](Records::take_all) and has finished.
    pub(crate) fn finish_taken(&mut self, group: GroupIndex, finish: Finish) {
        self.leave_group(group, Some(finish));
    }

    /// Counts an aborted task in its group, whose record stays.
    pub(crate) fn finish_buried(&mut self, group: GroupIndex, finish: Finish) {
        self.groups.finished(group, finish);
    }

    /// Counts a task as moved away from its group.
    pub(crate) fn count_moved(&mut self, group: GroupIndex) {
        self.groups.moved(group);
    }

    /// Counts a poll of a task in its group, if it has one.
    #[inline]
    pub(crate) fn count_poll(&mut self, task: Task, service_ns: u64) {
        self.labels.served(task.id.slot(), service_ns);
        if let Some(group) = group_of(task) {
            self.groups.served(group, 1, service_ns);
        }
    }

    /// Counts the poll in which a task finished, whose record is still there.
    #[inline]
    pub(crate) fn count_last_poll(&mut self, id: TaskId, service_ns: u64) {
        if let Some(record) = self.tasks.get(id.slot()) {
            self.groups.served(record.standing.group(), 1, service_ns);
        }
    }

    /// A poll of a task was timed that stands for so many, and its group is charged so much.
    #[inline]
    pub(crate) fn charge(&mut self, task: Task, polls: u32, service_ns: u64) {
        if self.long_polls.may_change(polls, service_ns) {
            self.charge_long(task, polls, service_ns);
        }
    }

    #[inline(never)] // short polls are to be cheap
    fn charge_long(&mut self, task: Task, polls: u32, service_ns: u64) {
        let is_timed = self.long_polls.charge(task.group.index() as GroupIndex, polls, service_ns);
        // (None if it has finished.)
        if let Some(record) = self.tasks.get_mut(task.id.slot()) {
            record.standing.set_timed(is_timed);
        }
    }

    /// Counts the drop of an aborted task's future in its group.
    pub(crate) fn count_drop(&mut self, group: GroupIndex, service_ns: u64) {
        self.groups.served(group, 0, service_ns);
    }

    /// What a group has done.
    pub(crate) fn group_counters(&self, index: GroupIndex) -> GroupCounters {
        self.groups.counters(index)
    }

    /// The groups that are open, and the keys they were opened with.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (GroupIndex, u64)> + '_ {
        self.groups.iter()
    }
}
