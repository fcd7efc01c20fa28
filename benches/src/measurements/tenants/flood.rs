//! Ten quiet tenants, which sleep and then have a little to do, alone and beside one that floods.
//!
//! A quiet tenant is one task, which sleeps for 5 to 14 ms and then has five polls of 20 µs; who floods has a thousand tasks that
//! always have work, in polls as long. A response counts from the end of the sleep, which is what a tenant sees. tokio's timers
//! count milliseconds, so most of it is theirs: beside a flood it can be shorter than alone, as the thread does not sleep then.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::time::{sleep_until, timeout};

use super::FIRST;
use super::endless::{Endless, POLL};
use crate::arms::Contender;
use crate::arms::runner::Work;
use crate::arms::tokio::host;
use crate::harness::{Distribution, Sample};
use crate::random::{Purpose, between, random};
use crate::stopwatch::{Stopwatch, now};
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

pub(super) const QUIET: usize = 10;
pub(super) const TASKS: usize = 1_000;
const POLLS: u32 = 5;
const SLEEPS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(14));

/// Responses.
pub(super) const ALONE: &str = "alone_ns";
pub(super) const BESIDE: &str = "beside_ns";
/// p99 of all quiet tenants beside the flood over that alone, in a round.
pub(super) const P99_BY_ALONE: &str = "p99_by_alone";
/// CPU time of the flood, as a part of a core's.
pub(super) const FLOOD_CPU: &str = "flood_cpu";

#[derive(Clone, Copy, Debug)]
pub(super) struct Flood {
    pub(super) floods: bool,
    pub(super) window: Duration,
    /// How long the last responses may take. What has not ended then counts as the worst.
    pub(super) drain: Duration,
    pub(super) seed: u64,
    pub(super) part: u64,
}

/// Responses of all quiet tenants in nanoseconds; `None` is one without an end.
pub(super) struct Found {
    responses: Vec<Option<u64>>,
    flood_cpu: f64,
}

/// One arm alone and beside the flood; `run` runs it, and which is first changes by round.
pub(super) fn sample(round: u64, run: impl Fn(bool) -> Found) -> Sample {
    let (alone, beside) = if round.is_multiple_of(2) {
        let alone = run(false);
        (alone, run(true))
    } else {
        let beside = run(true);
        (run(false), beside)
    };
    let flood_cpu = beside.flood_cpu;
    let [alone, beside] = [alone, beside].map(|found| Distribution::of_nanos(found.responses));
    Sample::default()
        .number(P99_BY_ALONE, beside.at(0.99) / alone.at(0.99))
        .number(FLOOD_CPU, flood_cpu)
        .distribution(ALONE, alone)
        .distribution(BESIDE, beside)
}

impl Work for Flood {
    type Found = Found;

    fn on<C: Contender>(&self, contender: C) -> Found {
        let contender = Rc::new(contender);
        host().block_on(contender.run_until(self.serve(&contender)))
    }
}

impl Flood {
    async fn serve<C: Contender>(self, contender: &Rc<C>) -> Found {
        let flood = Endless::default();
        if self.floods {
            flood.spawn(&**contender, FIRST, TASKS);
        }
        let (watch, start) = (Stopwatch::start(), now());
        let tenants: Vec<Rc<Tenant>> = (0..QUIET).map(|_| Rc::default()).collect();
        let spawn = |(number, tenant): (usize, &Rc<Tenant>)| {
            let random = random(self.seed, Purpose::Arrivals, self.part << 8 | number as u64);
            contender.spawn(FIRST + 1 + number, tenant.clone().work(random, start, start + self.window))
        };
        let handles: Vec<C::Handle> = tenants.iter().enumerate().map(spawn).collect();
        let all = async {
            for handle in handles {
                handle.await.expect("a quiet tenant does not fail");
            }
        };
        // Which responses have not ended by the limit is found with the tenants.
        let _ = timeout(self.window + self.drain, all).await;
        let flood_cpu = flood.work().as_secs_f64() / watch.elapsed().as_secs_f64();
        Found { responses: tenants.iter().flat_map(|tenant| tenant.responses()).collect(), flood_cpu }
    }
}

/// A quiet tenant, which has one task.
#[derive(Default)]
struct Tenant {
    responses: RefCell<Vec<Option<u64>>>,
    /// Whether it is not inside a response: from the start it is, as its first sleep begins with the flood.
    is_done: Cell<bool>,
}

impl Tenant {
    /// The first sleep counts from `start`, the others from the response before.
    async fn work(self: Rc<Self>, mut random: Rng, start: Instant, end: Instant) {
        let mut due = start + between(&mut random, SLEEPS.0, SLEEPS.1);
        while due <= end {
            self.is_done.set(false);
            sleep_until(due.into()).await;
            for poll in 0..POLLS {
                if poll > 0 {
                    SelfWaking::new(1).await;
                }
                burn(POLL);
            }
            self.is_done.set(true);
            let ended = now();
            self.responses.borrow_mut().push(Some((ended - due).as_nanos() as u64));
            due = ended + between(&mut random, SLEEPS.0, SLEEPS.1);
        }
    }

    fn responses(&self) -> Vec<Option<u64>> {
        let unfinished = (!self.is_done.get()).then_some(None);
        self.responses.borrow().iter().copied().chain(unfinished).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tenants::Arm;

    const SHORT: Flood = Flood {
        floods: false,
        window: Duration::from_millis(30),
        drain: Duration::from_secs(20),
        seed: 1,
        part: 0,
    };

    #[test]
    fn every_arm_serves_every_quiet_tenant() {
        for arm in [Arm::LocalSet, Arm::FairGroups, Arm::Priority, Arm::Deadline, Arm::IdleQueue] {
            let found = arm.run(FIRST + 1 + QUIET, &SHORT);
            assert_eq!(found.flood_cpu, 0.0);
            // The timer is never early, and each response has its polls.
            let least = POLL.as_nanos() as u64 * u64::from(POLLS);
            assert!(found.responses.iter().all(|response| response.unwrap() >= least), "{arm:?}");
            assert!(found.responses.len() >= QUIET, "{arm:?}");
        }
    }

    #[test]
    fn a_response_that_does_not_end_is_the_worst() {
        let tenant = Tenant::default();
        assert_eq!(tenant.responses(), [None]);
        tenant.is_done.set(true);
        assert_eq!(tenant.responses(), []);
    }

    #[test]
    fn a_round_compares_beside_with_alone() {
        let of = |nanos| Found { responses: vec![Some(nanos); 2], flood_cpu: 0.5 };
        for round in [0, 1] {
            let sample = sample(round, |floods| of(if floods { 300_000 } else { 200_000 }));
            let figures = sample.figures();
            assert!((figures[P99_BY_ALONE] - 1.5).abs() < 0.01);
            assert_eq!((figures[FLOOD_CPU], figures["beside_ns.max"]), (0.5, 300_000.0));
        }
    }
}
