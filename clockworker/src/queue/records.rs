//! The records of a queue's tasks: what scheduling needs of each.

use std::num::NonZeroU32;
use std::ops::Range;

use clockworker_schedulers::{GroupId, Ready, Scheduler, Task, TaskId};
use slab::Slab;

use super::PolicyFault;
use super::groups::{GroupIndex, Groups, NO_GROUP, group_of};
use super::standing::Standing;
use crate::task::{LiveTask, Place};

/// So many tasks, with cells of 100 bytes and futures as large again, fill a second-level cache of some 100 KiB.
const MANY: usize = 1_024;

/// Memory for so many records stays when a queue has no task any more: 1 MiB.
const KEPT: usize = 65_536;

/// The records of a queue's tasks, by slot, and its groups.
#[derive(Default)]
pub(crate) struct Records {
    tasks: Slab<Record>,
    generation: u32,
    groups: Groups,
}

struct Record {
    /// None while the task is being polled, and once it was aborted in the scheduler.
    task: Option<LiveTask>,
    /// Never zero, so that the slab needs no tag of its own.
    generation: NonZeroU32,
    standing: Standing,
}

/// A task that left its record, and what its scheduler has to hear of it.
#[must_use]
pub(crate) struct Left {
    pub(crate) task: Task,
    pub(crate) group_closed: bool,
}

impl Left {
    /// Tells a scheduler.
    #[inline]
    pub(crate) fn tell(&self, scheduler: &mut impl Scheduler) {
        scheduler.finished(self.task);
        if self.group_closed {
            scheduler.group_closed(self.task.group);
        }
    }
}

impl Records {
    /// Adds the record of a task that is ready; `make` makes the task. The group counts a holder more.
    pub(crate) fn insert(
        &mut self,
        queue: u32,
        group: GroupIndex,
        make: impl FnOnce(Place) -> LiveTask,
    ) -> Task {
        // Zero is passed over, or one would come twice.
        let generation = NonZeroU32::new(self.generation.wrapping_add(1)).unwrap_or(NonZeroU32::MIN);
        self.generation = generation.get();
        let slot = self.tasks.vacant_key() as u32;
        let place = Place { queue, slot, generation: generation.get() };
        self.groups.retain(group);
        self.insert_task(make(place), generation, group);
        Task { id: TaskId::new(slot, place.generation), group: group_of(slot, group) }
    }

    /// Not generic, and of parts: the record is then written into the slab directly. Made elsewhere, in parts, and
    /// copied in as a whole, it cost 3 ns, waiting for its parts to be written.
    fn insert_task(&mut self, task: LiveTask, generation: NonZeroU32, group: GroupIndex) {
        self.tasks.insert(Record { task: Some(task), generation, standing: Standing::ready(group) });
    }

    fn get_mut(&mut self, slot: usize, generation: u32) -> Option<&mut Record> {
        self.tasks.get_mut(slot).filter(|record| record.generation.get() == generation)
    }

    /// Marks a woken task as ready, and says why it is. None if it is not there any more, or ready already, or being
    /// dropped: its record goes after that.
    pub(crate) fn make_ready(&mut self, place: Place, visited: Option<u8>) -> Option<(Task, Ready)> {
        let record = self
            .get_mut(place.slot as usize, place.generation)
            .filter(|record| !record.standing.is_ready())?;
        let why = record.task.as_ref()?.why_woken(visited);
        record.standing.set_ready(true);
        Some((record.as_task(place.slot), why))
    }

    /// Takes the task that a scheduler gave out, to poll it.
    #[inline]
    pub(crate) fn take_ready(&mut self, id: TaskId) -> Popped {
        match self.get_mut(id.slot(), id.generation()) {
            Some(record) if record.standing.is_ready() => {
                record.standing.set_ready(false);
                match record.task.take() {
                    Some(live) => Popped::Task { live, group: record.standing.group() },
                    None => Popped::Aborted(self.remove(id)),
                }
            }
            Some(_) => Popped::Fault(PolicyFault::Repeated),
            None => Popped::Fault(PolicyFault::Invented),
        }
    }

    /// Whether the tasks may be too many for the nearest caches.
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.tasks.len() >= MANY
    }

    /// Fetches the memory of a task that will be polled soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: TaskId) {
        if let Some(live) = self.tasks.get(id.slot()).and_then(|record| record.task.as_ref()) {
            live.prefetch();
        }
    }

    /// Puts a polled task back: the task as its scheduler knows it. (None never happens: nobody removes the record of a
    /// task that is being polled.)
    #[inline]
    pub(crate) fn put_back(&mut self, id: TaskId, live: LiveTask, ready: bool) -> Option<Task> {
        let record = self.get_mut(id.slot(), id.generation())?;
        record.task = Some(live);
        record.standing.set_ready(ready);
        Some(record.as_task(id.slot() as u32))
    }

    /// Frees the record of a finished task.
    pub(crate) fn remove(&mut self, id: TaskId) -> Left {
        let record = self.tasks.remove(id.slot());
        let task = record.as_task(id.slot() as u32);
        let group = record.standing.group();
        let group_closed = group == NO_GROUP || self.groups.release(group);
        Left { task, group_closed }
    }

    /// Takes an aborted task out of its record.
    pub(crate) fn take_aborted(&mut self, place: Place) -> Option<Aborted> {
        let record = self.get_mut(place.slot as usize, place.generation)?;
        let live = record.task.take()?;
        Some(Aborted {
            live,
            task: record.as_task(place.slot),
            group: record.standing.group(),
            ready: record.standing.is_ready(),
        })
    }

    /// Empties the records.
    pub(crate) fn take_all(&mut self) -> Vec<LiveTask> {
        self.groups = Groups::default();
        self.tasks.drain().filter_map(|record| record.task).collect()
    }

    /// Makes tasks ready that a scheduler kept from it: it called back into the executor, which was handing it a woken task
    /// then and could not.
    #[cold]
    pub(crate) fn rescue(&mut self) {
        for (_, record) in self.tasks.iter_mut() {
            if record.task.as_ref().is_some_and(LiveTask::is_ready) {
                record.standing.set_ready(true);
            }
        }
    }

    /// The ready tasks in order of slot, for a scheduler that takes over.
    pub(crate) fn ready(&self) -> impl Iterator<Item = Task> + '_ {
        self.tasks
            .iter()
            .filter(|(_, record)| record.standing.is_ready())
            .map(|(slot, record)| record.as_task(slot as u32))
    }

    /// How many of them are not aborted.
    pub(crate) fn ready_to_run(&self) -> usize {
        self.tasks.iter().filter(|(_, record)| record.standing.is_ready() && record.task.is_some()).count()
    }

    /// Gives the memory of a burst back, once no record is left.
    pub(crate) fn shrink(&mut self) {
        if self.tasks.is_empty() && self.tasks.capacity() > KEPT {
            self.tasks = Slab::new();
        }
    }

    /// At least the most tasks that there were at a time since there was none; less than twice as many, or 4.
    pub(crate) fn slots(&self) -> usize {
        self.tasks.capacity()
    }

    /// Marks the ready tasks in these slots. Aborted ones are none.
    pub(crate) fn mark_ready(&mut self, slots: Range<usize>) {
        for slot in slots.start..slots.end.min(self.slots()) {
            match self.tasks.get_mut(slot) {
                Some(record) if record.standing.is_ready() && record.task.is_some() => record.standing.mark(),
                _ => {}
            }
        }
    }

    /// Whether a task in these slots is still marked: not given out since, and not aborted.
    pub(crate) fn any_marked(&self, slots: Range<usize>) -> bool {
        let mut records = (slots.start..slots.end.min(self.slots())).filter_map(|slot| self.tasks.get(slot));
        records.any(|record| record.standing.is_marked() && record.task.is_some())
    }

    /// A group's index, by the user's key; counts a holder.
    pub(crate) fn open_group(&mut self, key: u64) -> GroupIndex {
        self.groups.open(key)
    }

    /// One more handle to a group.
    pub(crate) fn retain_group(&mut self, index: GroupIndex) {
        self.groups.retain(index);
    }

    /// One handle to a group less; the group as its scheduler knows it, if that was the last holder.
    pub(crate) fn release_group(&mut self, index: GroupIndex) -> Option<GroupId> {
        self.groups.release(index).then(|| group_of(0, index))
    }
}

impl Record {
    #[inline]
    fn as_task(&self, slot: u32) -> Task {
        Task { id: TaskId::new(slot, self.generation.get()), group: group_of(slot, self.standing.group()) }
    }
}

/// A task whose future is to be dropped.
pub(crate) struct Aborted {
    pub(crate) live: LiveTask,
    pub(crate) group: GroupIndex,
    pub(crate) task: Task,
    /// The scheduler has it: its record stays until it is popped.
    pub(crate) ready: bool,
}

/// What a scheduler's choice turns out to be.
pub(crate) enum Popped {
    Task {
        live: LiveTask,
        group: GroupIndex,
    },
    /// It was aborted while it was ready, and its record has just gone.
    Aborted(Left),
    Fault(PolicyFault),
}

#[cfg(test)]
mod limits;
