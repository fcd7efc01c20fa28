//! What tasks take while they wait, and what is left when they have ended: resident memory.
//!
//! Each sample has a process of its own, as memory that one executor has freed would be the next one's.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;

use super::sampled;
use super::tasks::detached;
use crate::arms::Arm;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::harness::numbers::grouped;
use crate::harness::{Processes, Sample, Sampling};
use crate::process::resident_bytes;
use crate::workload::self_waking::SelfWaking;

pub(super) const BYTES: &str = "bytes";

/// The state of a future, in bytes.
const STATE: usize = 64;

/// Enough for an interval: memory is nearly the same each time.
const ROUNDS: u32 = 6;

pub(super) fn experiments(arms: &[Arm], quick: bool) -> Vec<Sampling> {
    let tasks = if quick { 5_000 } else { 500_000 };
    let number = grouped(tasks as u64);
    let parked =
        sampled("memory", format!("parked, beyond its future ({number} tasks)"), arms.to_vec(), move |arm| {
            Sample::default().number(BYTES, arm.run(&Parked(tasks)))
        });
    let burst =
        sampled("memory", format!("kept after {number} tasks have ended"), arms.to_vec(), move |arm| {
            Sample::default().number(BYTES, arm.run(&Burst(tasks)))
        });
    [parked, burst].map(|experiment| experiment.rounds(ROUNDS).processes(Processes::ForASample)).into()
}

/// Tasks that wait for ever: bytes for each, less its future's.
struct Parked(usize);

impl Job for Parked {
    type Found = f64;

    fn run<R: Runner>(&self, runner: R) -> f64 {
        let before = resident_bytes();
        let after = runner.block_on(async {
            (0..self.0).for_each(|task| runner.spawn_detached(task, sleeper()));
            one_turn().await;
            resident_bytes()
        });
        (after - before) / self.0 as f64 - size_of_val(&sleeper()) as f64
    }
}

/// Is never ready.
fn sleeper() -> impl Future<Output = ()> + 'static {
    let state = [1_u8; STATE];
    poll_fn(move |_cx| {
        black_box(&state);
        Poll::Pending
    })
}

/// Tasks that are there at the same time and then end: bytes that are still there, for each.
struct Burst(usize);

impl Job for Burst {
    type Found = f64;

    fn run<R: Runner>(&self, runner: R) -> f64 {
        let before = resident_bytes();
        let after = runner.block_on(async {
            detached(&runner, self.0, || SelfWaking::new(1)).await;
            one_turn().await;
            resident_bytes()
        });
        (after - before).max(0.0) / self.0 as f64
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_parked_task_takes_memory() {
        assert!(Arm::LocalSet.run(&Parked(100_000)) > 16.0);
    }
}
