//! The executors that the queue runs on.

use clap::ValueEnum;
use clockworker::Executor;
use serde::{Deserialize, Serialize};

use super::world::QUEUES;
use crate::arms::others::{LocalExecutor, Published};
use crate::arms::{Baseline, Contender, ManyQueues, OneQueue};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet
    LocalSet,
    /// Clockworker in its place, and nothing else
    Imports,
    /// Clockworker, where start, dispatch, completion and flush are queues with shares
    Queues,
    /// smol's LocalExecutor
    LocalExecutor,
    /// clockworker 0.2.6, as published
    Published,
}

/// What is done on an executor.
pub(super) trait Work {
    type Found;

    fn on<C: Contender>(&self, contender: C) -> Self::Found;
}

/// Shares of start, dispatch, completion (with the workers) and flush.
pub(super) type Shares = [u32; 4];

impl Arm {
    pub(super) fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::Imports => "Clockworker, imports alone",
            Arm::Queues => "Clockworker, queues",
            Arm::LocalExecutor => "smol LocalExecutor",
            Arm::Published => "clockworker 0.2.6",
        }
    }

    pub(super) fn run<W: Work>(self, shares: Shares, work: &W) -> W::Found {
        match self {
            Arm::LocalSet => work.on(Baseline::default()),
            Arm::Imports => work.on(OneQueue::as_it_comes()),
            Arm::Queues => work.on(queues(shares)),
            Arm::LocalExecutor => work.on(LocalExecutor::default()),
            Arm::Published => work.on(Published::default()),
        }
    }
}

/// Clockworker with its defaults but for queues and their shares.
fn queues(shares: Shares) -> ManyQueues {
    let executor = Executor::new();
    let create = |(name, share): (&str, u32)| {
        executor.new_queue(name).share(share).create().expect("shares are checked with the options")
    };
    let queues = QUEUES.into_iter().zip(shares).map(create).collect();
    ManyQueues::of(executor, queues)
}
