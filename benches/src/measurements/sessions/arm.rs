//! The executors that run the manager.

use std::time::Duration;

use clap::ValueEnum;
use clockworker::Executor;
use serde::{Deserialize, Serialize};

use super::options::Shares;
use super::world::{Found, World};
use crate::arms::others::{LocalExecutor, Published};
use crate::arms::{Baseline, ManyQueues, OneQueue};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet
    LocalSet,
    /// Clockworker by its imports alone: one queue, all defaults
    Imports,
    /// Clockworker with queues for checkpoints, fan-out and churn
    Queues,
    /// smol's LocalExecutor
    LocalExecutor,
    /// Clockworker 0.2.6, as published
    Published,
}

/// The lanes, in the order of the shares.
pub(super) const CHECKPOINTS: usize = 0;
pub(super) const FANOUT: usize = 1;
pub(super) const CHURN: usize = 2;
const QUEUES: [&str; 3] = ["checkpoints", "fanout", "churn"];

/// How the queues are set up: their shares, and what the checkpoints' queue requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) shares: Shares,
    pub(crate) request: Duration,
}

impl Arm {
    pub(super) fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::Imports => "imports alone",
            Arm::Queues => "three queues",
            Arm::LocalExecutor => "smol LocalExecutor",
            Arm::Published => "clockworker 0.2.6",
        }
    }

    /// Runs the manager once on a fresh executor in a fresh host, on this thread.
    pub(crate) fn run(self, world: &World, setup: Setup) -> Found {
        match self {
            Arm::LocalSet => world.on(Baseline::default()),
            Arm::Imports => world.on(OneQueue::as_it_comes()),
            Arm::Queues => world.on(setup.queues()),
            Arm::LocalExecutor => world.on(LocalExecutor::default()),
            Arm::Published => world.on(Published::default()),
        }
    }
}

impl Setup {
    fn queues(self) -> ManyQueues {
        let executor = Executor::new();
        let create = |(lane, name): (usize, &&str)| {
            let builder = executor.new_queue(name).share(self.shares.0[lane]);
            let builder = if lane == CHECKPOINTS { builder.request(self.request) } else { builder };
            builder.create().expect("shares and request are valid")
        };
        let queues = QUEUES.iter().enumerate().map(create).collect();
        ManyQueues::of(executor, queues)
    }
}
