//! Ten quiet tenants, which sleep and then have a little to do, alone and beside one that floods.
//!
//! Responses are in real time, and count from two moments:
//!
//! - *when the sleep was over*: what a tenant sees. tokio's timers count milliseconds, so most of it is theirs.
//! - *when tokio called the waker*: what the executor makes of it.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until, timeout};

use super::arm::FIRST;
use crate::arms::{Contender, host};
use crate::beside::lanes::{Background, Loops};
use crate::harness::{Sample, in_turns};
use crate::measurements::arm::Work;
use crate::random::{Purpose, Random};
use crate::stats::spread::Values;
use crate::stopwatch::{Stopwatch, now};
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;

pub(super) const QUIET: usize = 10;
pub(super) const TASKS: usize = 1_000;
pub(super) const POLLS: u32 = 5;
pub(super) const POLL: Duration = Duration::from_micros(20);
pub(super) const SLEEPS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(14));

/// Responses from the end of the sleep.
pub(super) const ALONE: &str = "alone_ns";
pub(super) const BESIDE: &str = "beside_ns";
/// Responses from the wake.
pub(super) const ALONE_WOKEN: &str = "alone_from_wake_ns";
pub(super) const BESIDE_WOKEN: &str = "beside_from_wake_ns";
/// p99 of all quiet tenants beside the flood over that alone, in a round.
pub(super) const P99_BY_ALONE: &str = "p99_by_alone";
/// The same of the tenant whose p99 is largest.
pub(super) const WORST_BY_ALONE: &str = "worst_p99_by_alone";
/// What the flood adds to the median response from the wake, in polls.
pub(super) const ADDED_POLLS: &str = "added_polls";
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

/// What quiet tenants had, each its own.
pub(super) struct Found {
    responses: Vec<Responses>,
    flood_cpu: f64,
}

/// Nanoseconds; `None` is a response without an end.
#[derive(Clone, Debug, Default)]
struct Responses {
    from_due: Vec<Option<u64>>,
    from_wake: Vec<Option<u64>>,
}

/// One arm alone and beside the flood; `run` runs it, and which is first changes by round.
pub(super) fn sample(round: u64, run: impl Fn(bool) -> Found) -> Sample {
    let [alone, beside] = in_turns(round, run);
    let from_due = [&alone, &beside].map(|found| found.all(|one| &one.from_due));
    let from_wake = [&alone, &beside].map(|found| found.all(|one| &one.from_wake));
    let ratio = |[alone, beside]: [f64; 2]| beside / alone;
    let added = (from_wake[1].at(0.5) - from_wake[0].at(0.5)) / POLL.as_nanos() as f64;
    let sample = Sample::default()
        .with_number(P99_BY_ALONE, ratio(from_due.each_ref().map(|values| values.at(0.99))))
        .with_number(WORST_BY_ALONE, ratio([&alone, &beside].map(Found::worst_p99)))
        .with_number(ADDED_POLLS, added)
        .with_number(FLOOD_CPU, beside.flood_cpu);
    let named =
        [ALONE, BESIDE, ALONE_WOKEN, BESIDE_WOKEN].into_iter().zip(from_due.into_iter().chain(from_wake));
    named.fold(sample, |sample, (key, values)| sample.with_values(key, values))
}

impl Found {
    fn all(&self, of: fn(&Responses) -> &Vec<Option<u64>>) -> Values {
        Values::of_nanos(self.responses.iter().flat_map(of).copied())
    }

    fn worst_p99(&self) -> f64 {
        let p99 = |one: &Responses| Values::of_nanos(one.from_due.iter().copied()).at(0.99);
        self.responses.iter().map(p99).fold(0.0, f64::max)
    }
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
        let loops = Loops::new(Background { tasks: TASKS, poll: POLL, rest: None });
        // Endless loops are not awaited: they are dropped with their executor.
        let _handles = self.floods.then(|| loops.spawn(&**contender, FIRST));
        let (watch, start) = (Stopwatch::start(), now());
        let tenants: Vec<Rc<Tenant>> = (0..QUIET).map(|_| Rc::default()).collect();
        let spawn = |(number, tenant): (usize, &Rc<Tenant>)| {
            let random = Random::new(self.seed, Purpose::Arrivals, self.part << 8 | number as u64);
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
        let flood_cpu = loops.iterations() as f64 * POLL.as_secs_f64() / watch.elapsed().as_secs_f64();
        Found { responses: tenants.iter().map(|tenant| tenant.responses()).collect(), flood_cpu }
    }
}

/// A quiet tenant, which has one task.
#[derive(Default)]
struct Tenant {
    responses: RefCell<Responses>,
    /// Whether it is not inside a response: from the start it is, as its first sleep begins with the flood.
    is_done: Cell<bool>,
}

impl Tenant {
    /// The first sleep counts from `start`, the others from the response before.
    async fn work(self: Rc<Self>, mut random: Random, start: Instant, end: Instant) {
        let mut due = start + random.between(SLEEPS.0, SLEEPS.1);
        while due <= end {
            self.is_done.set(false);
            let woken = Alarm::at(due).await;
            for poll in 0..POLLS {
                if poll > 0 {
                    SelfWaking::new(1).await;
                }
                burn(POLL);
            }
            self.is_done.set(true);
            let ended = now();
            let nanos = |from: Instant| Some((ended - from).as_nanos() as u64);
            let mut responses = self.responses.borrow_mut();
            responses.from_due.push(nanos(due));
            responses.from_wake.push(nanos(woken));
            due = ended + random.between(SLEEPS.0, SLEEPS.1);
        }
    }

    fn responses(&self) -> Responses {
        let mut responses = self.responses.borrow().clone();
        if !self.is_done.get() {
            responses.from_due.push(None);
            responses.from_wake.push(None);
        }
        responses
    }
}

/// tokio's timer, which says when it called the waker.
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    call: Option<Arc<Call>>,
}

struct Call {
    at: OnceLock<Instant>,
    waker: Waker,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.at.get_or_init(now);
        self.waker.wake_by_ref();
    }
}

impl Alarm {
    fn at(due: Instant) -> Self {
        Alarm { sleep: Box::pin(sleep_until(due.into())), call: None }
    }
}

impl Future for Alarm {
    type Output = Instant;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Instant> {
        let call = || Arc::new(Call { at: OnceLock::new(), waker: cx.waker().clone() });
        let call = self.call.get_or_insert_with(call).clone();
        let waker = call.clone().into();
        let over = self.sleep.as_mut().poll(&mut Context::from_waker(&waker));
        over.map(|()| *call.at.get_or_init(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tenants::arm::Arm;

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
            let found = arm.forewarned(FIRST + 1 + QUIET, &SHORT);
            assert_eq!((found.responses.len(), found.flood_cpu), (QUIET, 0.0));
            for Responses { from_due, from_wake } in &found.responses {
                assert!(!from_due.is_empty() && from_due.len() == from_wake.len(), "{arm:?}");
                // The timer is never early, and each response has its polls.
                let least = POLL.as_nanos() as u64 * u64::from(POLLS);
                let mut both = from_due.iter().zip(from_wake);
                assert!(both.all(|(due, wake)| due >= wake && wake.unwrap() >= least), "{arm:?}");
            }
        }
    }

    #[test]
    fn a_response_that_does_not_end_is_the_worst() {
        let tenant = Tenant::default();
        assert_eq!(tenant.responses().from_due, [None]);
        tenant.is_done.set(true);
        assert_eq!(tenant.responses().from_due, []);
    }

    #[test]
    fn a_round_compares_beside_with_alone() {
        let of = |nanos: u64| {
            let one = Responses { from_due: vec![Some(nanos)], from_wake: vec![Some(nanos / 2)] };
            Found { responses: vec![one; 2], flood_cpu: 0.5 }
        };
        for round in [0, 1] {
            let sample = sample(round, |floods| of(if floods { 300_000 } else { 200_000 }));
            let figure = |key| sample.figures().find(|(name, _)| name == key).unwrap().1;
            assert!((figure(P99_BY_ALONE) - 1.5).abs() < 0.01);
            assert!((figure(WORST_BY_ALONE) - 1.5).abs() < 0.01);
            assert!((figure(ADDED_POLLS) - 2.5).abs() < 0.01);
            assert_eq!(figure(FLOOD_CPU), 0.5);
        }
    }
}
