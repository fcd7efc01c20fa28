//! What threads share is made of these: the real things, or in the [models](crate::models) loom's, which try all orders in
//! which threads may run, and all values that a load may give.
//!
//! Statics keep to `std`: loom's objects live as long as one execution. They are counters, which only have to be unique.

#[cfg(all(test, clockworker_loom))]
#[allow(unsafe_code, reason = "memory that models look at after it was freed")]
mod modelled;
#[cfg(not(all(test, clockworker_loom)))]
mod native;
#[cfg(not(all(test, clockworker_loom)))]
mod thread_id;

#[cfg(all(test, clockworker_loom))]
pub(crate) use modelled::*;
#[cfg(not(all(test, clockworker_loom)))]
pub(crate) use native::*;

/// What a waker made by [`waker_of`] does.
pub(crate) trait Signal {
    fn signal(&self);
}
