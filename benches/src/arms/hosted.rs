//! A contender inside tokio's current-thread runtime.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Runtime;

use super::runner::Runner;
use super::{Contender, host};

/// A contender inside a fresh [`host`].
#[derive(Debug)]
pub struct Hosted<C> {
    host: Runtime,
    contender: C,
    polls: Arc<AtomicU64>,
}

impl<C> Hosted<C> {
    /// `contender` in a fresh host.
    pub fn new(contender: C) -> Self {
        Hosted { host: host(), contender, polls: Arc::default() }
    }

    /// What the host runs.
    pub fn contender(&self) -> &C {
        &self.contender
    }
}

impl<C: Contender> Runner for Hosted<C> {
    type Task = C::Handle;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> C::Handle {
        self.contender.spawn(lane, task)
    }

    fn spawn_detached(&self, lane: usize, task: impl Future<Output = ()> + 'static) {
        C::detach(self.contender.spawn(lane, task));
    }

    fn abort(task: C::Handle) {
        C::abort(task);
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        let mut run = pin!(self.contender.run_until(root));
        self.host.block_on(poll_fn(|cx| {
            // One writer: a load and a store do, and cost nothing beside what a host does per poll.
            self.polls.store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            run.as_mut().poll(cx)
        }))
    }

    fn host_polls(&self) -> Option<Arc<AtomicU64>> {
        Some(self.polls.clone())
    }
}
