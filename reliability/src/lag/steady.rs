//! Intervals in which the same queues contend all the time, served as `Eevdf` says, and an oracle that knows the lags.

use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};
use fastrand::Rng;

use crate::cases::{Worst, log_uniform};

/// Fractional bits of the oracle: its own rounding is below 10⁻¹² of what is served.
const BITS: u32 = 64;

/// Services in an interval.
const SERVICES: u32 = 2_000;

/// The worst that was seen.
#[derive(Debug, Default)]
pub(super) struct Lags {
    pub(super) looks: u64,
    /// Service that a queue is owed, in parts of its bound.
    pub(super) behind: Worst,
    /// Service that it had too early, in parts of its bound.
    pub(super) ahead: Worst,
    /// |lag| in parts of the largest request and the longest poll of any queue: where shares differ, this is no bound.
    pub(super) simple: Worst,
    /// How far `Eevdf`'s own lag was from the oracle's, in nanoseconds per second of service.
    pub(super) error: Worst,
}

struct Queue {
    id: QueueId,
    share: f64,
    request: u64,
    longest_poll: u64,
}

/// Serves one interval.
pub(super) fn serve(seed: u64, lags: &mut Lags) {
    let mut rng = Rng::with_seed(seed);
    let (mut eevdf, mut oracle) = (Eevdf::new(), EevdfOracle::<BITS>::default());
    let widest = [1, 10, 1_000, 1_000_000][rng.usize(..4)];
    let queues: Vec<Queue> = (0..rng.usize(2..=8))
        .map(|_| {
            let share = log_uniform(&mut rng, 1, widest) as u32;
            let request = log_uniform(&mut rng, 1_000, 2_000_000);
            let longest_poll = log_uniform(&mut rng, 1_000, 2_000_000);
            let id = eevdf.add(Share::new(share).unwrap_or_default(), request);
            oracle.add(share, request);
            Queue { id, share: f64::from(share), request, longest_poll }
        })
        .collect();
    for queue in &queues {
        eevdf.wake(queue.id);
        oracle.wake(queue.id.index());
    }
    // The executor serves until the request is spent, and asks then; a preemption makes it ask sooner.
    let by_slices = rng.bool();
    let mut served = 0;
    for _ in 0..SERVICES {
        let Some(id) = eevdf.pick() else { return };
        let longest = queues[id.index()].longest_poll;
        let mut service = poll(&mut rng, longest);
        while by_slices && service < eevdf.left_ns(id) {
            service += poll(&mut rng, longest);
        }
        eevdf.charge(id, service);
        oracle.charge(id.index(), service);
        served += service;
        look(&queues, &eevdf, &oracle, served, seed, lags);
    }
}

fn poll(rng: &mut Rng, longest: u64) -> u64 {
    if rng.bool() { longest } else { rng.u64(1..=longest) }
}

fn look(
    queues: &[Queue],
    eevdf: &Eevdf,
    oracle: &EevdfOracle<BITS>,
    served: u64,
    seed: u64,
    lags: &mut Lags,
) {
    let most = |of: fn(&Queue) -> u64| queues.iter().map(of).max().unwrap_or(0);
    let simple = (most(|queue| queue.request) + most(|queue| queue.longest_poll)) as f64;
    lags.looks += 1;
    for queue in queues {
        let lag = oracle.lag(queue.id.index()) as f64 / (1_u128 << BITS) as f64;
        let (behind, ahead) = bounds(queues, queue);
        lags.behind.add(lag / behind, seed);
        lags.ahead.add(-lag / ahead, seed);
        lags.simple.add(lag.abs() / simple, seed);
        // `as_ns` rounds to the nanosecond.
        let error = (eevdf.lag(queue.id).as_ns() as f64 - lag).abs() - 1.0;
        lags.error.add(error / (served as f64 / 1e9), seed);
    }
}

/// The most that a queue may be behind and ahead, in nanoseconds, as docs/BOUNDS.md derives it.
fn bounds(queues: &[Queue], own: &Queue) -> (f64, f64) {
    let shares: f64 = queues.iter().map(|queue| queue.share).sum();
    let part = own.share / shares;
    let others = queues.iter().filter(|other| other.id != own.id);
    let turns: f64 = others
        .map(|other| {
            let level = own.request as f64 * other.share / own.share;
            level.max(other.request as f64) + other.longest_poll as f64
        })
        .sum();
    (part * turns, (1.0 - part) * (own.request + own.longest_poll) as f64)
}
