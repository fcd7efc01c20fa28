//! What is measured: a file for each command.

pub mod compare;
pub mod micro;
pub mod priority;
pub mod programs;
pub mod service;
pub mod tail;
pub mod tenants;
