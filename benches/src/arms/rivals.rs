//! Executors of other crates, and Clockworker as it was before it was written anew.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use clockworker_published as published;
use futures_executor::LocalSpawner;
use futures_util::future::RemoteHandle;
use futures_util::task::LocalSpawnExt;

use super::Contender;
use super::runner::Runner;

/// Clockworker 0.2.6, as published on crates.io, with its defaults. A lane is the queue of its number, counted round.
pub struct Published {
    executor: Rc<published::Executor<usize>>,
    queues: Vec<published::QueueHandle<usize>>,
}

impl Default for Published {
    /// With one queue.
    fn default() -> Self {
        Published::with_shares([1])
    }
}

impl Published {
    /// With a queue for each share.
    pub fn with_shares<const QUEUES: usize>(shares: [u64; QUEUES]) -> Self {
        let builder = published::ExecutorBuilder::new();
        let shares = shares.into_iter().enumerate();
        let builder = shares.fold(builder, |builder, (queue, share)| builder.with_queue(queue, share));
        let executor = builder.build().expect("the shares are valid");
        let handle = |queue| executor.queue(queue).unwrap_or_else(|_| unreachable!("it was just made"));
        Published { queues: (0..QUEUES).map(handle).collect(), executor }
    }
}

impl Contender for Published {
    type Handle = published::JoinHandle<(), usize>;
    type Lost = published::JoinError;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        self.queues[lane % self.queues.len()].spawn(task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}

/// smol's LocalExecutor.
#[derive(Default)]
pub(super) struct Smol(smol::LocalExecutor<'static>);

pub(super) struct SmolTask(smol::Task<()>);

impl Future for SmolTask {
    type Output = Result<(), Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Ok)
    }
}

impl Contender for Smol {
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

/// futures' LocalPool.
pub(super) struct LocalPool {
    pool: RefCell<futures_executor::LocalPool>,
    spawner: LocalSpawner,
}

impl Default for LocalPool {
    fn default() -> Self {
        let pool = futures_executor::LocalPool::new();
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
