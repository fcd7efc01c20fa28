//! Limits on what a queue takes: who is refused, who waits for room, and what is counted.

#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod hostile_waiters;
mod model;
mod polled;
mod refusals;
mod waiters;
