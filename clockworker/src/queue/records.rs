//! The records of a queue's tasks: what the run loop has to know of each to schedule it.

mod groups;
mod looks;
mod removed;

use std::mem::forget;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use clockworker_schedulers::{Attributes, GroupId, Task, TaskId};
use slab::Slab;

use super::groups::{GroupIndex, Groups, NO_GROUP, as_task};
use super::handover::Handover;
use super::long_polls::LongPolls;
use super::standing::Standing;
use super::task_attributes::TaskAttributes;
use super::task_labels::{TaskLabel, TaskLabels};
use super::{MoveError, PolicyFault};
use crate::task::{AbortHandle, Finish, LiveTask, RecordKey, Runnable};

pub(crate) use looks::TaskRecordLook;
pub(crate) use removed::Removed;

/// Tasks that fill a second-level cache of some 100 KiB, with cells of 100 bytes and futures as large again.
const MANY: usize = 1_024;

/// Records whose memory a queue without tasks keeps: 1 MiB, and a quarter as much for groups.
const KEPT: usize = 65_536;

/// The records of a queue's tasks, by slot, and its groups.
///
/// A group that is open has a record too, of no task: its slot is the [`GroupId`] that schedulers know it by, as a task's own
/// slot is that of a task without a group. So no two have the same, and a table by group is no longer than one by slot.
#[derive(Default)]
pub(crate) struct Records {
    tasks: Slab<Record>,
    generation: u32,
    groups: Groups,
    attributes: TaskAttributes,
    long_polls: LongPolls,
    labels: TaskLabels,
}

struct Record {
    /// None once it was aborted while its scheduler had it. None of a group. While the task is polled it stays, and only the task's
    /// [`Runnable`] may use it: see [`Record::at_rest`].
    task: Option<LiveTask>,
    /// Never zero, so that the slab needs no tag of its own.
    generation: NonZeroU32,
    standing: Standing,
}

impl Records {
    /// Whether it is known of each task what it is called, and since when it is there.
    pub(crate) const KEEPS_LABELS: bool = cfg!(feature = "observe");

    /// Adds the record of a new task, which `make` makes, and counts one more holder of its group.
    pub(crate) fn insert(
        &mut self,
        queue: u32,
        group: GroupIndex,
        make: impl FnOnce(RecordKey) -> LiveTask,
    ) -> Task {
        let generation = self.next_generation();
        self.generation = generation.get();
        let slot = self.tasks.vacant_key() as u32;
        let key = RecordKey { queue, slot, generation: generation.get() };
        self.groups.add_task(group);
        let live = make(key);
        self.labels.insert(slot as usize, &live);
        let task = as_task(TaskId::new(slot, key.generation), group);
        let mut standing = Standing::new(group);
        if self.long_polls.contains(task.group.index() as GroupIndex) {
            standing.set_timed(true);
        }
        self.insert_record(Some(live), generation, standing);
        task
    }

    /// The only caller of `insert`, not generic, and given the parts, so that the record is written into the slab directly. Made
    /// elsewhere and copied in as a whole, it took 3 ns more, waiting for its parts to be written.
    #[inline(never)]
    fn insert_record(&mut self, task: Option<LiveTask>, generation: NonZeroU32, standing: Standing) {
        self.tasks.insert(Record { task, generation, standing });
    }

    /// Notes when a task was spawned here, or came in from another thread.
    pub(crate) fn note_spawned(&mut self, id: TaskId, now: u64) {
        self.labels.set_spawned(id.slot(), now);
    }

    #[inline]
    fn next_generation(&self) -> NonZeroU32 {
        // Zero is passed over, or one would come twice.
        NonZeroU32::new(self.generation.wrapping_add(1)).unwrap_or(NonZeroU32::MIN)
    }

    fn get_mut(&mut self, slot: usize, generation: u32) -> Option<&mut Record> {
        self.tasks.get_mut(slot).filter(|record| record.generation.get() == generation)
    }

    /// Takes up the task that a scheduler popped, to poll it.
    #[inline]
    pub(crate) fn take_ready(&mut self, id: TaskId) -> Popped {
        let Some(record) = self.get_mut(id.slot(), id.generation()) else {
            return Popped::Fault(PolicyFault::Invented);
        };
        let standing = record.standing;
        match &record.task {
            Some(live) => match live.take_up() {
                Some(runnable) => {
                    if standing.is_marked() {
                        record.standing.unmark();
                    }
                    Popped::Task { runnable, group: standing.group(), is_timed: standing.is_timed() }
                }
                None => Popped::Fault(PolicyFault::Repeated),
            },
            None if standing.is_tombstone() => Popped::Aborted(self.remove_tombstone(id)),
            None => Popped::Fault(PolicyFault::Repeated),
        }
    }

    /// The task of that record, for its scheduler. None if its future is being dropped: its record goes after that.
    #[inline]
    pub(crate) fn task(&self, key: RecordKey) -> Option<Task> {
        let record = self.tasks.get(key.slot as usize)?;
        record.task.as_ref()?;
        debug_assert_eq!(record.generation.get(), key.generation, "the record is still that of the task");
        Some(as_task(TaskId::new(key.slot, key.generation), record.standing.group()))
    }

    /// The group of a task that may leave the queue, if it is in one.
    ///
    /// # Errors
    ///
    /// If it is being polled, or is not there any more.
    pub(crate) fn may_leave(&self, id: TaskId) -> Result<Option<LeavingGroup>, MoveError> {
        let record = self.tasks.get(id.slot()).filter(|record| record.generation.get() == id.generation());
        let record = record.filter(|record| record.task.is_some()).ok_or(MoveError::finished())?;
        if record.at_rest().is_none() {
            return Err(MoveError::busy());
        }
        let index = record.standing.group();
        let of = |key| LeavingGroup {
            key,
            attributes: self.group_attributes(index),
            name: self.group_name(index),
        };
        Ok(self.group_key(index).map(of))
    }

    /// The key of the record in that slot of this queue.
    pub(crate) fn key_of(&self, queue: u32, slot: u32) -> Option<RecordKey> {
        let record = self.tasks.get(slot as usize)?;
        Some(RecordKey { queue, slot, generation: record.generation.get() })
    }

    /// The task in that id's slot, unless it is being polled or aborted.
    pub(crate) fn live(&self, id: TaskId) -> Option<&LiveTask> {
        self.tasks.get(id.slot()).and_then(Record::at_rest)
    }

    /// Whether there may be too many tasks for the nearest caches. (Groups count as tasks here.)
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.tasks.len() >= MANY
    }

    /// Prefetches the cell of a task that will be polled soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: TaskId) {
        if let Some(live) = self.tasks.get(id.slot()).and_then(|record| record.task.as_ref()) {
            live.prefetch();
        }
    }

    /// Takes a task out of its record that has finished in the poll under way.
    pub(crate) fn take_finished(&mut self, id: TaskId) -> Option<LiveTask> {
        self.tasks.get_mut(id.slot())?.task.take()
    }

    /// Removes the record of a finished task. Counts its `finish` in its group, unless that was done before.
    #[inline(always)] // its result would be handed over in memory: 40 instructions
    pub(crate) fn remove(&mut self, id: TaskId, finish: Option<Finish>) -> Removed {
        let group = self.tasks.remove(id.slot()).standing.group();
        let task = as_task(id, group);
        self.attributes.remove(id.slot() as u32);
        self.labels.remove(id.slot());
        let group_closed = group == NO_GROUP || self.leave_group(group, finish);
        Removed { task, group_closed, is_known: true }
    }

    /// Removes the record of a task that was aborted, and counted as finished then.
    #[cold]
    #[inline(never)]
    fn remove_tombstone(&mut self, id: TaskId) -> Removed {
        self.remove(id, None)
    }

    /// Ends a task's hold of its group. True if it was the last.
    #[inline(never)] // the end of a task without a group has no registers to spare
    fn leave_group(&mut self, group: GroupIndex, finish: Option<Finish>) -> bool {
        if let Some(finish) = finish {
            self.groups.finished(group, finish);
        }
        self.release_group(group).is_some()
    }

    /// Takes a task out of its record, to be dropped or moved. If its scheduler has it, the record stays as a tombstone. None if it is
    /// not there: taken already, being polled, or finished.
    pub(crate) fn take_out(&mut self, id: TaskId) -> Option<TakenOut> {
        let record = self.get_mut(id.slot(), id.generation())?;
        let live = record.take_at_rest()?;
        let ready = live.is_ready();
        if ready {
            record.standing.bury();
        }
        let (task, group) = (record.as_task(id.slot()), record.standing.group());
        Some(TakenOut { is_known: !live.is_new(), live, task, group, ready })
    }

    /// Removes the records of all tasks; returns the tasks, which still hold their groups.
    pub(crate) fn take_all(&mut self) -> Vec<(LiveTask, GroupIndex)> {
        self.attributes.clear();
        self.labels.clear();
        let Self { tasks, groups, .. } = self;
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        tasks.retain(|slot, record| {
            let group = record.standing.group();
            match record.take_at_rest() {
                Some(live) => taken.push((live, group)),
                None if groups.contains(slot as GroupIndex) => return true,
                None => {
                    // Its `Runnable` relies on the reference of one that is being polled.
                    forget(record.task.take());
                    left.push(group);
                }
            }
            false
        });
        left.into_iter().for_each(|group| _ = self.release_group(group));
        taken
    }

    /// The groups of the tasks that are ready, or among arrivals, and not aborted.
    pub(crate) fn groups_of_ready(&self) -> impl Iterator<Item = GroupIndex> + '_ {
        let has_arrived = |record: &Record| record.task.as_ref().is_some_and(LiveTask::has_arrived);
        let is_ready = move |record: &&Record| record.is_ready_to_run() || has_arrived(record);
        self.tasks.iter().map(|(_, record)| record).filter(is_ready).map(|record| record.standing.group())
    }

    /// Handles to abort the tasks that are not being polled and not aborted: those of a group, or all.
    pub(crate) fn abort_handles(&self, of: Option<GroupIndex>) -> Vec<AbortHandle> {
        let records = self.tasks.iter().map(|(_, record)| record);
        let chosen = records.filter(|record| of.is_none_or(|group| record.standing.group() == group));
        chosen.filter_map(Record::at_rest).map(LiveTask::abort_handle).collect()
    }

    /// The ready tasks, in the order of their slots, for a scheduler that takes over.
    pub(crate) fn ready(&self) -> impl Iterator<Item = Task> + '_ {
        self.tasks.iter().filter(|(_, record)| record.is_ready()).map(|(slot, record)| record.as_task(slot))
    }

    /// What a scheduler is told that takes over with these ready tasks.
    pub(crate) fn handover(&self, ready: Vec<Task>) -> Handover {
        let groups = self.groups.iter();
        let opened = |(index, key)| (GroupId::new(index), key, self.group_attributes(index));
        let spawned = self.tasks.iter().filter_map(|(slot, record)| {
            let attributes = self.attributes.get(slot as u32).filter(|_| record.is_known())?;
            Some((record.as_task(slot), attributes))
        });
        Handover { groups: groups.map(opened).collect(), spawned: spawned.collect(), ready }
    }

    /// The task with that id, which its scheduler has.
    pub(crate) fn ready_task(&self, id: TaskId) -> Result<Task, PolicyFault> {
        let record = self.tasks.get(id.slot()).filter(|record| record.generation.get() == id.generation());
        match record {
            Some(record) if record.is_ready() => Ok(record.as_task(id.slot())),
            Some(_) => Err(PolicyFault::Repeated),
            None => Err(PolicyFault::Invented),
        }
    }

    /// How many ready tasks are not aborted.
    pub(crate) fn ready_to_run(&self) -> usize {
        self.tasks.iter().filter(|(_, record)| record.is_ready_to_run()).count()
    }

    /// Gives the memory of a burst back once no task is left: what is behind the last open group.
    pub(crate) fn shrink(&mut self) {
        if self.tasks.len() == self.groups.len() && self.tasks.capacity() > KEPT {
            self.tasks.shrink_to_fit();
            self.groups.shrink();
            self.long_polls.clear();
            self.labels.clear();
        }
        self.attributes.shrink();
    }

    /// Takes what a dump says of a task that leaves the queue.
    pub(crate) fn take_label(&mut self, id: TaskId) -> Option<TaskLabel> {
        self.labels.take(id.slot())
    }

    /// Says it of a task that has come to the queue.
    pub(crate) fn put_label(&mut self, id: TaskId, label: TaskLabel) {
        self.labels.put(id.slot(), label);
    }

    /// Keeps what was said of a task, for what it spawns.
    pub(crate) fn set_attributes(&mut self, id: TaskId, attributes: Attributes) {
        self.attributes.insert(id.slot() as u32, attributes);
    }

    /// Whether anything was said of any task.
    #[inline]
    pub(crate) fn have_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// What was said of the task in that slot, if it has any attributes.
    #[inline]
    pub(crate) fn attributes(&self, slot: u32) -> Option<Attributes> {
        self.attributes.get(slot)
    }

    /// How many slots there are: at least the most tasks and open groups at a time since there was no task; less than twice
    /// as many, or 4.
    pub(crate) fn slots(&self) -> usize {
        self.tasks.capacity()
    }

    /// Marks the ready tasks in these slots that are not aborted.
    pub(crate) fn mark_ready(&mut self, slots: Range<usize>) {
        for slot in slots.start..slots.end.min(self.slots()) {
            match self.tasks.get_mut(slot) {
                Some(record) if record.is_ready_to_run() => record.standing.mark(),
                _ => {}
            }
        }
    }

    /// Whether a task in these slots is still marked: not given out since, and not aborted.
    pub(crate) fn any_marked(&self, slots: Range<usize>) -> bool {
        let mut records = (slots.start..slots.end.min(self.slots())).filter_map(|slot| self.tasks.get(slot));
        records.any(|record| record.standing.is_marked() && record.task.is_some())
    }
}

impl Record {
    /// Whether a scheduler has heard of it, and is to hear more: not of a new task, nor of one that was aborted, unless the scheduler has
    /// it.
    fn is_known(&self) -> bool {
        self.task.as_ref().map_or(self.standing.is_tombstone(), |live| !live.is_new())
    }

    /// The task, unless it is being polled or was aborted.
    fn at_rest(&self) -> Option<&LiveTask> {
        self.task.as_ref().filter(|live| !live.is_running())
    }

    /// Takes the task out, unless it is being polled or was aborted.
    fn take_at_rest(&mut self) -> Option<LiveTask> {
        self.task.take_if(|live| !live.is_running())
    }

    /// Whether its scheduler has it, aborted or not.
    fn is_ready(&self) -> bool {
        self.task.as_ref().map_or(self.standing.is_tombstone(), LiveTask::is_ready)
    }

    /// Whether its scheduler has it, and it is not aborted.
    fn is_ready_to_run(&self) -> bool {
        self.task.as_ref().is_some_and(LiveTask::is_ready)
    }

    fn as_task(&self, slot: usize) -> Task {
        as_task(TaskId::new(slot as u32, self.generation.get()), self.standing.group())
    }
}

/// A task that was taken out of its record.
pub(crate) struct TakenOut {
    pub(crate) live: LiveTask,
    pub(crate) group: GroupIndex,
    pub(crate) task: Task,
    /// Whether the scheduler has it: then its record stays until it is popped.
    pub(crate) ready: bool,
    /// Whether the scheduler has heard of it.
    pub(crate) is_known: bool,
}

/// A group of which a task is to go on in another queue.
pub(crate) struct LeavingGroup {
    pub(crate) key: u64,
    pub(crate) attributes: Attributes,
    pub(crate) name: Option<Arc<str>>,
}

/// What the record says of an id that a scheduler popped.
pub(crate) enum Popped {
    Task {
        runnable: Runnable,
        group: GroupIndex,
        /// Whether the poll is to be timed for itself, where the scheduler asks for service.
        is_timed: bool,
    },
    /// The task was aborted while it was ready; its record has just been removed.
    Aborted(Removed),
    Fault(PolicyFault),
}

#[cfg(test)]
mod limits;
