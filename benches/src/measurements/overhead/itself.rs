//! What queues, groups and sets of tasks cost: clockworker only, beside itself with one queue or group, or without a set.

use std::iter;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, Serpt};
use clockworker::{DEFAULT_REQUEST, Executor, JoinHandle, JoinSet, spawn_local};

use super::measure::{Measure, Quantities, ROUNDS};
use super::options::{Options, Section};
use super::tasks::{SpawnAndJoin, nanos_per_poll, spawn_and_join};
use crate::arms::runner::{Hosted, Job, Runner};
use crate::arms::{ManyGroups, ManyQueues, OneQueue, executor_under};
use crate::harness::Rounds;
use crate::numbers::grouped;
use crate::random::{Purpose, Random, Zipf};
use crate::stopwatch::Stopwatch;
use crate::workload::relay::Relay;
use crate::workload::self_waking::SelfWaking;
use crate::workload::shape::Shape;

const QUEUES: [usize; 6] = [1, 2, 8, 64, 256, 1_024];

const TASKS: usize = 1_024;

/// A request so small that a turn ends after one poll, though others of the queue are runnable.
const ONE_POLL: Duration = Duration::from_nanos(1);

/// What the queues' tasks do, with so many polls of each, and the nanoseconds that it takes.
type Load = fn(&Hosted<ManyQueues>, u32) -> f64;

const LOADS: [(&str, Load); 3] =
    [("all runnable", all_runnable), ("one runnable", one_runnable), ("churning", churning)];

/// The loads under which there is something to pick, with the request at which every turn is one poll.
const PICKING: [(&str, Load, Duration); 2] =
    [("all runnable", all_runnable, ONE_POLL), ("churning", churning, DEFAULT_REQUEST)];

fn all_runnable(host: &Hosted<ManyQueues>, yields: u32) -> f64 {
    spawn_and_join(host, 0..TASKS, || SelfWaking::new(yields))
}

/// The same number of tasks, all in the first queue.
fn one_runnable(host: &Hosted<ManyQueues>, yields: u32) -> f64 {
    spawn_and_join(host, iter::repeat_n(0, TASKS), || SelfWaking::new(yields))
}

/// A token goes through all queues: one task is runnable, and wakes that of the next queue.
fn churning(host: &Hosted<ManyQueues>, yields: u32) -> f64 {
    host.block_on(async {
        let relay = Relay::new(TASKS, polls_of_all(yields));
        for task in 0..TASKS {
            host.spawn_detached(task, relay.runner());
        }
        relay.ready().await;
        let watch = Stopwatch::start();
        relay.run().await;
        watch.nanos()
    })
}

fn polls_of_all(yields: u32) -> u64 {
    TASKS as u64 * u64::from(yields)
}

fn yields(options: &Options) -> u32 {
    if options.common.quick { 2 } else { 300 }
}

fn queues() -> impl Iterator<Item = (String, String)> + Clone {
    let title = |queues| format!("{} queue{}", grouped(queues as u64), if queues == 1 { "" } else { "s" });
    QUEUES.into_iter().map(move |queues| (queues.to_string(), title(queues)))
}

pub(super) fn polls(options: &Options) -> Measure {
    let quantity = &[("ns_per_poll", "Queues at the default request: ns per poll")];
    let (rows, yields) = (LOADS.map(|(title, _)| title), yields(options));
    Measure::of_itself(Section::Queues, quantity, rows, queues(), move |row, column| {
        let (time, _) = run(LOADS[row].1, QUEUES[column], DEFAULT_REQUEST, yields);
        vec![time / polls_of_all(yields) as f64]
    })
}

/// Nanoseconds per turn, where every turn is one poll, beyond what the polls cost in one queue.
///
/// This is the choice of a queue with all that belongs to a turn: beginning and ending it, its clock readings, and the way
/// to another queue's memory.
pub(super) fn picks(options: &Options) -> Measure {
    let quantity =
        &[("ns_per_pick", "Queues, turns of one poll: ns per pick (a turn, less its poll in one queue)")];
    let (rows, yields) = (PICKING.map(|(title, ..)| title), yields(options));
    Measure::of_itself(Section::Queues, quantity, rows, queues(), move |row, column| {
        let (_, load, request) = PICKING[row];
        let (time, turns) = run(load, QUEUES[column], request, yields);
        let (alone, _) = run(load, 1, DEFAULT_REQUEST, yields);
        // Where one queue runs alone it goes on with its turn, and there is nothing to pick.
        let picked = turns > polls_of_all(yields) as f64 / 2.0;
        vec![if picked { (time - alone) / turns } else { f64::NAN }]
    })
}

fn run(load: Load, queues: usize, request: Duration, yields: u32) -> (f64, f64) {
    let host = Hosted::new(ManyQueues::new(queues, request));
    let time = load(&host, yields);
    (time, host.contender().turns() as f64)
}

/// The key of the bar's column: in a set.
pub(super) const IN_A_SET: &str = "join_set";
/// The key of the bar's table.
pub(super) const TASK_OF_A_SET: &str = "ns_per_task_of_a_set";

/// How many tasks there are at a time.
const AT_ONCE: [usize; 3] = [100, 10_000, 100_000];
const TASKS_OF_SETS: usize = 100_000;

/// A task's beginning and end, by its handle and in a set: all are spawned, then all are awaited.
pub(super) fn sets(options: &Options) -> Measure {
    let quantity = &[(TASK_OF_A_SET, "A task by its handle, and in a JoinSet: ns per task")];
    let rows = AT_ONCE.map(|tasks| format!("{} at once", grouped(tasks as u64)));
    let columns = [("join_handle", "join handles"), (IN_A_SET, "JoinSet")]
        .map(|(key, title)| (key.into(), title.into()));
    let quick = options.common.quick;
    Measure::of_itself(Section::Spawn, quantity, rows, columns.into_iter(), move |row, column| {
        let at_once = if quick { 100 } else { AT_ONCE[row] };
        let times = if quick { 1 } else { TASKS_OF_SETS / at_once };
        let time = if column == 0 { by_handles(at_once, times) } else { in_a_set(at_once, times) };
        vec![time / (at_once * times) as f64]
    })
}

fn by_handles(tasks: usize, times: usize) -> f64 {
    let host = Hosted::new(OneQueue::as_it_comes());
    host.block_on(async {
        let mut handles: Vec<JoinHandle<()>> = Vec::new();
        let watch = Stopwatch::start();
        for _ in 0..times {
            handles.extend((0..tasks).map(|_| spawn_local(async {})));
            for handle in handles.drain(..) {
                handle.await.expect("no task fails");
            }
        }
        watch.nanos()
    })
}

fn in_a_set(tasks: usize, times: usize) -> f64 {
    let host = Hosted::new(OneQueue::as_it_comes());
    host.block_on(async {
        let mut set: JoinSet<()> = JoinSet::new();
        let watch = Stopwatch::start();
        for _ in 0..times {
            (0..tasks).for_each(|_| drop(set.spawn_local(async {})));
            while let Some(joined) = set.join_next().await {
                joined.expect("no task fails");
            }
        }
        watch.nanos()
    })
}

type Build = fn() -> Executor;

const POLICIES: [(&str, Build); 4] = [
    ("WokenFirst", Executor::new),
    ("QLAS", executor_under::<Qlas>),
    ("LAS", executor_under::<Las>),
    ("SERPT", executor_under::<Serpt>),
];

/// The key of the bars' table: few enough tasks for the second-level cache, so that more groups are nothing but that.
pub(super) const FEW_TASKS: &str = "ns_per_poll";

/// What is measured of so many tasks, dealt out to so many groups. There are as many tasks however many groups there are.
/// 100,000 tasks are so many that memory counts, as with groups they are polled in an order that is not that of their memory.
const GROUPS: [(Quantities, Shape, &[usize]); 2] = [
    (
        &[(FEW_TASKS, "Groups, 10,000 tasks in all: ns per poll")],
        Shape::new(10_000, 100),
        &[1, 10, 100, 1_000, 10_000],
    ),
    (
        &[("ns_per_poll_many_tasks", "Groups, 100,000 tasks in all: ns per poll")],
        Shape::new(100_000, 10),
        &[1, 1_000, 10_000, 100_000],
    ),
];

pub(super) fn groups(options: &Options) -> [Measure; 2] {
    GROUPS.map(|(quantity, shape, numbers)| {
        let shape = if options.common.quick { Shape::new(1_000, 2) } else { shape };
        let rows = POLICIES
            .iter()
            .flat_map(|(policy, _)| ["uniform", "Zipf"].map(|dealt| format!("{policy}, {dealt}")));
        let columns = numbers.iter().map(|&groups| (groups.to_string(), grouped(groups as u64)));
        let keys: Vec<_> = numbers.iter().map(|&groups| dealt(shape, groups, options.common.seed)).collect();
        let sample = move |row: usize, column: usize| {
            let ((_, build), keys) = (POLICIES[row / 2], &keys[column][row % 2]);
            let run = |shape| {
                let contender = ManyGroups::of(build(), keys.clone());
                SpawnAndJoin(shape).run(Hosted::new(contender))[0]
            };
            vec![nanos_per_poll(shape, run)]
        };
        let rounds = Rounds { usual: 15, ..ROUNDS };
        Measure::of_itself(Section::Groups, quantity, rows, columns, sample).with(rounds)
    })
}

/// Each task's group, in turn or by Zipf's law.
fn dealt(shape: Shape, groups: usize, seed: u64) -> [Vec<u64>; 2] {
    let (zipf, mut random) = (Zipf::new(groups), Random::new(seed, Purpose::Groups, groups as u64));
    let uniform = (0..shape.tasks).map(|task| (task % groups) as u64);
    [uniform.collect(), (0..shape.tasks).map(|_| zipf.draw(&mut random)).collect()]
}
