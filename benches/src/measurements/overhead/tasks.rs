//! What a task's polls cost, and its beginning and end.
//!
//! Per poll is the time of a run with yields less that of a run without, over the polls between: spawning, joining and
//! freeing the tasks cost the same in both.
//!
//! Tasks are polled in the order in which their memory was laid out, which is what processors foresee best: at 100,000
//! tasks and more, tasks that have come and gone for a while cost more than this, on every arm.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::channel::oneshot;

use super::arm::{NO_ABORTS, NOT_ON_TOKIO};
use super::measure::{Column, Measure, ROUNDS};
use super::options::{Options, Section};
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::harness::Rounds;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;
use crate::workload::shape::Shape;

const SHAPES: [(usize, u32); 5] =
    [(1, 1_000_000), (10, 100_000), (1_000, 1_000), (100_000, 10), (1_000_000, 5)];
const QUICK_SHAPES: [(usize, u32); 5] = [(1, 1_000), (10, 100), (100, 10), (1_000, 5), (2_000, 5)];

/// From here on spawning counts beside polling, and is measured to be taken off.
const SPAWNS_COUNT_FROM: usize = 1_000;

pub(super) fn polls(options: &Options) -> Measure {
    let shapes = if options.common.quick { QUICK_SHAPES } else { SHAPES };
    let column = |(tasks, yields)| {
        let shape = Shape::new(tasks, yields);
        Column::new(shape.to_string(), move |arm| {
            vec![nanos_per_poll(shape, |shape| arm.run(&SpawnAndJoin(shape))[0])]
        })
    };
    let quantity = &[("ns_per_poll", "Self-waking polls: ns per poll")];
    Measure::of_executors(Section::Polls, quantity, options, shapes.map(column))
        .with(Rounds { limit: Some(Duration::from_secs(240)), ..ROUNDS })
}

pub(super) fn tokio_yields(options: &Options) -> Measure {
    let shape = if options.common.quick { Shape::new(100, 5) } else { Shape::new(1_000, 100) };
    let column = Column::new(shape.to_string(), move |arm| {
        vec![nanos_per_poll(shape, |shape| arm.run(&TokioYielding(shape))[0])]
    });
    let quantity = &[("ns_per_tokio_yield", "tokio::task::yield_now: ns per poll")];
    Measure::of_executors(Section::Polls, quantity, options, [column.without(NOT_ON_TOKIO)])
}

pub(super) fn spawns(options: &Options) -> Measure {
    let tasks = if options.common.quick { 500 } else { 100_000 };
    let columns = [
        Column::each("spawn and join", SpawnAndJoin(Shape::new(tasks, 0)), tasks),
        Column::each("spawn and detach", Detach(tasks), tasks),
        Column::each("abort", Abort(tasks), tasks).without(NO_ABORTS),
    ];
    let quantity = &[("ns_per_task", "A task's beginning and end: ns per task")];
    Measure::of_executors(Section::Spawn, quantity, options, columns)
}

/// The time of `shape` less that without yields, per yield. `run` gives the nanoseconds of a shape.
pub(super) fn nanos_per_poll(shape: Shape, run: impl Fn(Shape) -> f64) -> f64 {
    let Shape { tasks, yields } = shape;
    let all = run(shape);
    let spawns = if tasks < SPAWNS_COUNT_FROM { 0.0 } else { run(Shape::new(tasks, 0)) };
    (all - spawns) / (tasks as f64 * f64::from(yields))
}

#[derive(Clone, Copy, Debug)]
pub struct SpawnAndJoin(pub Shape);

impl Job for SpawnAndJoin {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let SpawnAndJoin(Shape { tasks, yields }) = *self;
        vec![spawn_and_join(&runner, 0..tasks, || SelfWaking::new(yields))]
    }
}

/// Nanoseconds from before the first spawn until the last task has been awaited: a task in each of `lanes`.
pub(super) fn spawn_and_join<R: Runner, F>(
    runner: &R,
    lanes: impl ExactSizeIterator<Item = usize>,
    make: impl Fn() -> F,
) -> f64
where
    F: Future<Output = ()> + 'static,
{
    let mut handles = Vec::with_capacity(lanes.len());
    let root = async {
        handles.extend(lanes.map(|lane| runner.spawn(lane, make())));
        for handle in handles.drain(..) {
            handle.await;
        }
    };
    let watch = Stopwatch::start();
    runner.block_on(root);
    watch.nanos()
}

struct TokioYielding(Shape);

impl Job for TokioYielding {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let TokioYielding(Shape { tasks, yields }) = *self;
        let make = || async move {
            for _ in 0..yields {
                tokio::task::yield_now().await;
            }
        };
        vec![spawn_and_join(&runner, 0..tasks, make)]
    }
}

struct Detach(usize);

impl Job for Detach {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let (held, dropped) = held();
        let watch = Stopwatch::start();
        runner.block_on(async {
            for task in 0..self.0 {
                let held = held.clone();
                runner.spawn_detached(task, async move { drop(held) });
            }
            drop(held);
            let _ = dropped.await;
        });
        vec![watch.nanos()]
    }
}

/// From the first abort of tasks that have been polled once until the last future has been dropped.
struct Abort(usize);

impl Job for Abort {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let ((unpolled, all_polled), (held, all_dropped)) = (held(), held());
        let nanos = runner.block_on(async {
            let victim = |task| {
                let (mut unpolled, held) = (Some(unpolled.clone()), held.clone());
                let never = poll_fn(move |_cx| {
                    unpolled.take();
                    // Dropped with the future.
                    let _: &Held = &held;
                    Poll::Pending
                });
                runner.spawn(task, never)
            };
            let handles: Vec<_> = (0..self.0).map(victim).collect();
            drop((unpolled, held));
            let _ = all_polled.await;
            one_turn().await;
            let watch = Stopwatch::start();
            handles.into_iter().for_each(R::abort);
            let _ = all_dropped.await;
            watch.nanos()
        });
        vec![nanos]
    }
}

type Held = Rc<oneshot::Sender<()>>;

/// What tasks hold, and what is ready when the last of them has dropped it.
fn held() -> (Held, oneshot::Receiver<()>) {
    let (held, dropped) = oneshot::channel();
    (Rc::new(held), dropped)
}

#[cfg(test)]
mod tests {
    use super::super::arm::Arm;
    use super::*;
    use crate::measurements::Keyed;
    use clap::ValueEnum;

    /// Each job ends when the last task has.
    #[test]
    fn every_arm_runs_every_task_to_its_end() {
        for arm in Arm::value_variants().iter().filter(|arm| arm.is_available()) {
            for _ in 0..2 {
                assert!(arm.run(&SpawnAndJoin(Shape::new(100, 3)))[0] > 0.0, "{}", arm.title());
                assert!(arm.run(&Detach(100))[0] > 0.0, "{}", arm.title());
                let aborts = !NO_ABORTS.contains(&arm.key().as_str());
                assert!(!aborts || arm.run(&Abort(100))[0] > 0.0, "{}", arm.title());
            }
        }
    }
}
