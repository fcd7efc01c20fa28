//! What an executor tells of itself: how long tasks wait and run, and what happened when.

#![allow(missing_docs, reason = "tests")]

mod activity;
mod dump;
mod frames;
mod hooks;
mod latency;
mod locations;
mod names;
mod tags;
mod timeline;
mod wakes;

#[path = "../../../clockworker/tests/support/mod.rs"]
mod support;

use clockworker::Executor;
use clockworker_observe::{Latency, Observation, Observe, ObservedQueue};

/// An executor in a new world that observes this.
fn observing(asked: Observation) -> Executor {
    let ex = support::hosted();
    ex.observe(asked).unwrap();
    ex
}

/// What was observed of the queue of that name, if any of its tasks was heard of.
fn observed_of(ex: &Executor, name: &str) -> Option<ObservedQueue> {
    ex.observed().queue(support::queue(ex, name).stats().number).cloned()
}

/// How long the tasks of the queue of that name wait and run.
fn latency_of(ex: &Executor, name: &str) -> Latency {
    observed_of(ex, name).map_or_else(Latency::default, |queue| *queue.latency.expect("latency is observed"))
}
