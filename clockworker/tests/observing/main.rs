//! What an executor tells of itself: how long tasks wait and run, what happened when, and which poll takes too long.

mod dump;
mod frames;
mod hooks;
mod latency;
mod locations;
mod names;
#[cfg(feature = "stalls")]
mod stalls;
mod tags;
mod timeline;
mod wakes;

#[path = "../support"]
mod support {
    #[cfg(all(feature = "stalls", target_os = "linux"))]
    mod child;
    mod elsewhere;
    mod micros;
    mod on_drop;
    mod probe;
    mod signal;
    mod spy;
    mod world;
    mod yields;

    #[cfg(all(feature = "stalls", target_os = "linux"))]
    pub(crate) use self::child::*;
    pub(crate) use self::{
        elsewhere::*, micros::*, on_drop::*, probe::*, signal::*, spy::*, world::*, yields::*,
    };
    pub(crate) use clockworker_testing::driving::*;
}

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
