//! Wakes: a task that waited is ready.

#[cfg(feature = "observe")]
use std::rc::Rc;

use clockworker_schedulers::{Ready, Task};

use super::Records;
#[cfg(feature = "observe")]
use crate::queue::Counter;
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
        #[cfg(feature = "observe")]
        self.wakes.add(1);
        Some((task, why))
    }

    /// How often tasks were woken, also from now on.
    #[cfg(feature = "observe")]
    pub(crate) fn wakes(&self) -> Rc<Counter> {
        Rc::clone(&self.wakes)
    }
}
