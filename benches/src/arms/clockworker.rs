//! Clockworker, in the ways in which it can be set up.

use clockworker::schedulers::Scheduler;
use clockworker::{Executor, JoinHandle, Queue, TaskBuilder};
use tokio::runtime::Runtime;

use super::Runner;
use super::tokio::{boxed, host};

#[derive(Debug)]
pub struct Clockworker<L> {
    executor: Executor,
    lanes: L,
    host: Runtime,
}

impl<L> Clockworker<L> {
    pub fn new(executor: Executor, lanes: L) -> Self {
        Clockworker { executor, lanes, host: host() }
    }
}

impl<L: Lanes> Runner for Clockworker<L> {
    type Task = JoinHandle<()>;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self.lanes.spawn(&self.executor, lane, task)
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        self.host.block_on(self.executor.run_until(boxed(root)))
    }
}

pub trait Lanes: 'static {
    fn spawn(&self, on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()>;
}

/// All lanes are one queue.
#[derive(Debug)]
pub struct DefaultQueue;

impl Lanes for DefaultQueue {
    fn spawn(&self, on: &Executor, _lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        on.spawn(task)
    }
}

/// A lane is the queue of its number, counted round.
impl Lanes for Vec<Queue> {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane % self.len()].spawn(task)
    }
}

/// What is said of a lane's tasks (queue, group, attributes) was said beforehand.
impl Lanes for Vec<TaskBuilder> {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane].clone().spawn(task)
    }
}

pub fn executor_under(scheduler: impl Scheduler + 'static) -> Executor {
    Executor::builder().scheduler(scheduler).build().expect("the defaults are valid")
}

/// Creates two queues of such shares, each a WokenFirst.
pub fn two_queues(executor: &Executor, shares: [u32; 2]) -> [Queue; 2] {
    let create = |name, share| executor.new_queue(name).share(share).create().expect("the shares are valid");
    [create("foreground", shares[0]), create("background", shares[1])]
}
