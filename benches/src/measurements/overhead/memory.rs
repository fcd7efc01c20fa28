//! What tasks cost in memory, and what allocates.

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::polls::SpawnAndJoin;
use super::section::Section;
use super::wakes::FanOut;
use crate::allocations::Allocations;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::numbers::grouped;
use crate::workload::shape::Shape;

/// The size of a parked task's future.
const FUTURE: usize = 64;

/// Bytes per parked task beyond its future, as asked of the allocator, and allocations per spawn. It comes out the same each
/// time.
pub(super) fn parked(options: &Options) -> Measure {
    let topic = Topic::new(
        Section::Memory,
        &[
            ("bytes_per_task", "Parked tasks: bytes per task beyond its future"),
            ("allocations_per_spawn", "Parked tasks: allocations per spawn"),
        ],
    );
    let tasks = if options.common.quick { 1_000 } else { 1_000_000 };
    let columns = [(format!("{} tasks", grouped(tasks as u64)), None)];
    Measure::of_executors(&topic, options.arms(), columns, move |_, arm| arm.run(&Park(tasks))).with_rounds(2)
}

struct Park(usize);

impl Job for Park {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let mut handles = Vec::with_capacity(self.0);
        let found = runner.block_on(async {
            let before = Allocations::so_far();
            handles.extend((0..self.0).map(|task| runner.spawn(task, Sleeper::new())));
            one_turn().await;
            let found = Allocations::since(before);
            // Here, as some handles must not be dropped outside their executor.
            handles.clear();
            found
        });
        let tasks = self.0 as f64;
        vec![found.live as f64 / tasks - FUTURE as f64, found.count as f64 / tasks]
    }
}

/// Is never ready, and as large as a small future is.
struct Sleeper {
    pending: Pending<()>,
    _state: [u8; FUTURE],
}

impl Sleeper {
    fn new() -> Self {
        Sleeper { pending: pending(), _state: [0; FUTURE] }
    }
}

impl Future for Sleeper {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.pending).poll(cx)
    }
}

/// Allocations per poll and per wake, which there should be none of.
pub(super) fn steady(options: &Options) -> Measure {
    let topic = Topic::new(Section::Memory, &[("allocations", "Allocations")]);
    let columns = [("per poll", None), ("per wake", Some(Need::Wakers))];
    let (yields, rounds) = if options.common.quick { (5, 5) } else { (100, 100) };
    let sample =
        move |column, arm| vec![if column == 0 { per_poll(arm, yields) } else { per_wake(arm, rounds) }];
    Measure::of_executors(&topic, options.arms(), columns, sample).with_rounds(5)
}

/// Tasks that yield, and that wait for a wake.
const STEADY_TASKS: usize = 1_000;

fn per_poll(arm: Arm, yields: u32) -> f64 {
    let run = |yields| count(|| arm.run(&SpawnAndJoin(Shape::new(STEADY_TASKS, yields))));
    (run(yields) - run(1)) / (STEADY_TASKS as f64 * f64::from(yields - 1))
}

fn per_wake(arm: Arm, rounds: usize) -> f64 {
    let run = |rounds| count(|| arm.run(&FanOut { waiters: STEADY_TASKS, rounds }));
    (run(rounds) - run(2)) / (STEADY_TASKS * (rounds - 2)) as f64
}

fn count(run: impl FnOnce() -> Vec<f64>) -> f64 {
    let before = Allocations::so_far();
    run();
    Allocations::since(before).count as f64
}
