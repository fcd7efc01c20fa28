//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! The lags of `Eevdf`'s choices are held against an oracle while the same queues contend all the time; and on the executor,
//! what queues have got after a second in which all of them had work.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue};
use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};
use clockworker_testing::effort::each_seed;
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use super::bounds;
use super::{Reached, log_uniform};

/// Fractional bits of the oracle: its own rounding is below 10⁻¹² of what is served.
const BITS: u32 = 64;

/// Slices or polls that are served in an interval; all lags are looked at after each.
const SERVICES: u32 = 2_000;

/// How far `Eevdf`'s own lag may be from the oracle's, in nanoseconds per second of service.
const MOST_ERROR: f64 = 1_000.0;

#[test]
fn lags_keep_their_bounds_and_come_near_them() {
    let lags = Lags::default();
    each_seed(200, 10_000, |seed| serve(seed, &lags));
    println!("greatest lag / bound: {} behind, {} ahead", lags.behind, lags.ahead);
    lags.behind.assert_near(0.9);
    lags.ahead.assert_near(0.9);
}

#[derive(Default)]
struct Lags {
    /// Service that a queue is owed, in parts of its bound.
    behind: Reached,
    /// Service that it had too early, in parts of its bound.
    ahead: Reached,
    /// How far `Eevdf`'s lag is from the oracle's, in parts of what that may be.
    error: Reached,
}

struct Interval {
    eevdf: Eevdf,
    oracle: EevdfOracle<BITS>,
    queues: Vec<bounds::Queue>,
    ids: Vec<QueueId>,
    served: u64,
}

fn serve(seed: u64, lags: &Lags) {
    let mut rng = Rng::with_seed(seed);
    let mut interval = Interval::begin(&mut rng);
    // The executor serves until the request is spent, and picks then; after a preemption it picks sooner.
    let by_slices = rng.bool();
    for _ in 0..SERVICES {
        let id = interval.eevdf.pick().expect("all have work");
        let longest = interval.queues[id.index()].longest_poll;
        let mut poll = || if rng.bool() { longest } else { rng.u64(1..=longest) };
        let mut service = poll();
        while by_slices && service < interval.eevdf.left_ns(id) {
            service += poll();
        }
        interval.eevdf.charge(id, service);
        interval.oracle.charge(id.index(), service);
        interval.served += service;
        interval.look(lags);
    }
}

impl Interval {
    /// All queues wake.
    fn begin(rng: &mut Rng) -> Self {
        let (mut eevdf, mut oracle) = (Eevdf::new(), EevdfOracle::default());
        let widest = [1, 10, 1_000, 1_000_000][rng.usize(..4)];
        let count = rng.usize(2..=8);
        let draw = |_| {
            let share = log_uniform(rng, 1, widest) as u32;
            let (request, longest_poll) =
                (log_uniform(rng, 1_000, 2_000_000), log_uniform(rng, 1_000, 2_000_000));
            bounds::Queue { share, request, longest_poll, overrun: longest_poll }
        };
        let queues: Vec<_> = (0..count).map(draw).collect();
        let mut ids = Vec::new();
        for queue in &queues {
            ids.push(eevdf.add(Share::new(queue.share).unwrap_or_default(), queue.request));
            oracle.add(queue.share, queue.request);
        }
        for &id in &ids {
            eevdf.wake(id);
            oracle.wake(id.index());
        }
        Interval { eevdf, oracle, queues, ids, served: 0 }
    }

    fn look(&self, lags: &Lags) {
        for (index, &id) in self.ids.iter().enumerate() {
            let lag = self.oracle.lag(index) as f64 / (1_u128 << BITS) as f64;
            let (behind, ahead) = bounds::lag(&self.queues, index);
            lags.behind.note(lag / behind);
            lags.ahead.note(-lag / ahead);
            // `as_ns` rounds to the nanosecond.
            let error = (self.eevdf.lag(id).as_ns() as f64 - lag).abs() - 1.0;
            lags.error.note(error / (MOST_ERROR * self.served as f64 / 1e9));
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// How far a share may be off after a second, as a part of the second; of what is owed too, where that is [`MUCH`].
const MOST_OFF: f64 = 0.01;

/// With 500 µs of request and 100 µs of poll, 1 % of a tenth of a second is more than a lag may be.
const MUCH: f64 = 0.1;

#[test]
fn after_a_second_each_queue_has_its_share() {
    let (of_owed, of_second) = (Reached::default(), Reached::default());
    each_seed(20, 1_000, |seed| {
        for (part, error) in run_a_second(seed) {
            of_second.note(error / MOST_OFF);
            if part >= MUCH {
                of_owed.note(error / part / MOST_OFF);
            }
        }
    });
    println!("greatest error / 1 %: {of_owed} of what is owed, {of_second} of the second");
}

/// Runs a second of virtual time on the executor: each queue's part of it, and by how much of the second its service is off.
fn run_a_second(seed: u64) -> Vec<(f64, f64)> {
    let mut rng = Rng::with_seed(seed);
    let time = VirtualTime::new();
    let ex = Executor::builder().clock(time.clock()).build().unwrap();
    let widest = [1, 10, 100][rng.usize(..3)];
    let count = rng.usize(2..=8);
    let create = |index: usize| {
        ex.new_queue(&index.to_string()).share(log_uniform(&mut rng, 1, widest) as u32).create().unwrap()
    };
    let queues: Vec<Queue> = (0..count).map(create).collect();
    let rng = Rc::new(RefCell::new(rng));
    for queue in &queues {
        let tasks = rng.borrow_mut().u32(1..=4);
        let longest = log_uniform(&mut rng.borrow_mut(), 10_000, 100_000);
        for _ in 0..tasks {
            let (time, rng) = (time.clone(), Rc::clone(&rng));
            let _detached = queue.spawn(async move {
                while time.now() < SECOND {
                    let length = rng.borrow_mut().u64(1..=longest);
                    time.pass(Duration::from_nanos(length));
                    clockworker::yield_now().await;
                }
            });
        }
    }
    time.drive(&ex, || time.now() >= SECOND, || Duration::ZERO).unwrap();
    let busy = |queue: &Queue| queue.stats().busy.as_nanos() as f64;
    let total: f64 = queues.iter().map(busy).sum();
    let shares: f64 = queues.iter().map(|queue| f64::from(queue.share())).sum();
    let of_each = queues.iter().map(|queue| {
        let part = f64::from(queue.share()) / shares;
        (part, (busy(queue) / total - part).abs())
    });
    of_each.collect()
}
