//! The executors that whole programs of several loops run on.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::arms::others::{LocalExecutor, Published};
use crate::arms::{Baseline, Contender, ManyQueues, OneQueue};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet
    LocalSet,
    /// Clockworker by its imports alone: one queue, all defaults
    Imports,
    /// Clockworker with a queue for each kind of task, which has its share
    Queues,
    /// smol's LocalExecutor
    LocalExecutor,
    /// Clockworker 0.2.6, as published
    Published,
}

/// What is done on an executor.
pub(crate) trait Work {
    type Found;

    /// Does it once on a fresh executor, in a fresh host, on this thread.
    fn on<C: Contender>(&self, contender: C) -> Self::Found;
}

impl Arm {
    /// Its name in tables, where a program has names of its own for clockworker by its imports and with its queues.
    pub(super) fn title(self, [imports, queues]: [&'static str; 2]) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::Imports => imports,
            Arm::Queues => queues,
            Arm::LocalExecutor => "smol LocalExecutor",
            Arm::Published => "clockworker 0.2.6",
        }
    }

    /// Does `work`, with these queues if it has queues.
    pub(super) fn run<W: Work>(self, queues: impl FnOnce() -> ManyQueues, work: &W) -> W::Found {
        match self {
            Arm::LocalSet => work.on(Baseline::default()),
            Arm::Imports => work.on(OneQueue::as_it_comes()),
            Arm::Queues => work.on(queues()),
            Arm::LocalExecutor => work.on(LocalExecutor::default()),
            Arm::Published => work.on(Published::default()),
        }
    }
}
