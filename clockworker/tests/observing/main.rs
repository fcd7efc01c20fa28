//! What an executor tells of itself: how long tasks wait and run, what happened when, and which poll takes too long.

mod dump;
mod frames;
mod hooks;
mod latency;
mod locations;
mod names;
mod tags;
mod timeline;
mod wakes;

#[path = "../support/mod.rs"]
mod support;

use clockworker::Executor;
use clockworker::observe::{Latency, Observation};

/// An executor in a new world that observes this.
fn observing(asked: Observation) -> Executor {
    let ex = support::hosted();
    ex.observe(asked).unwrap();
    ex
}

/// What was observed of the queue of that name.
fn latency_of(ex: &Executor, name: &str) -> Latency {
    *support::queue(ex, name).stats().latency.expect("latency is observed")
}
