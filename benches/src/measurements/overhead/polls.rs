//! What a poll costs: tasks that do nothing but yield.
//!
//! Per poll is the time of a run with yields less that of a run without, over the polls between: spawning, joining and
//! freeing the tasks cost the same in both.
//!
//! Tasks are polled in the order in which their memory was laid out, which is what processors foresee best: at 100,000
//! tasks and more, tasks that have come and gone for a while cost more than this, on every arm.

use std::future::Future;
use std::time::Duration;

use super::arm::{Arm, Need};
use super::measure::{Measure, Topic};
use super::options::Options;
use super::section::Section;
use crate::arms::runner::{Job, Runner};
use crate::stopwatch::{Stopwatch, nanos};
use crate::workload::self_waking::SelfWaking;
use crate::workload::shape::Shape;

const SHAPES: [Shape; 5] = [
    Shape::new(1, 1_000_000),
    Shape::new(10, 100_000),
    Shape::new(1_000, 1_000),
    Shape::new(100_000, 10),
    Shape::new(1_000_000, 5),
];
const QUICK_SHAPES: [Shape; 5] = [
    Shape::new(1, 1_000),
    Shape::new(10, 100),
    Shape::new(100, 10),
    Shape::new(1_000, 5),
    Shape::new(2_000, 5),
];

/// From here on spawning counts beside polling, and is measured to be taken off.
const SPAWNS_COUNT_FROM: usize = 1_000;

/// Self-waking polls at 1 to 1,000,000 tasks. A round of a million takes ten seconds.
pub(super) fn polls(options: &Options) -> Measure {
    let topic = Topic::new(Section::Polls, &[("ns_per_poll", "Self-waking polls: ns per poll")]);
    let shapes = if options.common.quick { QUICK_SHAPES } else { SHAPES };
    let sample = move |column: usize, arm: Arm| {
        vec![nanos_per_poll(shapes[column], |shape| arm.run(&SpawnAndJoin(shape))[0])]
    };
    let columns = shapes.map(|shape| (shape.to_string(), None));
    Measure::of_executors(&topic, options.arms(), columns, sample).with_limit(Duration::from_secs(240))
}

/// tokio's own `yield_now`, which keeps a waker back until tokio has been to its drivers.
pub(super) fn tokio_yields(options: &Options) -> Measure {
    let title = "tokio::task::yield_now: ns per poll";
    let topic = Topic::new(Section::Polls, &[("ns_per_tokio_yield", title)]);
    let shape = if options.common.quick { Shape::new(100, 5) } else { Shape::new(1_000, 100) };
    let sample = move |_, arm: Arm| vec![nanos_per_poll(shape, |shape| arm.run(&TokioYielding(shape))[0])];
    Measure::of_executors(&topic, options.arms(), [(shape.to_string(), Some(Need::Tokio))], sample)
}

/// The time of `shape` less that without yields, per yield. `run` gives the nanoseconds of a shape.
pub fn nanos_per_poll(shape: Shape, run: impl Fn(Shape) -> f64) -> f64 {
    let Shape { tasks, yields } = shape;
    let all = run(shape);
    let spawns = if tasks < SPAWNS_COUNT_FROM { 0.0 } else { run(Shape::new(tasks, 0)) };
    (all - spawns) / (tasks as f64 * f64::from(yields))
}

/// Spawns the tasks of a shape and joins them, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SpawnAndJoin(pub Shape);

impl Job for SpawnAndJoin {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let SpawnAndJoin(Shape { tasks, yields }) = *self;
        vec![nanos(spawn_and_join(&runner, tasks, || SelfWaking::new(yields)))]
    }
}

/// From before the first spawn until the last task has been awaited.
pub fn spawn_and_join<R: Runner, F>(runner: &R, tasks: usize, make: impl Fn() -> F) -> Duration
where
    F: Future<Output = ()> + 'static,
{
    let mut handles = Vec::with_capacity(tasks);
    let root = async {
        handles.extend((0..tasks).map(|task| runner.spawn(task, make())));
        for handle in handles.drain(..) {
            handle.await;
        }
    };
    let watch = Stopwatch::start();
    runner.block_on(root);
    watch.elapsed()
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
        vec![nanos(spawn_and_join(&runner, tasks, make))]
    }
}
