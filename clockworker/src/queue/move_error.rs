//! Why a task did not move to another queue.

use std::error::Error;
use std::fmt;

use crate::task::Refused;

/// Why a task did not move to another queue. It goes on where it is. From [`move_to`](crate::move_to()) and
/// [`JoinHandle::move_to`](crate::JoinHandle::move_to).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveError {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Refused(Refused),
    Finished,
    Busy,
    NoTask,
    OtherExecutor,
}

impl MoveError {
    pub(crate) fn refused(why: Refused) -> Self {
        Self { kind: Kind::Refused(why) }
    }

    pub(crate) fn finished() -> Self {
        Self { kind: Kind::Finished }
    }

    pub(crate) fn busy() -> Self {
        Self { kind: Kind::Busy }
    }

    pub(crate) fn no_task() -> Self {
        Self { kind: Kind::NoTask }
    }

    pub(crate) fn other_executor() -> Self {
        Self { kind: Kind::OtherExecutor }
    }

    /// Whether the queue, or the task's group there, was full.
    pub fn is_full(&self) -> bool {
        matches!(self.kind, Kind::Refused(why) if why.is_full())
    }

    /// Whether the queue was closed.
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Refused(Refused::QueueClosed)
    }

    /// Whether the executor was shut down or dropped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.kind, Kind::Refused(Refused::ShutDown | Refused::ExecutorDropped))
    }

    /// Whether the task has finished, or its abort has come in.
    pub fn is_finished(&self) -> bool {
        self.kind == Kind::Finished
    }

    /// Whether the task is being polled, so that only [`move_to`](crate::move_to()) moves it; or the scheduler of one of the two queues
    /// is the caller.
    pub fn is_busy(&self) -> bool {
        self.kind == Kind::Busy
    }

    /// Whether the task is not one of the queue's executor, or no task is being polled.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.kind, Kind::NoTask | Kind::OtherExecutor)
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task did not move: ")?;
        match self.kind {
            Kind::Refused(why) => why.fmt(f),
            Kind::Finished => f.write_str("it has finished, or was aborted"),
            Kind::Busy => {
                f.write_str("it is being polled, or the scheduler of one of the queues is the caller")
            }
            Kind::NoTask => f.write_str("no task of the queue's executor is being polled"),
            Kind::OtherExecutor => f.write_str("the queue is another executor's"),
        }
    }
}

impl Error for MoveError {}
