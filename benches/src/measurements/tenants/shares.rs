//! Queues that always have work: how far each is from its share, and a cap from what it allows.

use std::time::Duration;

use clockworker::{Cap, Executor, Queue};
use tokio::time::sleep;

use super::endless::Endless;
use crate::arms::Contender;
use crate::arms::clockworker::ManyQueues;
use crate::arms::tokio::host;
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

    pub(super) fn title(self) -> &'static str {
        match self {
            Layout::Flat => "side by side",
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

pub(super) const SHARES: [(&str, &[u32]); 3] =
    [("9:1", &[9, 1]), ("99:1", &[99, 1]), ("1:1:1:1", &[1, 1, 1, 1])];

/// Tasks of each queue.
const TASKS: usize = 4;

/// The furthest that a queue's part of all service is from its due.
pub(super) const SHARE_ERROR: &str = "share_error";

const CAP_PERCENT: u32 = 20;
const PERIOD: Duration = Duration::from_millis(20);
/// The capped queue's part of the time, by the executor's accounts.
pub(super) const CAPPED: &str = "capped_part";

pub(super) fn cap_title() -> String {
    format!("A queue that always has work, with a cap of {CAP_PERCENT} % in {} ms", PERIOD.as_millis())
}

/// Has these queues always busy. Returns what the tasks of each have done, which is without the reading of the CPU clock that is in
/// each poll, and the time that passed.
fn keep_busy(executor: Executor, queues: Vec<Queue>, window: Duration) -> (Vec<Duration>, Duration) {
    let all: Vec<Endless> = queues.iter().map(|_| Endless::default()).collect();
    let contender = ManyQueues::of(executor, queues);
    let elapsed = host().block_on(contender.run_until(async {
        let watch = Stopwatch::start();
        all.iter().enumerate().for_each(|(lane, endless)| endless.spawn(&contender, lane, TASKS));
        sleep(window).await;
        watch.elapsed()
    }));
    (all.iter().map(Endless::work).collect(), elapsed)
}

/// Queues that have as much to do as they can get.
pub(super) fn shared(layout: Layout, shares: &[u32], window: Duration) -> Sample {
    let executor = Executor::new();
    let (queues, dues): (Vec<_>, Vec<_>) = layout.queues(&executor, shares).into_iter().unzip();
    let (done, _elapsed) = keep_busy(executor, queues, window);
    let done: Vec<f64> = done.iter().map(Duration::as_secs_f64).collect();
    Sample::default().number(SHARE_ERROR, furthest(&dues, &done))
}

/// The furthest that a part of all that was got is from its due.
fn furthest(dues: &[f64], got: &[f64]) -> f64 {
    let all_got = got.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    got.iter().zip(dues).map(|(got, due)| (got / all_got - due).abs()).fold(0.0, f64::max)
}

/// A capped queue, alone or beside another of the same share.
pub(super) fn capped(is_beside: bool, window: Duration) -> Sample {
    let executor = Executor::new();
    let cap = Cap::percent(CAP_PERCENT, PERIOD).expect("the cap is valid");
    let capped = executor.new_queue("capped").cap(cap).create().expect("the name is free");
    let beside = is_beside.then(|| executor.default_queue().clone());
    let queues = [capped.clone()].into_iter().chain(beside).collect();
    let (_done, elapsed) = keep_busy(executor, queues, window);
    Sample::default().number(CAPPED, capped.stats().busy.as_secs_f64() / elapsed.as_secs_f64())
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
