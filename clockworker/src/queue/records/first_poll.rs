//! [`FirstPoll`]: whether a task was polled, for a queue that measures how long tasks wait for that.

use clockworker_schedulers::TaskId;

use super::Records;

/// Whether a task was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstPoll {
    /// It waits for that.
    Due,
    Done,
    /// It was aborted before.
    Never,
}

impl Records {
    /// Whether a task was polled, which was inserted under that id.
    pub(crate) fn first_poll(&self, id: TaskId) -> FirstPoll {
        let record = self.tasks.get(id.slot()).filter(|record| record.generation.get() == id.generation());
        match record {
            Some(record) if !record.is_new() => FirstPoll::Done,
            Some(record) if record.task.is_some() => FirstPoll::Due,
            Some(_) => FirstPoll::Never,
            None => FirstPoll::Done,
        }
    }
}
