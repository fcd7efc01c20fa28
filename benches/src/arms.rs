//! The executors under test, behind one trait, so that every workload is written once.
//!
//! `compare` uses the contenders in this file, which knows clockworker's API and LocalSet's; `overhead` uses those and the
//! files below, one executor each.

#[cfg(target_os = "linux")]
pub(crate) mod monoio;

pub(crate) mod boxed_loop;
pub mod bracketed;
#[cfg(all(feature = "glommio", target_os = "linux"))]
pub mod glommio;
pub mod hosted;
pub mod joined;
pub mod local_executor;
pub mod local_pool;
pub mod local_runtime;
pub mod many_groups;
pub mod many_queues;
pub(crate) mod published;
pub mod runner;
pub mod task_loop;
pub mod unordered;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Scheduler, Serpt};
use clockworker::{Executor, JoinError, JoinHandle, Queue};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

/// A single-threaded executor under test.
///
/// It has lanes, numbered from 0, which are what it can tell apart: queues, for clockworker; for LocalSet
/// every number is the same lane.
pub trait Contender: 'static {
    /// Waits for a task; fails if the task panicked or was cancelled.
    type Handle: Future<Output = Result<(), Self::Lost>> + 'static;
    /// Why a task has no result.
    type Lost: fmt::Debug;

    /// Spawns a task. To be called inside [`Contender::run_until`].
    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle;

    /// Lets a task go on that is not awaited.
    fn detach(handle: Self::Handle) {
        drop(handle);
    }

    /// Has a task dropped before its end. Only `overhead` does this, and not of contenders that cannot.
    fn abort(handle: Self::Handle);

    /// Runs `root`, and the tasks while it is not ready.
    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output>;
}

/// A fresh host of the kind that every arm runs in: tokio's current-thread runtime, both of its drivers on.
///
/// The I/O driver has nothing to do here, but services have one, and it is what a return to the host costs
/// there.
pub fn host() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a process can open one more epoll descriptor")
}

/// tokio's LocalSet, the baseline.
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

/// Clockworker, with what it can tell tasks apart by.
#[derive(Debug)]
pub struct Clockworker<L> {
    executor: Executor,
    lanes: L,
}

/// What Clockworker can tell tasks apart by.
pub trait Lanes: 'static {
    /// Spawns a task of that lane.
    fn spawn(&self, on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()>;
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

/// Clockworker with its default queue only.
pub type OneQueue = Clockworker<DefaultQueue>;

/// Every lane is the default queue.
#[derive(Debug)]
pub struct DefaultQueue;

impl Lanes for DefaultQueue {
    fn spawn(&self, on: &Executor, _lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        on.spawn(task)
    }
}

impl OneQueue {
    /// With the default policy, WokenFirst.
    pub fn as_it_comes() -> Self {
        Clockworker { executor: Executor::new(), lanes: DefaultQueue }
    }

    fn under(policy: impl Scheduler + 'static) -> Self {
        let executor = Executor::builder().scheduler(policy).build().expect("the defaults are valid");
        Clockworker { executor, lanes: DefaultQueue }
    }

    /// With the order of becoming ready.
    pub fn runnable_fifo() -> Self {
        OneQueue::under(RunnableFifo::new())
    }

    /// With the order of spawn.
    pub fn arrival_fifo() -> Self {
        OneQueue::under(ArrivalFifo::new())
    }

    /// With quantised least attained service.
    pub fn qlas() -> Self {
        OneQueue::under(Qlas::new())
    }

    /// With least attained service.
    pub fn las() -> Self {
        OneQueue::under(Las::new())
    }

    /// With shortest expected remaining time.
    pub fn serpt() -> Self {
        OneQueue::under(Serpt::new())
    }
}

/// Clockworker with two queues, each a WokenFirst; even lanes are the first, odd lanes the second.
pub type TwoQueues = Clockworker<[Queue; 2]>;

impl Lanes for [Queue; 2] {
    fn spawn(&self, _on: &Executor, lane: usize, task: impl Future<Output = ()> + 'static) -> JoinHandle<()> {
        self[lane % 2].spawn(task)
    }
}

/// How a queue is set up.
#[derive(Clone, Copy, Debug)]
pub struct QueueSetup {
    /// Its name.
    pub name: &'static str,
    /// Its share.
    pub share: u32,
    /// The service it asks for per turn.
    pub request: Duration,
}

impl TwoQueues {
    /// Two queues, set up so.
    pub fn new(queues: [QueueSetup; 2]) -> Self {
        let executor = Executor::new();
        let lanes = queues.map(|QueueSetup { name, share, request }| {
            executor.new_queue(name).share(share).request(request).create().expect("the setup is valid")
        });
        Clockworker { executor, lanes }
    }

    /// Two queues with the same share.
    pub fn alike() -> Self {
        let request = clockworker::DEFAULT_REQUEST;
        TwoQueues::new(["even", "odd"].map(|name| QueueSetup { name, share: 1, request }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    use crate::workload::self_waking::SelfWaking;

    fn runs_every_task(contender: impl Contender) {
        let seen = Rc::new(RefCell::new(Vec::new()));
        host().block_on(contender.run_until(async {
            let tasks = (0..100).map(|number| {
                let seen = seen.clone();
                contender.spawn(number, async move {
                    SelfWaking::new(3).await;
                    seen.borrow_mut().push(number);
                })
            });
            for handle in tasks.collect::<Vec<_>>() {
                handle.await.expect("no task fails");
            }
        }));
        seen.borrow_mut().sort_unstable();
        assert!(seen.borrow().iter().copied().eq(0..100));
    }

    #[test]
    fn every_arm_runs_every_task_to_its_end() {
        runs_every_task(Baseline::default());
        runs_every_task(OneQueue::runnable_fifo());
        runs_every_task(OneQueue::arrival_fifo());
        runs_every_task(OneQueue::qlas());
        runs_every_task(OneQueue::las());
        runs_every_task(OneQueue::serpt());
        runs_every_task(TwoQueues::alike());
    }
}
