//! Holds the policy of the example `own_scheduler` to the laws, as its author would.

#![forbid(unsafe_code)]

#[path = "../own_scheduler.rs"]
#[allow(dead_code, reason = "its `main` is run by `run_all`")]
mod own_scheduler;

use clockworker_schedulers::laws::{Law, Laws};
use own_scheduler::{AGING, ShortestPollFirst};

/// Nothing is lost, repeated or invented, and a task that is ready waits no longer than the documented bound.
#[test]
fn it_keeps_the_laws() {
    for seed in 0..8 {
        let laws = Laws::new(ShortestPollFirst::default).seed(seed);
        laws.waits_at_most(|crowd| AGING * crowd.ready as u64).check().unwrap();
    }
}

/// The bound is not too generous to mean something: half of it is broken.
#[test]
fn half_the_bound_is_broken() {
    let laws = Laws::new(ShortestPollFirst::default).waits_at_most(|crowd| AGING * crowd.ready as u64 / 2);
    assert_eq!(laws.check().unwrap_err().law(), Law::BoundedWait);
}
