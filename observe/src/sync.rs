//! What threads share is made of these: the standard library's types, or in the models loom's, which try all orders in which threads
//! may run, and all values that a load may give.

#[cfg(not(all(test, clockworker_loom)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence};
#[cfg(not(all(test, clockworker_loom)))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

#[cfg(all(test, clockworker_loom))]
pub(crate) use loom::cell::Cell;
#[cfg(all(test, clockworker_loom))]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence};
#[cfg(all(test, clockworker_loom))]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
#[cfg(all(test, clockworker_loom))]
pub(crate) use loom::thread;
