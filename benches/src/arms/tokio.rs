//! tokio's own: LocalSet, which is the base of most comparisons, and LocalRuntime.

use tokio::runtime::{Builder, LocalOptions, Runtime};
use tokio::task::LocalSet;

use super::Contender;
use super::runner::Runner;

/// A fresh host of the kind that every contender runs in: tokio's current-thread runtime, both of its drivers on.
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

#[derive(Debug)]
pub(super) struct LocalRuntime(tokio::runtime::LocalRuntime);

impl Default for LocalRuntime {
    fn default() -> Self {
        let built = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
        LocalRuntime(built.expect("a process can open one more epoll descriptor"))
    }
}

impl Runner for LocalRuntime {
    type Task = tokio::task::JoinHandle<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        tokio::task::spawn_local(task)
    }

    fn abort(task: Self::Task) {
        task.abort();
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.0.block_on(root)
    }
}
