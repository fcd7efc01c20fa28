//! Wakes: a task that waited, or is new, is ready.

use clockworker_schedulers::Task;

use super::Records;
use crate::task::RecordKey;

impl Records {
    /// Marks a task as ready. None if it has no record any more, is ready already, or is being dropped: its
    /// record goes after that.
    #[inline]
    pub(crate) fn make_ready(&mut self, key: RecordKey) -> Option<Task> {
        let record =
            self.get_mut(key.slot as usize, key.generation).filter(|record| !record.standing.is_ready())?;
        record.task.as_ref()?;
        record.standing.set_ready(true);
        Some(record.as_task(key.slot as usize))
    }
}
