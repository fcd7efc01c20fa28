//! What can be measured. Each is a [`Measurement`](crate::harness::measurement::Measurement).

pub mod priority;
pub mod service;
pub mod tail;
pub mod tcp;
