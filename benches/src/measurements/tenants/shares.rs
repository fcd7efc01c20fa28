//! Queues that always have work: how far each is from its share, and a cap from what it allows.

use std::time::Duration;

use clockworker::{Cap, Executor, TaskBuilder};
use tokio::time::sleep;

use super::flood::POLL;
use crate::arms::{BuiltTasks, Contender, host};
use crate::beside::lanes::{Background, Loops};
use crate::harness::sample::Sample;
use crate::stopwatch::Stopwatch;

/// How queues are laid out. Nested ones are to be another layout, of the same shares.
pub(super) const FLAT: (&str, &str) = ("flat", "flat");

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
fn parts_of_queues(executor: Executor, queues: Vec<TaskBuilder>, window: Duration) -> Vec<f64> {
    let background = Background { tasks: TASKS, poll: POLL, rest: None };
    let loops: Vec<Loops> = queues.iter().map(|_| Loops::new(background)).collect();
    let contender = BuiltTasks::new(executor, queues);
    let elapsed = host().block_on(contender.run_until(async {
        let watch = Stopwatch::start();
        let _handles: Vec<_> =
            loops.iter().enumerate().map(|(lane, loops)| loops.spawn(&contender, lane)).collect();
        sleep(window).await;
        watch.elapsed()
    }));
    let part = |loops: &Loops| loops.iterations() as f64 * POLL.as_secs_f64() / elapsed.as_secs_f64();
    loops.iter().map(part).collect()
}

/// Queues side by side.
pub(super) fn flat(shares: &[u32], window: Duration) -> Sample {
    let executor = Executor::new();
    let queue = |share: &u32| {
        let name = format!("{:?}", executor.queues().len());
        executor.new_queue(&name).share(*share).create().expect("the shares are valid").new_task()
    };
    let queues = shares.iter().map(queue).collect();
    sample_of_shares(shares, &parts_of_queues(executor, queues, window))
}

fn sample_of_shares(shares: &[u32], got: &[f64]) -> Sample {
    let (all_got, all_shares) =
        (got.iter().sum::<f64>().max(f64::MIN_POSITIVE), f64::from(shares.iter().sum::<u32>()));
    let off = |(got, &share): (&f64, &u32)| (got / all_got - f64::from(share) / all_shares).abs();
    let furthest = got.iter().zip(shares).map(off).fold(0.0, f64::max);
    Sample::default().with_number(SHARE_ERROR, furthest)
}

/// A capped queue, alone or beside another of the same share.
pub(super) fn capped(is_beside: bool, window: Duration) -> Sample {
    let executor = Executor::new();
    let cap = Cap::percent(CAPPED_PERCENT, PERIOD).expect("the cap is valid");
    let capped = executor.new_queue("capped").cap(cap).create().expect("the name is free");
    let beside = is_beside.then(|| executor.default_queue().new_task());
    let queues = [capped.new_task()].into_iter().chain(beside).collect();
    let parts = parts_of_queues(executor, queues, window);
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
        let error = |shares: &[u32], got: &[f64]| {
            let sample = sample_of_shares(shares, got);
            let (_, error) = sample.figures().next().unwrap();
            (error * 1e6).round()
        };
        assert_eq!(error(&[9, 1], &[0.72, 0.08]), 0.0);
        assert_eq!(error(&[9, 1], &[0.9, 0.0]), 100_000.0);
        assert_eq!(error(&[1, 1, 1, 1], &[0.25, 0.25, 0.26, 0.24]), 10_000.0);
    }
}
