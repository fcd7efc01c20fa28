//! Clockworker 0.2.6, as published on crates.io: what this project was before it was written anew.

use std::rc::Rc;

use clockworker_published as published;
use tokio::runtime::Runtime;

use super::Runner;
use super::tokio::host;

/// With its defaults. A lane is the queue of its number, counted round.
pub struct Published {
    executor: Rc<published::Executor<usize>>,
    queues: Vec<published::QueueHandle<usize>>,
    host: Runtime,
}

impl Published {
    /// With a queue for each share.
    pub fn with_shares<const QUEUES: usize>(shares: [u32; QUEUES]) -> Self {
        let builder = published::ExecutorBuilder::new();
        let shares = shares.into_iter().enumerate();
        let builder = shares.fold(builder, |builder, (queue, share)| builder.with_queue(queue, share.into()));
        let executor = builder.build().expect("the shares are valid");
        let handle = |queue| executor.queue(queue).unwrap_or_else(|_| unreachable!("it was just made"));
        Published { queues: (0..QUEUES).map(handle).collect(), executor, host: host() }
    }
}

impl Runner for Published {
    type Task = published::JoinHandle<(), usize>;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        self.queues[lane % self.queues.len()].spawn(task)
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.host.block_on(self.executor.run_until(root))
    }
}
