//! tokio's own: LocalSet, which is the base of most comparisons, and LocalRuntime.

use std::pin::Pin;

use tokio::runtime::{Builder, LocalOptions, Runtime};
use tokio::task;

use super::Runner;

/// A fresh host: tokio's current-thread runtime, both of its drivers on.
///
/// The I/O driver has nothing to do here, but services have one, and it is what a return to the host costs there.
pub fn host() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a process can open one more epoll descriptor")
}

/// One type for many, so that a host's `block_on` is compiled once for all of them.
pub(crate) fn boxed<'a, T>(root: impl Future<Output = T> + 'a) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    Box::pin(root)
}

#[derive(Debug)]
pub struct LocalSet {
    set: task::LocalSet,
    host: Runtime,
}

impl Default for LocalSet {
    fn default() -> Self {
        LocalSet { set: task::LocalSet::new(), host: host() }
    }
}

impl Runner for LocalSet {
    type Task = task::JoinHandle<()>;

    /// Through the free function, not through `LocalSet::spawn_local`, which also wakes the set each time.
    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        task::spawn_local(task)
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.host.block_on(self.set.run_until(boxed(root)))
    }
}

#[derive(Debug)]
pub struct LocalRuntime(tokio::runtime::LocalRuntime);

impl Default for LocalRuntime {
    fn default() -> Self {
        let built = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
        LocalRuntime(built.expect("a process can open one more epoll descriptor"))
    }
}

impl Runner for LocalRuntime {
    type Task = task::JoinHandle<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        task::spawn_local(task)
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.0.block_on(boxed(root))
    }
}
