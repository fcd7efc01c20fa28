//! [`Removed`]: a task that its queue has no record of any more.

use clockworker_schedulers::{Scheduler, Task};

/// A task whose record was removed, for its scheduler to hear of.
#[must_use]
pub(crate) struct Removed {
    pub(crate) task: Task,
    pub(crate) group_closed: bool,
}

impl Removed {
    /// Tells the scheduler that the task is finished, and its group closed if it was the last holder.
    #[inline]
    pub(crate) fn tell(&self, scheduler: &mut impl Scheduler) {
        scheduler.finished(self.task);
        if self.group_closed {
            scheduler.group_closed(self.task.group);
        }
    }
}
