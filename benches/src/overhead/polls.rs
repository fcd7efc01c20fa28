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
use super::measure::{Measure, Quantity, Row, rows_of};
use crate::arms::runner::{Job, Runner};
use crate::compare::overhead::Shape;
use crate::numbers::grouped;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

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

/// Self-waking polls at 1 to 1,000,000 tasks.
#[derive(Debug)]
pub struct Polls {
    arms: Vec<Arm>,
    shapes: [Shape; 5],
}

impl Polls {
    /// On these arms.
    pub fn new(arms: Vec<Arm>, quick: bool) -> Self {
        Polls { arms, shapes: if quick { QUICK_SHAPES } else { SHAPES } }
    }
}

impl Measure for Polls {
    fn quantities(&self) -> Vec<Quantity> {
        vec![Quantity { key: "ns_per_poll", title: "Self-waking polls: ns per poll" }]
    }

    fn shapes(&self) -> Vec<String> {
        self.shapes.iter().map(Shape::to_string).collect()
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    /// A round of a million tasks takes ten seconds.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(240)
    }

    fn sample(&self, shape: usize, row: usize) -> Vec<f64> {
        let (shape, arm) = (self.shapes[shape], self.arms[row]);
        vec![nanos_per_poll(shape, |shape| arm.run(&SpawnAndJoin(shape))[0])]
    }
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

/// A duration in nanoseconds.
pub fn nanos(duration: Duration) -> f64 {
    duration.as_nanos() as f64
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

/// tokio's own `yield_now`, which keeps a waker back until tokio has been to its drivers.
#[derive(Debug)]
pub struct TokioYields {
    arms: Vec<Arm>,
    shape: Shape,
}

impl TokioYields {
    /// On these arms.
    pub fn new(arms: Vec<Arm>, quick: bool) -> Self {
        TokioYields { arms, shape: if quick { Shape::new(100, 5) } else { Shape::new(1_000, 100) } }
    }
}

impl Measure for TokioYields {
    fn quantities(&self) -> Vec<Quantity> {
        vec![Quantity { key: "ns_per_tokio_yield", title: "tokio::task::yield_now: ns per poll" }]
    }

    fn shapes(&self) -> Vec<String> {
        vec![self.shape.to_string()]
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    fn can(&self, _shape: usize, row: usize) -> bool {
        self.arms[row].has(Need::Tokio)
    }

    fn sample(&self, _shape: usize, row: usize) -> Vec<f64> {
        vec![nanos_per_poll(self.shape, |shape| self.arms[row].run(&TokioYielding(shape))[0])]
    }
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

/// A shape's number of tasks, as a column's name.
pub fn tasks_name(tasks: usize) -> String {
    format!("{} tasks", grouped(tasks as u64))
}
