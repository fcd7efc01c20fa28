//! What a task's polls cost, its beginning and end, and its memory while it waits.
//!
//! Tasks are polled in the order in which their memory was laid out, which is what processors foresee best: at 100,000
//! tasks, tasks that have come and gone for a while cost more than this, on every arm.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;
use std::time::Duration;

use super::{BYTES, NS, every, sampled, timed};
use crate::arms::{Arm, Job, Runner};
use crate::harness::numbers::grouped;
use crate::harness::{Experiment, Processes, Sample};
use crate::process::resident_bytes;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

/// Tasks and their yields, for a poll's cost.
const POLLS: [(usize, u32); 3] = [(1, 1_000_000), (1_000, 1_000), (100_000, 10)];
const QUICK_POLLS: [(usize, u32); 3] = [(1, 20_000), (100, 200), (200, 100)];

pub(super) fn experiments(quick: bool) -> Vec<Experiment> {
    let (tasks, fewer) = if quick { (500, 200) } else { (100_000, 50_000) };
    let spawns = [("spawn, join", tasks, 0), ("spawn, 5 yields, join", fewer, 5)];
    let mut experiments: Vec<Experiment> = spawns
        .map(|(title, tasks, yields)| {
            timed("spawn", title, every, tasks, move |arm| arm.run(&SpawnAndJoin { tasks, yields }))
        })
        .into();
    let shapes = if quick { QUICK_POLLS } else { POLLS };
    experiments.extend(shapes.map(|(tasks, yields)| {
        let title = format!("{} tasks", grouped(tasks as u64)).replace("1 tasks", "1 task");
        let take = move |arm| Sample::default().number(NS, nanos_per_poll(arm, tasks, yields));
        sampled("poll", title, every, take)
    }));
    let (tasks, yields) = shapes[1];
    let number = tasks * yields as usize;
    let yielding = move |arm: Arm| arm.run(&TokioYields { tasks, yields });
    experiments.push(timed("poll", "tokio's yield_now", Arm::is_in_tokio, number, yielding));
    experiments
}

/// From before the first spawn until the last task has been awaited.
#[derive(Clone, Copy, Debug)]
pub struct SpawnAndJoin {
    pub tasks: usize,
    /// How often each task wakes itself and is polled again.
    pub yields: u32,
}

impl Job for SpawnAndJoin {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        spawn_and_join(&runner, self.tasks, || SelfWaking::new(self.yields))
    }
}

fn spawn_and_join<R: Runner, F>(runner: &R, tasks: usize, make: impl Fn() -> F) -> Duration
where
    F: Future<Output = ()> + 'static,
{
    let mut handles = Vec::with_capacity(tasks);
    let watch = Stopwatch::start();
    runner.block_on(async {
        handles.extend((0..tasks).map(|task| runner.spawn(task, make())));
        for handle in handles.drain(..) {
            handle.await;
        }
    });
    watch.elapsed()
}

/// The time of tasks with yields less that of tasks without, for each yield: spawning, joining and freeing them cost the same
/// in both. NaN if noise is larger than that.
fn nanos_per_poll(arm: Arm, tasks: usize, yields: u32) -> f64 {
    let with = arm.run(&SpawnAndJoin { tasks, yields });
    let polls = with.checked_sub(arm.run(&SpawnAndJoin { tasks, yields: 0 }));
    polls.map_or(f64::NAN, |polls| polls.as_nanos() as f64 / (tasks as f64 * f64::from(yields)))
}

/// tokio's own `yield_now`, which keeps the waker back until tokio has looked at its drivers.
struct TokioYields {
    tasks: usize,
    yields: u32,
}

impl Job for TokioYields {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let yields = self.yields;
        let make = || async move {
            for _ in 0..yields {
                tokio::task::yield_now().await;
            }
        };
        spawn_and_join(&runner, self.tasks, make)
    }
}

/// The state of a future that waits, in bytes.
const STATE: usize = 64;

/// Enough for an interval: memory is nearly the same each time.
const MEMORY_ROUNDS: u32 = 6;

/// Each sample has a process of its own, as memory that one executor has freed would be the next one's.
pub(super) fn memory(quick: bool) -> Experiment {
    let tasks = if quick { 5_000 } else { 500_000 };
    let title = format!("parked, beyond its future ({} tasks)", grouped(tasks as u64));
    let take = move |arm: Arm| Sample::default().number(BYTES, arm.run(&Parked(tasks)));
    sampled("memory", title, every, take).rounds(MEMORY_ROUNDS).processes(Processes::ForASample)
}

/// Tasks that wait for ever: bytes for each, less its future's.
struct Parked(usize);

impl Job for Parked {
    type Found = f64;

    fn run<R: Runner>(&self, runner: R) -> f64 {
        let before = resident_bytes();
        let after = runner.block_on(async {
            (0..self.0).for_each(|task| runner.spawn_detached(task, sleeper()));
            SelfWaking::new(1).await;
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
