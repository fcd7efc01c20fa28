//! How a scheduler can break its contract.

use std::fmt;

/// How a scheduler broke its contract. The executor then took it out of service, and its queue went on in FIFO order;
/// [`QueueStats::policy_fault`](crate::QueueStats::policy_fault) reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyFault {
    /// It panicked.
    Panicked,
    /// It claimed to be empty while a task was ready, or gave out others for long, and did not give it when it was asked for all.
    Lost,
    /// It gave out a task that is not ready: one that it had given out already, or that was never pushed.
    Repeated,
    /// It gave out an id that is no task's.
    Invented,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PolicyFault::Panicked => "the scheduler panicked",
            PolicyFault::Lost => "the scheduler claimed to be empty while a task was ready",
            PolicyFault::Repeated => "the scheduler gave out a task that was not ready",
            PolicyFault::Invented => "the scheduler gave out an id that is no task's",
        })
    }
}

impl std::error::Error for PolicyFault {}
