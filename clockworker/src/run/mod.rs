//! One poll, from top to bottom: a [turn] on the host's thread, the queue [picked](pick) for a slice, the [slice] itself; and
//! around them admission, spawning, measuring and cancelling.
//!
//! [`Core`] is the state of an executor, owner thread only. Each file here has the part of it that the file is named after.

mod aborts;
mod admission;
mod any_policy;
mod asked;
pub(crate) mod context;
mod coop_budget;
mod core;
mod drivers;
mod ending;
mod group_stats;
mod host_deferral;
mod host_pacer;
mod look;
mod lots;
mod main_future;
mod meter;
mod pick;
mod probed;
mod queue;
mod queues;
mod release;
mod room;
mod run_waker;
mod service;
mod since;
mod slice;
mod spawn;
mod stats;
mod tags;
mod timing;
mod turn;
mod waiting;
mod watching;

pub use group_stats::GroupStats;
pub use host_pacer::HOST_BUDGETS;
pub use stats::{ExecutorStats, QueueStats};

pub(crate) use self::core::{Core, HostLimits};
pub(crate) use asked::ask;
pub(crate) use queue::RunQueue;
pub(crate) use queues::QueueSetup;
pub(crate) use run_waker::RunWaker;
pub(crate) use turn::{poll_in_turn, turn};
pub(crate) use waiting::{Emptied, Gone};
