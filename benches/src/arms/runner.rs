//! An executor together with what it runs in.

use tokio::runtime::Runtime;

use super::Contender;
use super::tokio::host;

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

    /// Has a task dropped before its end. Not called on runners that [cannot](super::Arm::aborts).
    fn abort(task: Self::Task) {
        drop(task);
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output;
}

/// What is done once on an executor with its host.
pub trait Job {
    type Found;

    fn run<R: Runner>(&self, runner: R) -> Self::Found;
}

/// What is done once on an executor that is a future inside tokio, in a host of its own making.
pub trait Work {
    type Found;

    fn on<C: Contender>(&self, contender: C) -> Self::Found;
}

#[derive(Debug)]
pub struct Hosted<C> {
    host: Runtime,
    contender: C,
}

impl<C> Hosted<C> {
    pub fn new(contender: C) -> Self {
        Hosted { host: host(), contender }
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
        self.host.block_on(self.contender.run_until(root))
    }
}
