//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! The lags of `Eevdf`'s choices are held against an oracle while the same queues contend all the time.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};
use clockworker_testing::effort::each_seed;
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
