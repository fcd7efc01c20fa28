//! [`Waiting`]: a ready task, and when it became ready.

use crate::Task;

/// A ready task and its number in the order of becoming ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Never given twice.
    pub(crate) number: u64,
    pub(crate) task: Task,
}
