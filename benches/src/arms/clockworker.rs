//! Clockworker, in the ways in which it can be set up.

use std::time::Duration;

use clockworker::schedulers::Scheduler;
use clockworker::{Executor, JoinError, JoinHandle, ManualClock, Queue, TaskBuilder};

use super::Contender;

#[derive(Debug)]
pub struct Clockworker<L> {
    executor: Executor,
    lanes: L,
}

pub trait Lanes: 'static {
    fn spawn(&self, on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()>;
}

impl<L> Clockworker<L> {
    pub fn of(executor: Executor, lanes: L) -> Self {
        Clockworker { executor, lanes }
    }
}

impl<L: Lanes> Contender for Clockworker<L> {
    type Handle = JoinHandle<()>;
    type Lost = JoinError;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle {
        self.lanes.spawn(&self.executor, lane, task)
    }

    fn abort(handle: Self::Handle) {
        handle.abort();
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}

pub type OneQueue = Clockworker<DefaultQueue>;

#[derive(Debug)]
pub struct DefaultQueue;

impl Lanes for DefaultQueue {
    fn spawn(&self, on: &Executor, _lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        on.spawn(task)
    }
}

impl OneQueue {
    pub fn as_it_comes() -> Self {
        Clockworker { executor: Executor::new(), lanes: DefaultQueue }
    }

    pub fn under<S: Scheduler + Default + 'static>() -> Self {
        Clockworker { executor: executor_under::<S>(), lanes: DefaultQueue }
    }

    pub fn on_clock(scheduler: impl Scheduler + 'static, clock: ManualClock) -> Self {
        let builder = Executor::builder().scheduler(scheduler).clock(clock);
        Clockworker { executor: builder.build().expect("the defaults are valid"), lanes: DefaultQueue }
    }
}

pub fn executor_under<S: Scheduler + Default + 'static>() -> Executor {
    Executor::builder().scheduler(S::default()).build().expect("the defaults are valid")
}

/// Clockworker with two queues, each a WokenFirst; even lanes are the first, odd lanes the second.
pub type TwoQueues = Clockworker<[Queue; 2]>;

impl Lanes for [Queue; 2] {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane % 2].spawn(task)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct QueueSetup {
    pub name: &'static str,
    pub share: u32,
    pub request: Duration,
}

impl TwoQueues {
    pub fn new(queues: [QueueSetup; 2]) -> Self {
        let executor = Executor::new();
        let lanes = queues.map(|QueueSetup { name, share, request }| {
            executor.new_queue(name).share(share).request(request).create().expect("the setup is valid")
        });
        Clockworker { executor, lanes }
    }

    pub fn alike() -> Self {
        let request = clockworker::DEFAULT_REQUEST;
        TwoQueues::new(["even", "odd"].map(|name| QueueSetup { name, share: 1, request }))
    }
}

/// Clockworker with any number of queues, each a WokenFirst; a lane is the queue of its number, counted round.
pub type ManyQueues = Clockworker<Vec<Queue>>;

impl Lanes for Vec<Queue> {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane % self.len()].spawn(task)
    }
}

impl ManyQueues {
    pub fn new(queues: usize, request: Duration) -> Self {
        let executor = Executor::new();
        let create = |number: usize| {
            let name = number.to_string();
            executor.new_queue(&name).request(request).create().expect("the setup is valid")
        };
        let lanes = (0..queues).map(create).collect();
        Clockworker { executor, lanes }
    }

    pub fn turns(&self) -> u64 {
        self.executor.stats().slices
    }
}

/// Clockworker where what is said of a lane's tasks (queue, group, attributes) was said beforehand.
pub type BuiltTasks = Clockworker<Vec<TaskBuilder>>;

impl Lanes for Vec<TaskBuilder> {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane].clone().spawn(task)
    }
}
