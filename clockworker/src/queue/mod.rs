//! What a queue is made of: the records of its tasks, its groups, its scheduler's seat, its counters.

mod counters;
mod error;
mod fault;
mod groups;
mod policy;
mod records;
mod standing;
mod tombstones;
mod watchdog;

pub use error::QueueError;
pub use fault::PolicyFault;

pub(crate) use counters::{Counter, Counters};
pub(crate) use groups::{GroupIndex, NO_GROUP, group_of};
pub(crate) use policy::{Asked, Policy, Seat, admit_woken_in_slice};
pub(crate) use records::{Aborted, Left, Popped, Records};
pub(crate) use tombstones::Tombstones;
pub(crate) use watchdog::Watchdog;
