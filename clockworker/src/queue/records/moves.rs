//! Moves: a task's record goes from one queue to another.

use clockworker_schedulers::{Attributes, TaskId};

use super::{GroupIndex, Records, Removed};
use crate::task::{LiveTask, RecordKey};

/// A task that was taken out of its queue.
pub(crate) struct TakenOut {
    pub(crate) live: LiveTask,
    /// None if its scheduler has it: its record is a tombstone.
    pub(crate) removed: Option<Removed>,
}

impl Records {
    /// The group of a task, and what was said of it. None if it has no record, or is not in it: it is being polled, or was
    /// aborted.
    pub(crate) fn place(&self, key: RecordKey) -> Option<(GroupIndex, Option<Attributes>)> {
        let record = self.tasks.get(key.slot as usize)?;
        let is_there = record.generation.get() == key.generation && record.at_rest().is_some();
        is_there.then(|| (record.standing.group(), self.attributes(key.slot)))
    }

    /// Takes a task out for good that is ready or waits; it is counted in its group no more. None if it is being polled, was
    /// aborted, or is in the woken list.
    pub(crate) fn take_out(&mut self, key: RecordKey) -> Option<TakenOut> {
        let record = self.get_mut(key.slot as usize, key.generation)?;
        let live = record.task.take_if(|live| !live.is_woken() && !live.is_running())?;
        let (is_ready, group, id) =
            (record.standing.is_ready(), record.standing.group(), TaskId::new(key.slot, key.generation));
        self.groups.take_back(group);
        let removed = if is_ready { None } else { Some(self.remove(id, None)) };
        Some(TakenOut { live, removed })
    }
}
