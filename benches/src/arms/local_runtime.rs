//! tokio's LocalRuntime.

use std::future::Future;

use tokio::runtime::{Builder, LocalOptions};

use super::runner::Runner;

/// tokio's LocalRuntime, both drivers on.
#[derive(Debug)]
pub struct LocalRuntime(tokio::runtime::LocalRuntime);

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
