//! The command `tenants`: what each of several tenants gets of a thread.
//!
//! - `flood`: ten quiet tenants, alone and beside one that floods, under policies and on LocalSet.
//! - `newcomer`: a tenant comes with as many tasks as another that was alone for a second. Both always have work, so that half of
//!   it is due to each, whatever the first had before.
//! - `shares`: queues that always have work, and how far each is from its due.
//!
//! In a round every arm has the same work, and the next round has other work. Work is CPU time, but responses are in real time:
//! with another program on the core they say nothing. A reader must not conclude that a policy which serves quiet tenants is fair:
//! QLAS does so as they ask for little, and lets a newcomer displace who was there before.

mod flood;
mod shares;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::sleep;

use crate::arms::clockworker::Clockworker;
use crate::arms::{Arm, Job, Runner};
use crate::harness::{Comparison, Experiment, Measurement, Options, Sample, Table, Unit};
use crate::workload::self_waking::SelfWaking;
use crate::workload::spin::burn;
use flood::{ALONE, BESIDE, FLOOD_CPU, Flood, P99_BY_ALONE, QUIET};
use shares::SHARE_ERROR;

pub const TENANTS: Measurement = Measurement {
    name: "tenants",
    question: "What does each tenant get, whatever the others do?",
    experiments: |options, _pinning| {
        let mut experiments = vec![flood(options), newcomer(options)];
        experiments.extend(shares::experiments(window(options, 1_000)));
        experiments.into_iter().map(|experiment| experiment.rounds(ROUNDS)).collect()
    },
    tables: |found| found.iter().map(table).collect(),
};

const ROUNDS: u32 = 8;

const ARMS: [Arm; 6] = [Arm::LocalSet, Arm::Clockworker, Arm::Las, Arm::Qlas, Arm::Serpt, Arm::FairGroups];

/// The tenant that floods, or was there first: its lane.
const FIRST: usize = 0;

const FLOOD: &str = "flood";
const NEWCOMER: &str = "newcomer";

/// So many milliseconds of a sample, or in a quick run a few of them.
fn window(options: &Options, millis: u64) -> Duration {
    Duration::from_millis(if options.quick { millis.min(25) } else { millis })
}

fn flood(options: &Options) -> Experiment {
    let (window, drain, seed) = (window(options, 300), window(options, 500), options.seed);
    let title = format!("Ten quiet tenants beside one of {} busy tasks", flood::TASKS);
    Experiment::new(FLOOD, title, ARMS.map(Arm::title), move |sample| {
        let (arm, round) = (ARMS[sample.arm], sample.round.into());
        let run = |floods| run(arm, 1 + QUIET, &Flood { floods, window, drain, seed, part: round });
        Ok(flood::sample(round, run))
    })
}

fn newcomer(options: &Options) -> Experiment {
    let (alone, window) = (window(options, 1_000), window(options, 250));
    let title = format!("One tenant was alone for {} ms, and another comes", alone.as_millis());
    Experiment::new(NEWCOMER, title, ARMS.map(Arm::title), move |sample| {
        Ok(run(ARMS[sample.arm], 2, &Newcomer { alone, window }))
    })
}

/// Does a job on a fresh executor. A lane is a tenant, which is a group.
fn run<J: Job>(arm: Arm, tenants: usize, job: &J) -> J::Found {
    let Some(executor) = arm.executor() else { return arm.run(job) };
    let queue = executor.default_queue();
    let tasks: Vec<_> = (0..tenants).map(|tenant| queue.group(tenant as u64).new_task()).collect();
    job.run(Clockworker::new(executor, tasks))
}

fn table(found: &Comparison) -> Table {
    let (table, nanos) = (Table::new(&found.title), Unit::Nanos);
    let statistic = |key: &str, statistic| format!("{key}.{statistic}");
    match &*found.part {
        FLOOD => table
            .values("alone: p50", found, &statistic(ALONE, "p50"), nanos)
            .values("alone: p99", found, &statistic(ALONE, "p99"), nanos)
            .values("beside: p50", found, &statistic(BESIDE, "p50"), nanos)
            .values("beside: p99", found, &statistic(BESIDE, "p99"), nanos)
            .values("p99 ÷ alone", found, P99_BY_ALONE, Unit::Number)
            .column("p99 beside × LocalSet", found, &statistic(BESIDE, "p99"), nanos)
            .values("flood, of a core", found, FLOOD_CPU, Unit::Number),
        NEWCOMER => table
            .values("what who comes has of the work (a half is due)", found, NEWCOMER, Unit::Number)
            .column("× LocalSet", found, NEWCOMER, Unit::Number),
        _ => table.values("the furthest from its due, % of all service", found, SHARE_ERROR, Unit::Number),
    }
}

/// CPU time of a poll.
const POLL: Duration = Duration::from_micros(20);

/// The tasks of a tenant or of a queue, which always have work, and the polls that they have had.
#[derive(Clone, Default)]
struct Endless(Rc<Cell<u64>>);

impl Endless {
    /// Spawns tasks, which end with their executor. To be called inside [`Runner::block_on`].
    fn spawn(&self, runner: &impl Runner, lane: usize, tasks: usize) {
        for _ in 0..tasks {
            runner.spawn_detached(lane, self.clone().repeat());
        }
    }

    fn polls(&self) -> u64 {
        self.0.get()
    }

    async fn repeat(self) {
        loop {
            burn(POLL);
            self.0.set(self.0.get() + 1);
            SelfWaking::new(1).await;
        }
    }
}

/// One tenant is alone, then another comes with as many tasks.
struct Newcomer {
    alone: Duration,
    window: Duration,
}

/// Tasks of each.
const TASKS: usize = 10;

impl Job for Newcomer {
    type Found = Sample;

    fn run<R: Runner>(&self, runner: R) -> Sample {
        runner.block_on(async {
            let [old, new] = [(); 2].map(|()| Endless::default());
            old.spawn(&runner, FIRST, TASKS);
            sleep(self.alone).await;
            let before = old.polls();
            new.spawn(&runner, FIRST + 1, TASKS);
            sleep(self.window).await;
            let all = new.polls() + old.polls() - before;
            Sample::default().number(NEWCOMER, new.polls() as f64 / all.max(1) as f64)
        })
    }
}
