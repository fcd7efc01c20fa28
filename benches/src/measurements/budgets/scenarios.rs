//! What has a budget: each is a way to get a distribution of times.

use std::rc::Rc;

use clap::ValueEnum;
use clockworker::Executor;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::arms::host;
use crate::harness::Common;
use crate::measurements::arm::Arm;
use crate::measurements::sessions::usual;
use crate::stats::spread::Values;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Scenario {
    /// A poll of one of a hundred tasks that yield: the mean of a thousand
    Yield,
    /// From the spawn of a task until it is joined
    Spawn,
    /// A task wakes another, which wakes it
    Wake,
    /// How late checkpoints of ten sessions are, alone
    Checkpoints,
    /// How late checkpoints of thirty sessions are beside bursts of events, with three queues
    Burst,
    /// A subscription of a client that comes and goes: the mean of a run
    Churn,
}

/// Tasks that yield, and how often before a look at the clock.
const TASKS: usize = 100;
const YIELDS: usize = 10;

impl Scenario {
    /// Nanoseconds: one run of so much that percentiles mean something.
    pub(super) fn run(self, common: &Common, round: u64) -> Values {
        let times = |many| if common.quick { 20 } else { many };
        match self {
            Scenario::Yield => yields(times(1_000)),
            Scenario::Spawn => spawns(times(20_000)),
            Scenario::Wake => wakes(times(20_000)),
            Scenario::Checkpoints => lateness("checkpoint_overhead", 10, common, round),
            Scenario::Burst => lateness("burst", 30, common, round),
            Scenario::Churn => churn(times(100), common),
        }
    }
}

fn yields(times: usize) -> Values {
    let executor = Executor::new();
    let mut values = Values::to_the(0.1);
    host().block_on(executor.run_until(async {
        for _ in 0..times {
            let tasks: Vec<_> = (0..TASKS).map(|_| executor.spawn(SelfWaking::new(YIELDS as _))).collect();
            let watch = Stopwatch::start();
            for task in tasks {
                task.await.expect("a task that only yields does not fail");
            }
            values.add(watch.nanos() / (TASKS * YIELDS) as f64);
        }
    }));
    values
}

fn spawns(times: usize) -> Values {
    let executor = Executor::new();
    let mut values = Values::default();
    host().block_on(executor.run_until(async {
        for _ in 0..times {
            let watch = Stopwatch::start();
            executor.spawn(async {}).await.expect("an empty task does not fail");
            values.add(watch.nanos());
        }
    }));
    values
}

fn wakes(times: usize) -> Values {
    let executor = Executor::new();
    let [there, back] = [(); 2].map(|()| Rc::new(Notify::new()));
    let _other = executor.spawn({
        let (there, back) = (there.clone(), back.clone());
        async move {
            loop {
                there.notified().await;
                back.notify_one();
            }
        }
    });
    let asker = executor.spawn(async move {
        let mut values = Values::default();
        for _ in 0..times {
            let watch = Stopwatch::start();
            there.notify_one();
            back.notified().await;
            values.add(watch.nanos());
        }
        values
    });
    host().block_on(executor.run_until(asker)).expect("nobody fails")
}

fn lateness(scenario: &str, sessions: u32, common: &Common, round: u64) -> Values {
    let (mut world, setup) = usual(scenario, sessions, common);
    world.part = round;
    Arm::Queues.run(|| setup.queues(), &world).late
}

fn churn(times: usize, common: &Common) -> Values {
    let (world, setup) = usual("subscription_lifecycle_churn", 10, common);
    let calls = f64::from(world.visits * (world.sessions + 1));
    let mut values = Values::default();
    for _ in 0..times {
        let elapsed = Arm::Queues.run(|| setup.queues(), &world).elapsed;
        values.add(elapsed.as_nanos() as f64 / calls);
    }
    values
}
