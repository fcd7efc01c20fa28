//! How a scheduler can break its contract.

use std::fmt;

/// How a scheduler broke its contract. The executor then took it out of service, and its queue went on in FIFO order;
/// [`QueueStats::policy_fault`](crate::QueueStats::policy_fault) reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyFault {
    /// It panicked.
    Panicked,
    /// It claimed to be empty while a task was ready.
    Lost,
    /// It has not given out a task that is ready, while it gave out others for longer than its
    /// [patience](Scheduler::patience): it has lost the task, or starves it.
    Starved,
    /// It gave out a task that is not ready: it had given it out already, or nobody pushed it.
    Repeated,
    /// It gave out an id that is no task's.
    Invented,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PolicyFault::Panicked => "the scheduler panicked",
            PolicyFault::Lost => "the scheduler claimed to be empty while a task was ready",
            PolicyFault::Starved => "the scheduler passed over a ready task for longer than its patience",
            PolicyFault::Repeated => "the scheduler gave out a task that was not ready",
            PolicyFault::Invented => "the scheduler gave out an id that is no task's",
        })
    }
}

impl std::error::Error for PolicyFault {}
