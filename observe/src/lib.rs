//! What an executor of [`clockworker`] tells of itself.
//!
//! # Features
//!
//! * `stalls`: the module `stalls`, which reports polls that take too long while they run. On Linux with the stack of the thread.
//! * `metrics`: the module `metrics`, which passes all counters on to the facade `metrics`, and so to Prometheus and others.

#![deny(unsafe_code)]

#[cfg(feature = "stalls")]
mod hub;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "stalls")]
mod quietly;
#[cfg(feature = "stalls")]
pub mod stalls;
#[cfg(feature = "stalls")]
mod sync;

// Tests of what several threads do, in all orders.
#[cfg(all(test, clockworker_loom, feature = "stalls"))]
mod models;
