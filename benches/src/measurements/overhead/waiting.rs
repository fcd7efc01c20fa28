//! What tasks take while they wait: memory, allocations, and an idle second.

use std::future::{pending, poll_fn};
use std::hint::black_box;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use futures::channel::oneshot;

use super::arm::{Arm, NO_REMOTE_WAKES, NO_WAKERS};
use super::measure::{Column, Measure, ROUNDS};
use super::options::{Options, Section};
use super::tasks::SpawnAndJoin;
use super::wakes::FanOut;
use crate::allocations::Allocations;
use crate::arms::joined::one_turn;
use crate::arms::runner::{Job, Runner};
use crate::harness::{Pinning, Rounds, Side};
use crate::numbers::grouped;
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::shape::Shape;
use crate::workload::spin;

/// Bytes per parked task beyond its future, as asked of the allocator, and allocations per spawn: the same each time. Tables that
/// double are nearly full at 1,000,000 tasks, and half full at 525,000.
pub(super) fn parked(options: &Options) -> Measure {
    let quantities = &[
        ("bytes_per_task", "Parked tasks: bytes per task beyond its future"),
        ("allocations_per_spawn", "Parked tasks: allocations per spawn"),
    ];
    let tasks = |usual: usize| if options.common.quick { usual / 1_000 } else { usual };
    let title = |tasks: usize| format!("{} tasks", grouped(tasks as u64));
    let [nearly_full, half_full, few] = [1_000_000, 525_000, 100_000].map(tasks);
    let columns = [
        Column::of(title(nearly_full), Park::<64>(nearly_full)),
        Column::of(title(half_full), Park::<64>(half_full)),
        Column::of(format!("{} with futures of 1 KiB", title(few)), Park::<1_024>(few)),
    ];
    Measure::of_executors(Section::Memory, quantities, options, columns).with(Rounds { usual: 2, ..ROUNDS })
}

/// So many tasks whose futures have a state of so many bytes.
struct Park<const STATE: usize>(usize);

impl<const STATE: usize> Job for Park<STATE> {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let mut handles = Vec::with_capacity(self.0);
        let found = runner.block_on(async {
            let before = Allocations::so_far();
            handles.extend((0..self.0).map(|task| runner.spawn(task, sleeper::<STATE>())));
            one_turn().await;
            let found = Allocations::since(before);
            // Here, as some handles must not be dropped outside their executor.
            handles.clear();
            found
        });
        let (tasks, future) = (self.0 as f64, size_of_val(&sleeper::<STATE>()));
        vec![found.live as f64 / tasks - future as f64, found.count as f64 / tasks]
    }
}

/// Is never ready.
fn sleeper<const STATE: usize>() -> impl Future<Output = ()> + 'static {
    let state = [0_u8; STATE];
    poll_fn(move |_cx| {
        black_box(&state);
        Poll::Pending
    })
}

pub(super) fn steady(options: &Options) -> Measure {
    let (yields, rounds) = if options.common.quick { (5, 5) } else { (100, 100) };
    let columns = [
        Column::new("per poll", move |arm| vec![per_poll(arm, yields)]),
        Column::new("per wake", move |arm| vec![per_wake(arm, rounds)]).without(NO_WAKERS),
    ];
    let quantity = &[("allocations", "Allocations")];
    Measure::of_executors(Section::Memory, quantity, options, columns).with(Rounds { usual: 5, ..ROUNDS })
}

const STEADY_TASKS: usize = 1_000;

fn per_poll(arm: Arm, yields: u32) -> f64 {
    let run = |yields| count(|| arm.run(&SpawnAndJoin(Shape::new(STEADY_TASKS, yields))));
    // WokenFirst keeps tasks in another list from their second yield on: with two, both lists have grown.
    (run(yields) - run(2)) / (STEADY_TASKS as f64 * f64::from(yields - 2))
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

const TASKS: usize = 1_000;

const REST: Duration = Duration::from_millis(20);

pub(super) fn idle(options: &Options, pinning: &Pinning) -> Measure {
    let quantities = &[
        ("host_polls", "An idle second: host polls"),
        ("cpu_us", "An idle second: CPU time in µs (with the wake that ends it)"),
    ];
    let length = Duration::from_millis(if options.common.quick { 20 } else { 1_000 });
    let column = Column::of("1,000 parked tasks", Second { length, pinning: pinning.clone() });
    Measure::of_executors(Section::Idle, quantities, options, [column.without(NO_REMOTE_WAKES)])
        .with(Rounds { usual: 3, ..ROUNDS })
}

struct Second {
    length: Duration,
    pinning: Pinning,
}

impl Job for Second {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (length, polls) = (self.length, runner.host_polls());
        // Counts the host's polls between the beginning and the end of the second, with the executor at rest.
        let watcher = self.pinning.thread(Side::Load, move || {
            let count = || polls.as_ref().map_or(f64::NAN, |polls| polls.load(Ordering::Relaxed) as f64);
            wait_until(now() + REST, Wait::Sleep);
            let _ = begin.send(());
            wait_until(now() + REST, Wait::Sleep);
            let before = count();
            wait_until(now() + length, Wait::Sleep);
            let polls = count() - before;
            let _ = end.send(());
            polls
        });
        let cpu_us = runner.block_on(async {
            (0..TASKS).for_each(|task| runner.spawn_detached(task, pending()));
            let _ = begun.await;
            let before = spin::cpu_time();
            let _ = ended.await;
            (spin::cpu_time() - before).as_secs_f64() * 1e6
        });
        vec![watcher.join().expect("the watcher does not panic"), cpu_us]
    }
}
