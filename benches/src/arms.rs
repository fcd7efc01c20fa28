//! The executors under test, behind two traits, so that every workload is written once: a [`Contender`] is a future inside
//! tokio, as LocalSet is, and a [`Runner`](runner::Runner) is an executor together with what it runs in.

pub mod bracketed;
mod clockworker;
#[cfg(all(feature = "glommio", target_os = "linux"))]
pub(crate) mod glommio;
pub mod joined;
pub(crate) mod loops;
#[cfg(target_os = "linux")]
pub(crate) mod monoio;
pub(crate) mod others;
pub mod runner;

pub use clockworker::{
    BuiltTasks, Clockworker, DefaultQueue, Lanes, ManyGroups, ManyQueues, OneQueue, QueueSetup, TwoQueues,
    executor_under,
};

use std::fmt;

use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

/// A single-threaded executor under test.
///
/// It has lanes, numbered from 0, which are what it can tell apart: queues, for clockworker; for LocalSet
/// every number is the same lane.
pub trait Contender: 'static {
    /// Waits for a task; fails if the task panicked or was cancelled.
    type Handle: Future<Output = Result<(), Self::Lost>> + 'static;
    type Lost: fmt::Debug;

    /// Spawns a task. To be called inside [`Contender::run_until`].
    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle;

    fn detach(handle: Self::Handle) {
        drop(handle);
    }

    /// Has a task dropped before its end. Only `overhead` does this, and not of contenders that cannot.
    fn abort(handle: Self::Handle);

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output>;
}

/// A fresh host of the kind that every arm runs in: tokio's current-thread runtime, both of its drivers on.
///
/// The I/O driver has nothing to do here, but services have one, and it is what a return to the host costs there.
pub fn host() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a process can open one more epoll descriptor")
}

#[derive(Debug, Default)]
pub struct Baseline(LocalSet);

impl Contender for Baseline {
    type Handle = tokio::task::JoinHandle<()>;
    type Lost = tokio::task::JoinError;

    /// Through the free function, not through `LocalSet::spawn_local`, which also wakes the set each time.
    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        tokio::task::spawn_local(task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.0.run_until(root)
    }
}
