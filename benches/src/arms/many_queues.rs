//! Clockworker with any number of queues.

use std::future::Future;
use std::time::Duration;

use clockworker::{Executor, Queue};

use super::Contender;

/// Clockworker with any number of queues, each a WokenFirst; a lane is the queue of its number, counted round.
#[derive(Debug)]
pub struct ManyQueues {
    executor: Executor,
    queues: Vec<Queue>,
}

impl ManyQueues {
    /// So many queues with the same share, each asking for so much service a turn.
    pub fn new(queues: usize, request: Duration) -> Self {
        let executor = Executor::new();
        let create = |number: usize| {
            let name = number.to_string();
            executor.queue(&name).request(request).create().expect("the setup is valid")
        };
        let queues = (0..queues).map(create).collect();
        ManyQueues { executor, queues }
    }

    /// Turns that queues have had.
    pub fn turns(&self) -> u64 {
        self.executor.stats().slices
    }
}

impl Contender for ManyQueues {
    type Handle = clockworker::JoinHandle<()>;
    type Lost = clockworker::JoinError;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        self.queues[lane % self.queues.len()].spawn(task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}
