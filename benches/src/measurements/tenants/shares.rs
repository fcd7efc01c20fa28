//! Queues that always have work: how far each is from its share, and a cap from what it allows.

use std::time::Duration;

use clockworker::{Cap, Executor, Queue};
use tokio::time::sleep;

use super::flood::POLL;
use crate::arms::{Contender, ManyQueues, host};
use crate::beside::lanes::{Background, Loops};
use crate::harness::Sample;
use crate::stopwatch::Stopwatch;

/// How queues are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Side by side.
    Flat,
    /// Each has children of the same shares, and no tasks of its own.
    Nested,
}

impl Layout {
    pub(super) const ALL: [Layout; 2] = [Layout::Flat, Layout::Nested];

    pub(super) const fn key(self) -> &'static str {
        match self {
            Layout::Flat => "flat",
            Layout::Nested => "nested",
        }
    }

    fn queues(self, executor: &Executor, shares: &[u32]) -> Vec<Leaf> {
        let sum = f64::from(shares.iter().sum::<u32>());
        let numbered = || shares.iter().enumerate();
        let outer = numbered().map(|(number, &share)| {
            let queue = executor.new_queue(&number.to_string()).share(share).create();
            (queue.expect("the shares are valid"), f64::from(share) / sum)
        });
        if self == Layout::Flat {
            return outer.collect();
        }
        let inner = |(parent, due): Leaf| {
            numbered().map(move |(number, &share)| {
                let name = format!("{}.{number}", parent.name());
                let queue = parent.new_queue(&name).share(share).create();
                (queue.expect("the shares are valid"), due * f64::from(share) / sum)
            })
        };
        outer.flat_map(inner).collect()
    }
}

/// A queue with tasks of its own, and its due of all service.
type Leaf = (Queue, f64);

pub(super) const SHARES: [&[u32]; 3] = [&[9, 1], &[99, 1], &[1, 1, 1, 1]];

/// Tasks of each queue.
const TASKS: usize = 4;

/// The furthest that a queue's part of all service is from its due.
pub(super) const SHARE_ERROR: &str = "share_error";

pub(super) const CAPPED_PERCENT: u32 = 20;
const PERIOD: Duration = Duration::from_millis(20);
/// The capped queue's part of the time, and what it is off, as a part of the cap.
pub(super) const CAPPED: &str = "capped_part";
pub(super) const CAP_ERROR: &str = "cap_error";
/// The part of the time that the other queue has.
pub(super) const BESIDE_CAPPED: &str = "beside_part";

/// What always busy queues had, each as a part of the time.
struct Parts {
    /// By the work that their tasks have done: what the reading of the CPU clock takes in each poll is not in it.
    done: Vec<f64>,
    /// By the executor's accounts.
    busy: Vec<f64>,
}

fn parts_of_queues(executor: Executor, queues: Vec<Queue>, window: Duration) -> Parts {
    let background = Background { tasks: TASKS, poll: POLL, rest: None };
    let loops: Vec<Loops> = queues.iter().map(|_| Loops::new(background)).collect();
    let contender = ManyQueues::of(executor, queues.clone());
    let elapsed = host().block_on(contender.run_until(async {
        let watch = Stopwatch::start();
        let _handles: Vec<_> =
            loops.iter().enumerate().map(|(lane, loops)| loops.spawn(&contender, lane)).collect();
        sleep(window).await;
        watch.elapsed()
    }));
    let part = |time: f64| time / elapsed.as_secs_f64();
    Parts {
        done: loops.iter().map(|loops| part(loops.iterations() as f64 * POLL.as_secs_f64())).collect(),
        busy: queues.iter().map(|queue| part(queue.stats().busy.as_secs_f64())).collect(),
    }
}

/// Queues that have as much to do as they can get.
pub(super) fn shared(layout: Layout, shares: &[u32], window: Duration) -> Sample {
    let executor = Executor::new();
    let (queues, dues): (Vec<_>, Vec<_>) = layout.queues(&executor, shares).into_iter().unzip();
    Sample::default()
        .with_number(SHARE_ERROR, furthest(&dues, &parts_of_queues(executor, queues, window).done))
}

/// The furthest that a part of all that was got is from its due.
fn furthest(dues: &[f64], got: &[f64]) -> f64 {
    let all_got = got.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    got.iter().zip(dues).map(|(got, due)| (got / all_got - due).abs()).fold(0.0, f64::max)
}

/// A capped queue, alone or beside another of the same share.
pub(super) fn capped(is_beside: bool, window: Duration) -> Sample {
    let executor = Executor::new();
    let cap = Cap::percent(CAPPED_PERCENT, PERIOD).expect("the cap is valid");
    let capped = executor.new_queue("capped").cap(cap).create().expect("the name is free");
    let beside = is_beside.then(|| executor.default_queue().clone());
    let queues = [capped].into_iter().chain(beside).collect();
    let parts = parts_of_queues(executor, queues, window).busy;
    let error = (parts[0] * 100.0 / f64::from(CAPPED_PERCENT) - 1.0).abs();
    let beside = parts.get(1).copied().unwrap_or(f64::NAN);
    Sample::default()
        .with_number(CAPPED, parts[0])
        .with_number(CAP_ERROR, error)
        .with_number(BESIDE_CAPPED, beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_furthest_from_its_share_counts() {
        let error = |dues: &[f64], got: &[f64]| (furthest(dues, got) * 1e6).round();
        assert_eq!(error(&[0.9, 0.1], &[0.72, 0.08]), 0.0);
        assert_eq!(error(&[0.9, 0.1], &[0.9, 0.0]), 100_000.0);
        assert_eq!(error(&[0.25; 4], &[0.25, 0.25, 0.26, 0.24]), 10_000.0);
    }

    #[test]
    fn nested_queues_are_due_the_products_of_their_shares() {
        let executor = Executor::new();
        let leaves = Layout::Nested.queues(&executor, &[9, 1]);
        let dues: Vec<_> = leaves.iter().map(|(queue, due)| (queue.name(), (due * 100.0).round())).collect();
        let names = ["0.0", "0.1", "1.0", "1.1"].map(str::to_owned);
        assert_eq!(dues, names.into_iter().zip([81.0, 9.0, 9.0, 1.0]).collect::<Vec<_>>());
    }
}
