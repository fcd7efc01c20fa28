//! What groups cost: clockworker only, beside itself with one group.

use clockworker::Executor;
use clockworker::schedulers::{Las, Qlas, Scheduler, Serpt};

use super::measure::{Measure, Topic};
use super::options::Options;
use super::polls::{SpawnAndJoin, nanos_per_poll};
use super::section::Section;
use crate::arms::ManyGroups;
use crate::arms::runner::{Hosted, Job};
use crate::numbers::grouped;
use crate::random::{Purpose, Random, Zipf};
use crate::workload::shape::Shape;

/// The key of the bars' table: few enough tasks for the second-level cache, so that more groups are nothing but that.
pub const FEW_TASKS: &str = "ns_per_poll";

/// So many tasks that memory counts: with groups they are polled in an order that is not that of their memory.
const MANY_TASKS: &str = "ns_per_poll_many_tasks";

type Build = fn() -> Executor;

/// The policies, by title.
const POLICIES: [(&str, Build); 4] = [
    ("WokenFirst", Executor::new),
    ("QLAS", || with(Qlas::new())),
    ("LAS", || with(Las::new())),
    ("SERPT", || with(Serpt::new())),
];

fn with(scheduler: impl Scheduler + 'static) -> Executor {
    Executor::builder().scheduler(scheduler).build().expect("the defaults are valid")
}

/// 10,000 tasks in up to 10,000 groups, or few of both.
pub(super) fn few_tasks(options: &Options) -> Measure {
    let shape = if options.common.quick { Shape::new(1_000, 2) } else { Shape::new(10_000, 100) };
    let quantity = (FEW_TASKS, "Groups, 10,000 tasks in all: ns per poll");
    measure(options, quantity, shape, &[1, 10, 100, 1_000, 10_000])
}

/// 100,000 tasks in up to 100,000 groups, or few of both.
pub(super) fn many_tasks(options: &Options) -> Measure {
    let shape = if options.common.quick { Shape::new(1_000, 2) } else { Shape::new(100_000, 10) };
    let quantity = (MANY_TASKS, "Groups, 100,000 tasks in all: ns per poll");
    measure(options, quantity, shape, &[1, 1_000, 10_000, 100_000])
}

/// Self-waking polls of tasks in so many groups. There are as many tasks however many groups there are.
fn measure(options: &Options, quantity: (&str, &str), shape: Shape, numbers: &[usize]) -> Measure {
    let rows =
        POLICIES.iter().flat_map(|(policy, _)| ["uniform", "Zipf"].map(|dealt| format!("{policy}, {dealt}")));
    let columns = numbers.iter().map(|&groups| (groups.to_string(), grouped(groups as u64)));
    // By number of groups and distribution, each task's group.
    let keys: Vec<[Vec<u64>; 2]> = numbers
        .iter()
        .map(|&groups| [uniform(shape.tasks, groups), zipf(shape.tasks, groups, options.common.seed)])
        .collect();
    Measure::of_itself(&Topic::new(Section::Groups, &[quantity]), rows, columns, move |row, column| {
        let ((_, build), keys) = (POLICIES[row / 2], &keys[column][row % 2]);
        let run = |shape| {
            let contender = ManyGroups::new(build(), keys.clone());
            SpawnAndJoin(shape).run(Hosted::new(contender))[0]
        };
        vec![nanos_per_poll(shape, run)]
    })
    .with_rounds(15)
}

fn uniform(tasks: usize, groups: usize) -> Vec<u64> {
    (0..tasks).map(|task| (task % groups) as u64).collect()
}

fn zipf(tasks: usize, groups: usize, seed: u64) -> Vec<u64> {
    let (zipf, mut random) = (Zipf::new(groups), Random::new(seed, Purpose::Groups, groups as u64));
    (0..tasks).map(|_| zipf.draw(&mut random)).collect()
}
