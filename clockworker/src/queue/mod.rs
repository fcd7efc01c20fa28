//! What a queue is made of: the records of its tasks, its groups, the seat of its scheduler, its cap, its counters.

mod budget;
mod cap;
mod counters;
mod error;
mod fault;
mod groups;
mod policy;
mod records;
mod standing;
mod tombstones;
mod watchdog;

pub use cap::{Cap, CapError};
pub use error::QueueError;
pub use fault::PolicyFault;

pub(crate) use budget::{Budget, CapCounts};
pub(crate) use counters::{Counter, Counters};
pub(crate) use groups::{GroupIndex, NO_GROUP, group_of};
pub(crate) use policy::{Policy, PolicyCalls, Seat, admit_woken_in_slice};
pub(crate) use records::{Aborted, Popped, Records, Removed};
pub(crate) use tombstones::Tombstones;
pub(crate) use watchdog::Watchdog;
