//! Queues that always have work: how far each is from its share.

use std::time::Duration;

use clockworker::{Executor, Queue};
use tokio::time::sleep;

use super::Endless;
use crate::arms::Runner;
use crate::arms::clockworker::Clockworker;
use crate::harness::{Experiment, Sample};

const SHARES: [(&str, &[u32]); 3] = [("9:1", &[9, 1]), ("99:1", &[99, 1]), ("1:1:1:1", &[1, 1, 1, 1])];

/// Side by side; or each has children of the same shares, and no tasks of its own.
const LAYOUTS: [(&str, Layout); 2] = [("side by side", side_by_side), ("nested", nested)];

type Layout = fn(&Executor, &[u32]) -> Vec<Leaf>;

/// A queue with tasks of its own, and its due of all service.
type Leaf = (Queue, f64);

/// Tasks of each queue.
const TASKS: usize = 4;

/// The furthest that a queue's part of all service is from its due, in percent.
pub(super) const SHARE_ERROR: &str = "share_error_percent";

pub(super) fn experiments(window: Duration) -> impl Iterator<Item = Experiment> {
    SHARES.into_iter().map(move |(title, shares)| {
        let title = format!("Queues of shares {title} that always have work");
        Experiment::new("shares", title, LAYOUTS.map(|(title, _)| title), move |sample| {
            Ok(shared(LAYOUTS[sample.arm].1, shares, window))
        })
    })
}

fn side_by_side(executor: &Executor, shares: &[u32]) -> Vec<Leaf> {
    let create = |number: usize, share| executor.new_queue(&number.to_string()).share(share).create();
    let queues = shares.iter().enumerate().map(|(number, &share)| create(number, share));
    queues.map(|queue| queue.expect("the shares are valid")).zip(dues(shares)).collect()
}

fn nested(executor: &Executor, shares: &[u32]) -> Vec<Leaf> {
    let outer = side_by_side(executor, shares);
    let inner = |(parent, due): Leaf| {
        let children = shares.iter().zip(dues(shares)).enumerate();
        children.map(move |(number, (&share, part))| {
            let queue = parent.new_queue(&format!("{}.{number}", parent.name())).share(share).create();
            (queue.expect("the shares are valid"), due * part)
        })
    };
    outer.into_iter().flat_map(inner).collect()
}

fn dues(shares: &[u32]) -> impl Iterator<Item = f64> {
    let sum = shares.iter().sum::<u32>();
    shares.iter().map(move |&share| f64::from(share) / f64::from(sum))
}

/// Queues that have as much to do as they can get, by what their tasks have done. That is without the reading of the CPU clock
/// that is in each poll.
fn shared(layout: Layout, shares: &[u32], window: Duration) -> Sample {
    let executor = Executor::new();
    let (queues, dues): (Vec<_>, Vec<_>) = layout(&executor, shares).into_iter().unzip();
    let all: Vec<Endless> = queues.iter().map(|_| Endless::default()).collect();
    let runner = Clockworker::new(executor, queues);
    runner.block_on(async {
        all.iter().enumerate().for_each(|(lane, endless)| endless.spawn(&runner, lane, TASKS));
        sleep(window).await;
    });
    let done: Vec<f64> = all.iter().map(|endless| endless.polls() as f64).collect();
    Sample::default().number(SHARE_ERROR, furthest(&dues, &done) * 100.0)
}

/// The furthest that a part of all that was got is from its due.
fn furthest(dues: &[f64], got: &[f64]) -> f64 {
    let all_got = got.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    got.iter().zip(dues).map(|(got, due)| (got / all_got - due).abs()).fold(0.0, f64::max)
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
        let leaves = nested(&executor, &[9, 1]);
        let dues: Vec<_> = leaves.iter().map(|(queue, due)| (queue.name(), (due * 100.0).round())).collect();
        let names = ["0.0", "0.1", "1.0", "1.1"].map(str::to_owned);
        assert_eq!(dues, names.into_iter().zip([81.0, 9.0, 9.0, 1.0]).collect::<Vec<_>>());
    }
}
