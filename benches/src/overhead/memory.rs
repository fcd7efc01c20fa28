//! What tasks cost in memory, and what allocates.

use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::arm::{Arm, Need};
use super::measure::{Measure, Quantity, Row, rows_of};
use super::polls::{SpawnAndJoin, tasks_name};
use super::wakes::FanOut;
use crate::allocations::Allocations;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::compare::overhead::Shape;

/// The size of a parked task's future.
const FUTURE: usize = 64;

/// Bytes per parked task beyond its future, as asked of the allocator, and allocations per spawn.
#[derive(Debug)]
pub struct Parked {
    arms: Vec<Arm>,
    tasks: usize,
}

impl Parked {
    /// On these arms.
    pub fn new(arms: Vec<Arm>, quick: bool) -> Self {
        Parked { arms, tasks: if quick { 1_000 } else { 1_000_000 } }
    }
}

impl Measure for Parked {
    fn quantities(&self) -> Vec<Quantity> {
        vec![
            Quantity { key: "bytes_per_task", title: "Parked tasks: bytes per task beyond its future" },
            Quantity { key: "allocations_per_spawn", title: "Parked tasks: allocations per spawn" },
        ]
    }

    fn shapes(&self) -> Vec<String> {
        vec![tasks_name(self.tasks)]
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    /// It comes out the same each time.
    fn rounds(&self) -> u32 {
        2
    }

    fn sample(&self, _shape: usize, row: usize) -> Vec<f64> {
        self.arms[row].run(&Park(self.tasks))
    }
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
#[derive(Debug)]
pub struct Steady {
    arms: Vec<Arm>,
    shape: Shape,
    fan_out: FanOut,
}

const PER_WAKE: usize = 1;

impl Steady {
    /// On these arms.
    pub fn new(arms: Vec<Arm>, quick: bool) -> Self {
        let (yields, rounds) = if quick { (5, 5) } else { (100, 100) };
        Steady { arms, shape: Shape::new(1_000, yields), fan_out: FanOut { waiters: 1_000, rounds } }
    }

    fn per_poll(&self, arm: Arm) -> f64 {
        let Shape { tasks, yields } = self.shape;
        let more = count(|| arm.run(&SpawnAndJoin(self.shape)));
        let fewer = count(|| arm.run(&SpawnAndJoin(Shape::new(tasks, 1))));
        (more - fewer) / (tasks as f64 * f64::from(yields - 1))
    }

    fn per_wake(&self, arm: Arm) -> f64 {
        let FanOut { waiters, rounds } = self.fan_out;
        let more = count(|| arm.run(&self.fan_out));
        let fewer = count(|| arm.run(&FanOut { waiters, rounds: 2 }));
        (more - fewer) / (waiters * (rounds - 2)) as f64
    }
}

fn count(run: impl FnOnce() -> Vec<f64>) -> f64 {
    let before = Allocations::so_far();
    run();
    Allocations::since(before).count as f64
}

impl Measure for Steady {
    fn quantities(&self) -> Vec<Quantity> {
        vec![Quantity { key: "allocations", title: "Allocations" }]
    }

    fn shapes(&self) -> Vec<String> {
        ["per poll", "per wake"].map(str::to_owned).to_vec()
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    fn rounds(&self) -> u32 {
        5
    }

    fn can(&self, shape: usize, row: usize) -> bool {
        shape != PER_WAKE || self.arms[row].has(Need::Wakers)
    }

    fn sample(&self, shape: usize, row: usize) -> Vec<f64> {
        let arm = self.arms[row];
        vec![if shape == PER_WAKE { self.per_wake(arm) } else { self.per_poll(arm) }]
    }
}
