//! What groups cost: clockworker only, beside itself with one group.

use clockworker::Executor;
use clockworker::schedulers::{Las, Qlas, Scheduler, Serpt};

use super::measure::{Measure, Quantity, Row, Versus};
use super::polls::{SpawnAndJoin, nanos_per_poll};
use crate::arms::hosted::Hosted;
use crate::arms::many_groups::ManyGroups;
use crate::arms::runner::Job;
use crate::compare::overhead::Shape;
use crate::numbers::grouped;
use crate::random::{Purpose, Random};
use crate::workload::zipf::Zipf;

/// The key of the bars' table: few enough tasks for the second-level cache, so that more groups are nothing but that.
pub const FEW_TASKS: &str = "ns_per_poll";

/// So many tasks that memory counts: with groups they are polled in an order that is not that of their memory.
const MANY_TASKS: &str = "ns_per_poll_many_tasks";

/// How a policy is told apart from another, and made.
struct Policy {
    key: &'static str,
    title: &'static str,
    build: fn() -> Executor,
}

const POLICIES: [Policy; 4] = [
    Policy { key: "woken_first", title: "WokenFirst", build: Executor::new },
    Policy { key: "qlas", title: "QLAS", build: || with(Qlas::new()) },
    Policy { key: "las", title: "LAS", build: || with(Las::new()) },
    Policy { key: "serpt", title: "SERPT", build: || with(Serpt::new()) },
];

fn with(scheduler: impl Scheduler + 'static) -> Executor {
    Executor::builder().scheduler(scheduler).build().expect("the defaults are valid")
}

/// Self-waking polls of tasks in any number of groups. There are as many tasks however many groups there are.
#[derive(Debug)]
pub struct Groups {
    quantity: Quantity,
    shape: Shape,
    /// Numbers of groups, and for each number and distribution each task's group.
    numbers: Vec<usize>,
    keys: Vec<[Vec<u64>; 2]>,
}

impl Groups {
    /// 10,000 tasks in up to 10,000 groups, or few of both.
    pub fn few_tasks(quick: bool, seed: u64) -> Self {
        let shape = if quick { Shape::new(1_000, 2) } else { Shape::new(10_000, 100) };
        let title = "Groups, 10,000 tasks in all: ns per poll";
        Self::new(Quantity { key: FEW_TASKS, title }, shape, &[1, 10, 100, 1_000, 10_000], seed)
    }

    /// 100,000 tasks in up to 100,000 groups, or few of both.
    pub fn many_tasks(quick: bool, seed: u64) -> Self {
        let shape = if quick { Shape::new(1_000, 2) } else { Shape::new(100_000, 10) };
        let title = "Groups, 100,000 tasks in all: ns per poll";
        Self::new(Quantity { key: MANY_TASKS, title }, shape, &[1, 1_000, 10_000, 100_000], seed)
    }

    fn new(quantity: Quantity, shape: Shape, numbers: &[usize], seed: u64) -> Self {
        let keys = |&groups: &usize| [uniform(shape.tasks, groups), zipf(shape.tasks, groups, seed)];
        Groups { quantity, shape, numbers: numbers.to_vec(), keys: numbers.iter().map(keys).collect() }
    }
}

fn uniform(tasks: usize, groups: usize) -> Vec<u64> {
    (0..tasks).map(|task| (task % groups) as u64).collect()
}

fn zipf(tasks: usize, groups: usize, seed: u64) -> Vec<u64> {
    let (zipf, mut random) = (Zipf::new(groups), Random::new(seed, Purpose::Groups, groups as u64));
    (0..tasks).map(|_| zipf.draw(&mut random)).collect()
}

impl Measure for Groups {
    fn quantities(&self) -> Vec<Quantity> {
        vec![self.quantity]
    }

    fn shapes(&self) -> Vec<String> {
        self.numbers.iter().map(|&groups| grouped(groups as u64)).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let row = |policy: &Policy, (key, title)| Row {
            key: format!("{}_{key}", policy.key),
            title: format!("{}, {title}", policy.title),
        };
        let distributions = [("uniform", "uniform"), ("zipf", "Zipf")];
        POLICIES.iter().flat_map(|policy| distributions.map(|names| row(policy, names))).collect()
    }

    fn rounds(&self) -> u32 {
        15
    }

    fn versus(&self) -> Versus {
        Versus::FirstShape
    }

    fn sample(&self, shape: usize, row: usize) -> Vec<f64> {
        let (policy, keys) = (&POLICIES[row / 2], &self.keys[shape][row % 2]);
        let run = |shape| {
            let contender = ManyGroups::new((policy.build)(), keys.clone());
            SpawnAndJoin(shape).run(Hosted::new(contender))[0]
        };
        vec![nanos_per_poll(self.shape, run)]
    }
}
