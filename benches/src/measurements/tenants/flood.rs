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

use super::{Endless, FIRST, POLL};
use crate::arms::{Job, Runner};
use crate::harness::Sample;
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

/// Responses of all quiet tenants; `None` is one without an end.
pub(super) struct Found {
    responses: Vec<Option<Duration>>,
    flood_cpu: f64,
}

/// One arm alone and beside the flood; `run` runs it, and which is first changes by round.
pub(super) fn sample(round: u64, run: impl Fn(bool) -> Found) -> Sample {
    let first = round % 2 == 1;
    let (one, other) = (run(first), run(!first));
    let (alone, beside) = if first { (other, one) } else { (one, other) };
    let sample = Sample::default().waits(ALONE, alone.responses).waits(BESIDE, beside.responses);
    let by_alone = sample.figure(&format!("{BESIDE}.p99")) / sample.figure(&format!("{ALONE}.p99"));
    sample.number(P99_BY_ALONE, by_alone).number(FLOOD_CPU, beside.flood_cpu)
}

impl Job for Flood {
    type Found = Found;

    fn run<R: Runner>(&self, runner: R) -> Found {
        runner.block_on(self.serve(&runner))
    }
}

impl Flood {
    async fn serve<R: Runner>(self, runner: &R) -> Found {
        let flood = Endless::default();
        if self.floods {
            flood.spawn(runner, FIRST, TASKS);
        }
        let (watch, start) = (Stopwatch::start(), now());
        let tenants: Vec<Rc<Tenant>> = (0..QUIET).map(|_| Rc::default()).collect();
        let spawn = |(number, tenant): (usize, &Rc<Tenant>)| {
            let random = random(self.seed, Purpose::Arrivals, self.part << 8 | number as u64);
            runner.spawn(FIRST + 1 + number, tenant.clone().work(random, start, start + self.window))
        };
        let handles: Vec<R::Task> = tenants.iter().enumerate().map(spawn).collect();
        let all = async {
            for handle in handles {
                handle.await;
            }
        };
        // Which responses have not ended by the limit is found with the tenants.
        let _ = timeout(self.window + self.drain, all).await;
        let flood_cpu = POLL.mul_f64(flood.polls() as f64).as_secs_f64() / watch.elapsed().as_secs_f64();
        Found { responses: tenants.iter().flat_map(|tenant| tenant.responses()).collect(), flood_cpu }
    }
}

/// A quiet tenant, which has one task.
#[derive(Default)]
struct Tenant {
    responses: RefCell<Vec<Option<Duration>>>,
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
            self.responses.borrow_mut().push(Some(ended - due));
            due = ended + between(&mut random, SLEEPS.0, SLEEPS.1);
        }
    }

    fn responses(&self) -> Vec<Option<Duration>> {
        let unfinished = (!self.is_done.get()).then_some(None);
        self.responses.borrow().iter().copied().chain(unfinished).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::Arm;
    use crate::measurements::tenants::run;

    #[test]
    fn every_arm_serves_every_quiet_tenant() {
        let [window, drain] = [30, 20_000].map(Duration::from_millis);
        for arm in [Arm::LocalSet, Arm::FairGroups] {
            let found = run(arm, 1 + QUIET, &Flood { floods: false, window, drain, seed: 1, part: 0 });
            assert_eq!(found.flood_cpu, 0.0);
            // The timer is never early, and each response has its polls.
            assert!(found.responses.iter().all(|response| response.unwrap() >= POLLS * POLL), "{arm:?}");
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
        let of = |micros| Found { responses: vec![Some(Duration::from_micros(micros)); 2], flood_cpu: 0.5 };
        for round in [0, 1] {
            let found = sample(round, |floods| of(if floods { 300 } else { 200 })).into_figures();
            assert_eq!((found[P99_BY_ALONE], found[FLOOD_CPU], found["beside_ns.p50"]), (1.5, 0.5, 3e5));
        }
    }
}
