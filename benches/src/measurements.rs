//! What can be measured. Each is a [`Measurement`](crate::harness::measurement::Measurement).

pub mod compare;
pub mod overhead;
pub mod priority;
pub mod programs;
pub mod service;
pub mod tail;
pub mod tcp;
