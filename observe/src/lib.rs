//! What an executor of [`clockworker`] tells of itself.
//!
//! # Features
//!
//! * `metrics`: the module `metrics`, which passes all counters on to the facade `metrics`, and so to Prometheus and others.

#![forbid(unsafe_code)]

#[cfg(feature = "metrics")]
pub mod metrics;
