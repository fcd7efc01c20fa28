//! futures' LocalPool.

use std::cell::RefCell;
use std::future::Future;

use futures::executor::LocalSpawner;
use futures::future::RemoteHandle;
use futures::task::LocalSpawnExt;

use super::runner::Runner;

/// futures' LocalPool, which parks its thread itself.
#[derive(Debug)]
pub struct LocalPool {
    pool: RefCell<futures::executor::LocalPool>,
    spawner: LocalSpawner,
}

impl Default for LocalPool {
    fn default() -> Self {
        let pool = futures::executor::LocalPool::new();
        LocalPool { spawner: pool.spawner(), pool: RefCell::new(pool) }
    }
}

impl Runner for LocalPool {
    type Task = RemoteHandle<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        self.spawner.spawn_local_with_handle(task).expect("the pool is there")
    }

    fn spawn_detached(&self, _lane: usize, task: impl Future<Output = ()> + 'static) {
        self.spawner.spawn_local(task).expect("the pool is there");
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.pool.borrow_mut().run_until(root)
    }
}
