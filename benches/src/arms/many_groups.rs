//! Clockworker with any number of groups in one queue.

use std::future::Future;

use clockworker::Executor;

use super::Contender;

/// Clockworker with one queue; a lane is the group that its task is given.
#[derive(Debug)]
pub struct ManyGroups {
    executor: Executor,
    keys: Vec<u64>,
}

impl ManyGroups {
    /// On `executor`; the task of lane `n` is of the group `keys[n]`.
    pub fn new(executor: Executor, keys: Vec<u64>) -> Self {
        ManyGroups { executor, keys }
    }
}

impl Contender for ManyGroups {
    type Handle = clockworker::JoinHandle<()>;
    type Lost = clockworker::JoinError;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        self.executor.default_queue().group(self.keys[lane]).spawn(task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}
