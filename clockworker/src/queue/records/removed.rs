//! [`Removed`]: a task that its queue has no record of any more.

use clockworker_schedulers::{Gone, Scheduler, Task};

use crate::queue::groups::group_of;

/// A task whose record was removed, for its scheduler to hear of.
#[must_use]
pub(crate) struct Removed {
    pub(crate) task: Task,
    pub(crate) group_closed: bool,
    /// Whether its scheduler had heard of it.
    pub(crate) is_known: bool,
}

impl Removed {
    /// Tells the scheduler that the task is finished, and its group closed if it was the last holder. Of a task that the scheduler
    /// does not know only the latter, if that is no group of its own.
    #[inline]
    pub(crate) fn tell(&self, scheduler: &mut impl Scheduler) {
        if self.is_known {
            scheduler.gone(Gone::Task(self.task));
        }
        if self.group_closed && (self.is_known || group_of(self.task).is_some()) {
            scheduler.gone(Gone::Group(self.task.group));
        }
    }
}
