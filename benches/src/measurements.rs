//! What is measured: a file for each command.

pub mod compare;
pub mod micro;
pub mod programs;
pub mod tenants;
