//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! The lags of `Eevdf`'s choices are held against an oracle while the same queues contend all the time. On the executor, each
//! queue has its share after a second.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};
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

/// A queue with a smaller part of the thread may be off by more of that: with a request of 500 µs and polls of 100 µs its lag
/// may be as long.
const PART: f64 = 0.1;

/// What a queue may be off by after a second, in parts of what it is owed; a smaller one, in parts of all.
const MOST_OFF: f64 = 0.003;

#[test]
fn each_queue_has_its_share_after_a_second() {
    let off = Reached::default();
    each_seed(20, 1_000, |seed| share_a_second(seed, &off));
    println!("furthest from its share after a second / {MOST_OFF} of that: {off}");
    off.assert_near(0.05);
}

/// Queues whose tasks always have work share a second of virtual time.
fn share_a_second(seed: u64, off: &Reached) {
    let mut rng = Rng::with_seed(seed);
    let time = VirtualTime::new();
    let ex = Executor::builder().clock(time.clock()).build().unwrap();
    let widest = [1, 10, 100][rng.usize(..3)];
    let mut create = |index: usize| {
        ex.new_queue(&index.to_string()).share(log_uniform(&mut rng, 1, widest) as u32).create().unwrap()
    };
    let queues: Vec<Queue> = (0..2 + seed as usize % 7).map(&mut create).collect();
    let loads: Vec<(u32, u64)> =
        queues.iter().map(|_| (rng.u32(1..=4), log_uniform(&mut rng, 10_000, 100_000))).collect();
    let rng = Rc::new(RefCell::new(rng));
    for (queue, (tasks, longest)) in queues.iter().zip(loads) {
        for _ in 0..tasks {
            let (time, rng) = (time.clone(), Rc::clone(&rng));
            let _detached = queue.spawn(async move {
                while time.now() < SECOND {
                    let length = rng.borrow_mut().u64(1..=longest);
                    time.work(Duration::from_nanos(length));
                    yield_now().await;
                }
            });
        }
    }
    time.drive(&ex, || time.now() >= SECOND, || Duration::ZERO);
    let busy = |queue: &Queue| queue.stats().busy.as_nanos() as f64;
    let (total, shares) =
        queues.iter().fold((0.0, 0.0), |(t, s), queue| (t + busy(queue), s + f64::from(queue.share())));
    for queue in &queues {
        let part = f64::from(queue.share()) / shares;
        let of = if part >= PART { part * total } else { total };
        off.note((busy(queue) - part * total).abs() / (of * MOST_OFF));
    }
}
