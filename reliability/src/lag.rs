//! Promise 6: no queue is further from what it is owed than EEVDF allows.
//!
//! The lags of `Eevdf`'s choices are held against an oracle, in intervals in which the same queues contend all the time; and
//! on the executor, what queues have got after a second in which all of them had work.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue};
use clockworker_schedulers::laws::EevdfOracle;
use clockworker_schedulers::{Eevdf, QueueId, Share};
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use crate::bounds;
pub(crate) use crate::cases::Cases as Options;
use crate::cases::{Worst, log_uniform};
use crate::figure::{Figure, told};

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut worst = Tally::default();
    let intervals = options.play(10_000, 200, |seed| {
        serve(seed, &mut worst);
        Ok(())
    })?;
    let seconds = options.play(1_000, 20, |seed| run_a_second(seed, &mut worst))?;
    let mut figures = vec![
        told(6, "steady intervals, random shares, requests and polls", intervals),
        told(6, "times every lag was looked at", worst.looks),
        told(6, "greatest |lag| / (largest request + longest poll)", worst.simple.value),
        told(6, "seconds of virtual time on the executor", seconds),
    ];
    let held = [
        ("greatest lag / bound of a queue that is behind", worst.behind, 1.0),
        ("greatest lag / bound of a queue that is ahead", worst.ahead, 1.0),
        ("greatest error of a lag in ns per second of service", worst.error, 1_000.0),
        ("share error after 1 s, % of what a queue of 10 % or more is owed", worst.of_owed, 1.0),
        ("share error after 1 s, % of the second, any queue", worst.of_second, 1.0),
    ];
    figures.extend(held.into_iter().flat_map(|(what, worst, bound)| worst.figures(6, what, bound)));
    Ok(figures)
}

/// Fractional bits of the oracle: its own rounding is below 10⁻¹² of what is served.
const BITS: u32 = 64;

const SERVICES: u32 = 2_000;

#[derive(Debug, Default)]
struct Tally {
    looks: u64,
    /// Service that a queue is owed, in parts of its bound.
    behind: Worst,
    /// Service that it had too early, in parts of its bound.
    ahead: Worst,
    /// |lag| in parts of the largest request and the longest poll of any queue: where shares differ, this is no bound.
    simple: Worst,
    /// How far `Eevdf`'s own lag was from the oracle's, in nanoseconds per second of service.
    error: Worst,
    /// What a queue's share was off by after a second, in per cent of what it was owed, and of the second.
    of_owed: Worst,
    of_second: Worst,
}

struct Interval {
    seed: u64,
    eevdf: Eevdf,
    oracle: EevdfOracle<BITS>,
    queues: Vec<bounds::Queue>,
    ids: Vec<QueueId>,
    served: u64,
}

fn serve(seed: u64, worst: &mut Tally) {
    let mut rng = Rng::with_seed(seed);
    let mut interval = Interval::begin(seed, &mut rng);
    // The executor serves until the request is spent, and asks then; a preemption makes it ask sooner.
    let by_slices = rng.bool();
    for _ in 0..SERVICES {
        let Some(id) = interval.eevdf.pick() else { return };
        let longest = interval.queues[id.index()].longest_poll;
        let mut poll = || if rng.bool() { longest } else { rng.u64(1..=longest) };
        let mut service = poll();
        while by_slices && service < interval.eevdf.left_ns(id) {
            service += poll();
        }
        interval.eevdf.charge(id, service);
        interval.oracle.charge(id.index(), service);
        interval.served += service;
        interval.look(worst);
    }
}

impl Interval {
    /// All queues wake.
    fn begin(seed: u64, rng: &mut Rng) -> Self {
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
        Interval { seed, eevdf, oracle, queues, ids, served: 0 }
    }

    fn look(&self, worst: &mut Tally) {
        let most = |of: fn(&bounds::Queue) -> u64| self.queues.iter().map(of).max().unwrap_or(0);
        let simple = (most(|queue| queue.request) + most(|queue| queue.longest_poll)) as f64;
        worst.looks += 1;
        for (index, &id) in self.ids.iter().enumerate() {
            let lag = self.oracle.lag(index) as f64 / (1_u128 << BITS) as f64;
            let (behind, ahead) = bounds::lag(&self.queues, index);
            worst.behind.add(lag / behind, self.seed);
            worst.ahead.add(-lag / ahead, self.seed);
            worst.simple.add(lag.abs() / simple, self.seed);
            // `as_ns` rounds to the nanosecond.
            let error = (self.eevdf.lag(id).as_ns() as f64 - lag).abs() - 1.0;
            worst.error.add(error / (self.served as f64 / 1e9), self.seed);
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// Which part of the CPU a queue must be owed for its error to be told in parts of that. With 500 µs of request and 100 µs
/// of poll, 1 % of a tenth of a second is more than its lag may be.
const PART: f64 = 0.1;

/// Runs a second of virtual time on the executor, and adds what the queues' service is off by.
fn run_a_second(seed: u64, worst: &mut Tally) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let time = VirtualTime::new();
    let ex = Executor::builder().clock(time.clock()).build()?;
    let widest = [1, 10, 100][rng.usize(..3)];
    let queues: Vec<Queue> = (0..rng.usize(2..=8))
        .map(|index| ex.new_queue(&index.to_string()).share(log_uniform(&mut rng, 1, widest) as u32).create())
        .collect::<Result<_, _>>()?;
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
    time.drive(&ex, || time.now() >= SECOND, || Duration::ZERO)?;
    let busy = |queue: &Queue| queue.stats().busy.as_nanos() as f64;
    let total: f64 = queues.iter().map(busy).sum();
    let shares: f64 = queues.iter().map(|queue| f64::from(queue.share())).sum();
    for queue in &queues {
        let part = f64::from(queue.share()) / shares;
        let error = (busy(queue) - part * total).abs();
        worst.of_second.add(100.0 * error / total, seed);
        if part >= PART {
            worst.of_owed.add(100.0 * error / (part * total), seed);
        }
    }
    Ok(())
}
