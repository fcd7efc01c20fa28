//! The queues, where tasks have queues: lanes in the order of the shares.

use std::time::Duration;

use clockworker::Executor;

use super::options::Shares;
use crate::arms::ManyQueues;

/// What clockworker is called in tables, by its imports and with these queues.
pub(super) const TITLES: [&str; 2] = ["imports alone", "three queues"];

pub(super) const CHECKPOINTS: usize = 0;
pub(super) const FANOUT: usize = 1;
pub(super) const CHURN: usize = 2;
const QUEUES: [&str; 3] = ["checkpoints", "fanout", "churn"];

/// How they are set up: their shares, and what the checkpoints' queue requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) shares: Shares,
    pub(crate) request: Duration,
}

impl Setup {
    pub(crate) fn queues(self) -> ManyQueues {
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
