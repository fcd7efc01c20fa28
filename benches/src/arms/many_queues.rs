//! Clockworker with any number of queues.

use std::future::Future;
use std::time::Duration;

use clockworker::{Executor, JoinHandle, Queue};

use super::{Clockworker, Lanes};

/// Clockworker with any number of queues, each a WokenFirst; a lane is the queue of its number, counted round.
pub type ManyQueues = Clockworker<Vec<Queue>>;

impl Lanes for Vec<Queue> {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane % self.len()].spawn(task)
    }
}

impl ManyQueues {
    /// So many queues with the same share, each asking for so much service a turn.
    pub fn new(queues: usize, request: Duration) -> Self {
        let executor = Executor::new();
        let create = |number: usize| {
            let name = number.to_string();
            executor.new_queue(&name).request(request).create().expect("the setup is valid")
        };
        let lanes = (0..queues).map(create).collect();
        Clockworker { executor, lanes }
    }

    /// Turns that queues have had.
    pub fn turns(&self) -> u64 {
        self.executor.stats().slices
    }
}
