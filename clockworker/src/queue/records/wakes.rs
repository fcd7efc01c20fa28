//! Wakes: a task that waited is ready.

use clockworker_schedulers::{Ready, Task};

use super::Records;
use crate::task::RecordKey;

impl Records {
    /// Marks a woken task as ready. None if the task has no record any more, is ready already, or is being dropped: its
    /// record goes after that.
    pub(crate) fn make_ready(&mut self, key: RecordKey, deferred: Option<u8>) -> Option<(Task, Ready)> {
        let record =
            self.get_mut(key.slot as usize, key.generation).filter(|record| !record.standing.is_ready())?;
        let why = record.task.as_ref()?.why_woken(deferred);
        record.standing.set_ready(true);
        let task = record.as_task(key.slot as usize);
        Some((task, why))
    }
}
