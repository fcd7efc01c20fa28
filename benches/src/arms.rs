//! The executors under test, behind one trait, so that every workload is written once.
//!
//! `compare` uses the contenders in this file, which knows clockworker's API and LocalSet's; `overhead` uses those and the
//! files below, one executor each.

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
    Clockworker, DefaultQueue, Groups, Lanes, ManyGroups, ManyQueues, OneQueue, QueueSetup, TwoQueues,
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
