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
    mod on_drop;

    #[cfg(all(feature = "stalls", target_os = "linux"))]
    pub(crate) use child::*;
    pub(crate) use on_drop::{OnDrop, hold};
}

use std::time::Duration;

use clockworker::observe::{Latency, Observation};
use clockworker::{Executor, ManualClock};

const fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// An executor on a manual clock that observes this.
fn observing(asked: Observation) -> (Executor, ManualClock) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    ex.observe(asked).unwrap();
    (ex, clock)
}

/// What was observed of the queue of that name.
fn latency_of(ex: &Executor, name: &str) -> Latency {
    let stats = ex.stats();
    let queue = stats.queues.into_iter().find(|queue| queue.name == name).unwrap();
    *queue.latency.expect("latency is observed")
}
