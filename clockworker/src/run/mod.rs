//! One poll, from top to bottom: a [turn] on the host's thread, the queue [picked](pick) for a slice, the [slice] itself; and
//! around them admission, spawning, measuring and cancelling.
//!
//! [`Core`] is the state of an executor, owner thread only. Each file here has the part of it that the file is named after.

mod aborts;
mod admission;
mod any_policy;
pub(crate) mod context;
mod coop_budget;
mod core;
mod drivers;
mod ending;
mod host_deferral;
mod host_pacer;
mod look;
mod lots;
mod meter;
mod moves;
mod pick;
mod probed;
mod queue;
mod queues;
mod release;
mod room;
mod run_waker;
mod service;
mod slice;
mod spawn;
mod stats;
mod timing;
mod turn;
mod waiting;

pub use host_pacer::HOST_BUDGETS;
pub use stats::{ExecutorStats, GroupStats, QueueStats};

pub(crate) use self::core::{Core, HostLimits};
pub(crate) use admission::ask;
pub(crate) use moves::MoveOutcome;
pub(crate) use queue::RunQueue;
pub(crate) use queues::QueueSetup;
pub(crate) use run_waker::RunWaker;
pub(crate) use turn::{poll_in_turn, turn, turn_for};
pub(crate) use waiting::{Gone, Until};
