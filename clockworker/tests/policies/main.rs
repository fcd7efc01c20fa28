//! Scheduling inside a queue: what a policy is told, and what it may get wrong.

#[path = "../support/mod.rs"]
mod support;

mod arrivals;
mod attributes;
mod audit;
mod callbacks;
mod changing;
mod handing_over;
mod hostile;
mod moves;
mod order;
mod scheduler_drops;
mod watchdog;
