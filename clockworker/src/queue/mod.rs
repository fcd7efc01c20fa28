//! What a queue is made of: the records of its tasks, its groups, the seat of its scheduler, its counters, its limits
//! and those who wait for room.

mod counters;
mod error;
mod fault;
mod group_error;
mod groups;
mod handover;
mod limits;
mod long_polls;
mod move_error;
mod policy;
mod records;
mod standing;
mod task_attributes;
mod task_labels;
mod tombstones;
mod waiters;
mod watchdog;

pub use error::QueueError;
pub use fault::PolicyFault;
pub use group_error::GroupError;
pub use move_error::MoveError;

pub(crate) use counters::{Counter, Counters, GroupCounters};
pub(crate) use groups::{GroupIndex, NO_GROUP, as_task, group_of};
pub(crate) use handover::Handover;
pub(crate) use limits::{Limits, MAX_TASKS};
pub(crate) use long_polls::EARNS_NS;
pub(crate) use policy::{Policy, PolicyCalls, Seat};
pub(crate) use records::{LeavingGroup, Popped, Records, Removed, TakenOut, TaskRecordLook};
pub(crate) use task_labels::TaskLabel;
pub(crate) use tombstones::Tombstones;
pub(crate) use waiters::{Line, Waiter, WaiterState, Waiters};
pub(crate) use watchdog::Watchdog;
