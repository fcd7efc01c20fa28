//! Why a simulation ends early: [`SimulationError`].

use core::fmt;

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationError {
    /// A job comes before the one before it.
    OutOfOrder {
        /// When the one before it comes, in nanoseconds.
        at_ns: u64,
    },
    /// A job is for a queue that there is not.
    NoSuchQueue {
        /// Its place.
        queue: usize,
    },
    /// A scheduler has ready tasks and gave none, or one that is not ready.
    Policy {
        /// The place of its queue.
        queue: usize,
    },
    /// Virtual time is over: 2⁶⁴ ns, 584 years.
    TooLong,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfOrder { at_ns } => {
                write!(f, "a job comes before the one at {at_ns} ns, and after it in order")
            }
            Self::NoSuchQueue { queue } => write!(f, "there is no queue {queue}"),
            Self::Policy { queue } => {
                write!(f, "the scheduler of queue {queue} gave no task, or one that is not ready")
            }
            Self::TooLong => f.write_str("the jobs take more than 584 years"),
        }
    }
}

impl core::error::Error for SimulationError {}
