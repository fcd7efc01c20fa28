//! What a task's polls cost, and its beginning and end.
//!
//! Tasks are polled in the order in which their memory was laid out, which is what processors foresee best: at 100,000
//! tasks, tasks that have come and gone for a while cost more than this, on every arm.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::JoinSet;
use tokio::sync::oneshot;

use super::{NS, able, sampled, timed};
use crate::arms::Arm;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::harness::numbers::grouped;
use crate::harness::{Sample, Sampling};
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

/// Tasks and their yields, for a poll's cost.
const POLLS: [(usize, u32); 3] = [(1, 1_000_000), (1_000, 1_000), (100_000, 10)];
const QUICK_POLLS: [(usize, u32); 3] = [(1, 20_000), (100, 200), (200, 100)];

pub(super) fn experiments(arms: &[Arm], quick: bool) -> Vec<Sampling> {
    let mut experiments = spawns(arms, quick);
    let shapes = if quick { QUICK_POLLS } else { POLLS };
    experiments.extend(shapes.map(|(tasks, yields)| {
        let title = format!("{} tasks", grouped(tasks as u64)).replace("1 tasks", "1 task");
        sampled("poll", title, arms.to_vec(), move |arm| {
            Sample::default().number(NS, nanos_per_poll(arm, tasks, yields))
        })
    }));
    let (tasks, yields) = shapes[1];
    let number = tasks * yields as usize;
    let yielding = move |arm: Arm| arm.run(&TokioYields { tasks, yields });
    experiments.push(timed("poll", "tokio's yield_now", able(arms, Arm::is_in_tokio), number, yielding));
    experiments
}

fn spawns(arms: &[Arm], quick: bool) -> Vec<Sampling> {
    let (tasks, fewer) = if quick { (500, 200) } else { (100_000, 50_000) };
    let of_all = |title: &str, number, take: Box<dyn Fn(Arm) -> Duration>| {
        timed("spawn", title, arms.to_vec(), number, take)
    };
    vec![
        of_all("spawn, join", tasks, Box::new(move |arm| arm.run(&SpawnAndJoin { tasks, yields: 0 }))),
        of_all(
            "spawn, 5 yields, join",
            fewer,
            Box::new(move |arm| arm.run(&SpawnAndJoin { tasks: fewer, yields: 5 })),
        ),
        of_all("spawn, detach", tasks, Box::new(move |arm| arm.run(&SpawnAndDetach(tasks)))),
        timed("spawn", "abort", able(arms, Arm::aborts), tasks, move |arm| arm.run(&Abort(tasks))),
        timed("spawn", "in a JoinSet", able(arms, has_join_set), tasks, move |arm| in_a_join_set(arm, tasks)),
    ]
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

/// From before the first spawn until the last future has been dropped.
struct SpawnAndDetach(usize);

impl Job for SpawnAndDetach {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let watch = Stopwatch::start();
        runner.block_on(detached(&runner, self.0, || async {}));
        watch.elapsed()
    }
}

/// Spawns detached tasks; is ready when the last of them has been dropped.
pub(super) async fn detached<R: Runner, F>(runner: &R, tasks: usize, make: impl Fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    let (held, dropped) = held();
    for task in 0..tasks {
        let (held, future) = (held.clone(), make());
        runner.spawn_detached(task, async move {
            future.await;
            drop(held);
        });
    }
    drop(held);
    let _ = dropped.await;
}

/// From the first abort of tasks that have been polled once until the last future has been dropped.
struct Abort(usize);

impl Job for Abort {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let ((unpolled, all_polled), (held, all_dropped)) = (held(), held());
        runner.block_on(async {
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
            watch.elapsed()
        })
    }
}

type Held = Rc<oneshot::Sender<()>>;

/// What tasks hold, and what is ready when the last of them has dropped it.
fn held() -> (Held, oneshot::Receiver<()>) {
    let (held, dropped) = oneshot::channel();
    (Rc::new(held), dropped)
}

fn has_join_set(arm: Arm) -> bool {
    arm == Arm::LocalSet || arm.is_clockworker()
}

/// Spawns tasks into the executor's own `JoinSet`, and joins them.
fn in_a_join_set(arm: Arm, tasks: usize) -> Duration {
    if arm == Arm::LocalSet { arm.run(&TokioSet(tasks)) } else { arm.run(&ClockworkerSet(tasks)) }
}

struct ClockworkerSet(usize);

impl Job for ClockworkerSet {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let watch = Stopwatch::start();
        runner.block_on(async {
            let mut set = JoinSet::new();
            (0..self.0).for_each(|_| drop(set.spawn_local(async {})));
            while let Some(joined) = set.join_next().await {
                joined.expect("no task fails");
            }
        });
        watch.elapsed()
    }
}

struct TokioSet(usize);

impl Job for TokioSet {
    type Found = Duration;

    fn run<R: Runner>(&self, runner: R) -> Duration {
        let watch = Stopwatch::start();
        runner.block_on(async {
            let mut set = tokio::task::JoinSet::new();
            (0..self.0).for_each(|_| drop(set.spawn_local(async {})));
            while let Some(joined) = set.join_next().await {
                joined.expect("no task fails");
            }
        });
        watch.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each job ends when the last task has.
    #[test]
    fn every_arm_runs_every_task_to_its_end() {
        for arm in Arm::all() {
            for _ in 0..2 {
                let took = |time: Duration| assert!(time > Duration::ZERO, "{}", arm.title());
                took(arm.run(&SpawnAndJoin { tasks: 100, yields: 3 }));
                took(arm.run(&SpawnAndDetach(100)));
                if arm.aborts() {
                    took(arm.run(&Abort(100)));
                }
                if has_join_set(arm) {
                    took(in_a_join_set(arm, 100));
                }
            }
        }
    }
}
