//! What threads share is made of these: the standard library's types, or
//!
//! * in the models loom's, which try all orders in which threads may run, and all values that a load may give;
//! * in the scenes shuttle's, which try many random orders of more threads.
//!
//! Statics keep to `std`: the others live as long as one execution. They are counters, which only have to be unique.

#[cfg(not(all(test, any(clockworker_loom, clockworker_shuttle))))]
mod native;
#[cfg(all(test, clockworker_shuttle))]
mod shuffled;
#[cfg(not(all(test, any(clockworker_loom, clockworker_shuttle))))]
mod thread_id;
#[cfg(not(all(test, clockworker_loom)))]
mod wake;

#[cfg(all(test, clockworker_loom))]
pub(crate) use crate::models::sync::*;
#[cfg(not(all(test, any(clockworker_loom, clockworker_shuttle))))]
pub(crate) use native::*;
#[cfg(all(test, clockworker_shuttle))]
pub(crate) use shuffled::*;

/// What a waker made by [`waker_of`] wakes.
pub(crate) trait WakeTarget {
    fn wake(&self);
}
