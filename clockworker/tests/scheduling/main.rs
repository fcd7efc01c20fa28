//! Scheduling between queues: shares, preemption, groups, who pays for what, and when the host has its turn.

#[path = "../support/mod.rs"]
mod support;

mod accounts;
mod caps;
mod clock;
mod floods;
mod group_stats;
mod groups;
mod idle;
mod lifetimes;
mod nested;
mod preemption;
mod queues;
mod random;
mod readings;
mod shares;
mod simulator;
mod since;
mod sleepers;
mod starvation;
mod stats;
mod visits;
mod yielding;
