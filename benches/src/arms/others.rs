//! Executors of other crates, and Clockworker as it was before it was written anew.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use clockworker_published as published;
use futures::executor::LocalSpawner;
use futures::future::{LocalBoxFuture, RemoteHandle};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::LocalSpawnExt;
use tokio::runtime::{Builder, LocalOptions};

use super::Contender;
use super::joined::{Joined, join};
use super::runner::Runner;

/// Clockworker 0.2.6, as published on crates.io, with one queue and its defaults.
pub(crate) struct Published {
    executor: Rc<published::Executor<Only>>,
    queue: published::QueueHandle<Only>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Only;

impl Default for Published {
    fn default() -> Self {
        let executor =
            published::ExecutorBuilder::new().with_queue(Only, 1).build().expect("one queue is valid");
        let queue = executor.queue(Only).unwrap_or_else(|_| unreachable!("it was just made"));
        Published { executor, queue }
    }
}

impl Contender for Published {
    type Handle = published::JoinHandle<(), Only>;
    type Lost = published::JoinError;

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

#[derive(Default)]
pub(crate) struct LocalExecutor(smol::LocalExecutor<'static>);

pub(crate) struct SmolTask(smol::Task<()>);

impl Future for SmolTask {
    type Output = Result<(), Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Ok)
    }
}

impl Contender for LocalExecutor {
    type Handle = SmolTask;
    type Lost = Infallible;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> SmolTask {
        SmolTask(self.0.spawn(task))
    }

    fn detach(handle: SmolTask) {
        handle.0.detach();
    }

    fn abort(handle: SmolTask) {
        drop(handle);
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.0.run(root)
    }
}

/// futures' FuturesUnordered, beside the root in one future. Tasks are boxed, as they must be where there are several kinds.
#[derive(Default)]
pub(crate) struct Unordered(RefCell<FuturesUnordered<LocalBoxFuture<'static, ()>>>);

impl Contender for Unordered {
    type Handle = Joined;
    type Lost = Infallible;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Joined {
        let (task, joined) = join(task);
        self.0.borrow().push(Box::pin(task));
        joined
    }

    fn abort(_handle: Joined) {
        unreachable!("FuturesUnordered cannot abort");
    }

    async fn run_until<F: Future>(&self, root: F) -> F::Output {
        let mut root = pin!(root);
        poll_fn(|cx| {
            let output = root.as_mut().poll(cx);
            if output.is_pending() {
                let mut tasks = self.0.borrow_mut();
                while let Poll::Ready(Some(())) = tasks.poll_next_unpin(cx) {}
            }
            output
        })
        .await
    }
}

pub(crate) struct LocalPool {
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

pub(crate) struct LocalRuntime(tokio::runtime::LocalRuntime);

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
