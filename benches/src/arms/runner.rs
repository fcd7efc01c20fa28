//! An executor together with what it runs in.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Runtime;

use super::{Contender, host};

/// An executor together with what it runs in: its host, or itself if it is a runtime or a bare loop.
///
/// Tasks are spawned inside [`Runner::block_on`], by its root only.
pub trait Runner: 'static {
    type Task: Future + 'static;

    /// Spawns a task; `lane` is what the executor may tell tasks apart by.
    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task;

    fn spawn_detached(&self, lane: usize, task: impl Future<Output = ()> + 'static) {
        drop(self.spawn(lane, task));
    }

    /// Has a task dropped before its end. Not called on runners that cannot.
    fn abort(task: Self::Task) {
        drop(task);
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output;

    /// How often the host has polled the executor, where there is a host that polls one.
    fn host_polls(&self) -> Option<Arc<AtomicU64>> {
        None
    }
}

pub trait Job {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64>;
}

#[derive(Debug)]
pub struct Hosted<C> {
    host: Runtime,
    contender: C,
    polls: Arc<AtomicU64>,
}

impl<C> Hosted<C> {
    pub fn new(contender: C) -> Self {
        Hosted { host: host(), contender, polls: Arc::default() }
    }

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
