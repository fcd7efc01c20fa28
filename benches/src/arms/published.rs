//! Clockworker 0.2.6, as published on crates.io.

use std::future::Future;
use std::rc::Rc;

use clockworker_published::{Executor, ExecutorBuilder, JoinError, JoinHandle, QueueHandle};

use super::Contender;

/// The name of its one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Only;

/// Clockworker 0.2.6 with one queue and its defaults.
pub(crate) struct Published {
    executor: Rc<Executor<Only>>,
    queue: QueueHandle<Only>,
}

impl Default for Published {
    fn default() -> Self {
        let executor = ExecutorBuilder::new().with_queue(Only, 1).build().expect("one queue is valid");
        let queue = executor.queue(Only).unwrap_or_else(|_| unreachable!("it was just made"));
        Published { executor, queue }
    }
}

impl Contender for Published {
    type Handle = JoinHandle<(), Only>;
    type Lost = JoinError;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        self.queue.spawn(task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}
