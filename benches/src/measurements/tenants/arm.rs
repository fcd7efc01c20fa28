//! The executors whose tenants are compared: every policy of the library, and LocalSet.

use std::time::Duration;

use clap::ValueEnum;
use clockworker::schedulers::{
    ArrivalFifo, Deadline, FairGroups, Las, Priority, Qlas, RunnableFifo, Serpt, WokenFirst,
};
use clockworker::{Executor, TaskBuilder};
use serde::{Deserialize, Serialize};

use super::options::Scene;
use crate::arms::{Baseline, BuiltTasks, ManyGroups, executor_under};
use crate::measurements::arm::Work;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet, which knows no tenants
    LocalSet,
    /// Clockworker as it comes; as the two below, it knows no tenants
    WokenFirst,
    RunnableFifo,
    ArrivalFifo,
    Las,
    Qlas,
    Serpt,
    /// Levels: the tenant that floods is on a lower one
    Priority,
    /// Earliest deadline first: quiet tenants' tasks have one
    Deadline,
    /// Each tenant its share
    FairGroups,
    /// The tenant that floods is in an idle queue
    IdleQueue,
}

/// The tenant that floods, or comes and goes: its lane and its key.
pub(super) const FIRST: usize = 0;

/// What quiet tenants' tasks have under `Deadline`.
const DEADLINE: Duration = Duration::from_millis(1);

impl Arm {
    /// Whether it says something there: levels, deadlines and an idle queue are for those who know who floods.
    pub(super) fn is_in(self, scene: Scene) -> bool {
        scene == Scene::Flood || !matches!(self, Arm::Priority | Arm::Deadline | Arm::IdleQueue)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::WokenFirst => "WokenFirst",
            Arm::RunnableFifo => "RunnableFifo",
            Arm::ArrivalFifo => "ArrivalFifo",
            Arm::Las => "LAS",
            Arm::Qlas => "QLAS",
            Arm::Serpt => "SERPT",
            Arm::Priority => "Priority",
            Arm::Deadline => "Deadline",
            Arm::FairGroups => "FairGroups",
            Arm::IdleQueue => "an idle queue",
        }
    }

    fn executor(self) -> Option<Executor> {
        Some(match self {
            Arm::LocalSet => return None,
            Arm::WokenFirst | Arm::IdleQueue => executor_under::<WokenFirst>(),
            Arm::RunnableFifo => executor_under::<RunnableFifo>(),
            Arm::ArrivalFifo => executor_under::<ArrivalFifo>(),
            Arm::Las => executor_under::<Las>(),
            Arm::Qlas => executor_under::<Qlas>(),
            Arm::Serpt => executor_under::<Serpt>(),
            Arm::Priority => executor_under::<Priority>(),
            Arm::Deadline => executor_under::<Deadline>(),
            Arm::FairGroups => executor_under::<FairGroups>(),
        })
    }

    /// Does `work` on a fresh executor. A lane is a group, which is open while it has tasks.
    pub(super) fn by_key<W: Work>(self, tenants: usize, work: &W) -> W::Found {
        match self.executor() {
            None => work.on(Baseline::default()),
            Some(executor) => work.on(ManyGroups::of(executor, (0..tenants as u64).collect())),
        }
    }

    /// The same with groups that stay open, where the executor has been told what it can be told of who floods.
    pub(super) fn forewarned<W: Work>(self, tenants: usize, work: &W) -> W::Found {
        let Some(executor) = self.executor() else { return work.on(Baseline::default()) };
        let lanes = (0..tenants).map(|tenant| self.tasks_of(&executor, tenant)).collect();
        work.on(BuiltTasks::of(executor, lanes))
    }

    fn tasks_of(self, executor: &Executor, tenant: usize) -> TaskBuilder {
        let queue = executor.default_queue();
        let group = queue.new_group(tenant as u64);
        match (self, tenant == FIRST) {
            (Arm::IdleQueue, true) => {
                executor.new_queue("idle").idle().create().expect("the name is free").new_task()
            }
            (Arm::Priority, true) => group.priority(-1).open().expect("the weight is valid").new_task(),
            (Arm::Deadline, false) => queue.group(tenant as u64).new_task().deadline(DEADLINE),
            _ => queue.group(tenant as u64).new_task(),
        }
    }
}
