//! What threads share is made of these: the standard library's types, or in the models loom's, which try all orders in which threads
//! may run, and all values that a load may give.

#[cfg(not(all(test, clockworker_loom)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence};
#[cfg(not(all(test, clockworker_loom)))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

#[cfg(all(test, clockworker_loom))]
#[path = "../../clockworker/src/models/sync/mod.rs"]
#[allow(
    unsafe_code,
    dead_code,
    unused_imports,
    unused_macros,
    reason = "clockworker's own, of which the models here use a part"
)]
mod modelled;
#[cfg(all(test, clockworker_loom))]
pub(crate) use modelled::*;

/// What a waker of the models wakes.
#[cfg(all(test, clockworker_loom))]
pub(crate) trait WakeTarget {
    fn wake(&self);
}
