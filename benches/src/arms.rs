//! The executors under test, behind one trait, so that every workload is written once.

mod boxed_loop;
pub mod clockworker;
#[cfg(all(feature = "glommio", target_os = "linux"))]
mod glommio;
#[cfg(all(feature = "rivals", target_os = "linux"))]
pub mod monoio;
#[cfg(feature = "rivals")]
pub mod published;
#[cfg(feature = "rivals")]
mod task_loop;
pub mod tokio;

use ::clockworker::Executor;
use ::clockworker::schedulers::{FairGroups, Las, Qlas, RunnableFifo, Serpt};

use self::boxed_loop::BoxedLoop;
use self::clockworker::{Clockworker, DefaultQueue, executor_under, two_queues};
use self::tokio::{LocalRuntime, LocalSet};

/// A single-threaded executor under test, together with what it runs in.
///
/// It has lanes, numbered from 0, which are what it can tell apart: queues, for clockworker; for LocalSet
/// every number is the same lane.
pub trait Runner: 'static {
    /// Waits for a task.
    type Task: Future + 'static;

    /// Spawns a task. To be called inside [`Runner::block_on`].
    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task;

    fn spawn_detached(&self, lane: usize, task: impl Future<Output = ()> + 'static) {
        drop(self.spawn(lane, task));
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output;
}

/// What is done once on an executor.
pub trait Job {
    type Found;

    fn run<R: Runner>(&self, runner: R) -> Self::Found;
}

/// An executor, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The base.
    LocalSet,
    /// As it comes: one queue, WokenFirst.
    Clockworker,
    /// Tasks are dealt out to two queues.
    TwoQueues,
    Fifo,
    Qlas,
    Las,
    Serpt,
    FairGroups,
    LocalRuntime,
    /// The physical limit.
    BoxedLoop,
    /// The floor of a task cell from crates.io.
    #[cfg(feature = "rivals")]
    TaskLoop,
    /// As published.
    #[cfg(feature = "rivals")]
    Published,
    #[cfg(all(feature = "rivals", target_os = "linux"))]
    Monoio,
    #[cfg(all(feature = "glommio", target_os = "linux"))]
    Glommio,
}

const ALL: &[Arm] = &[
    Arm::LocalSet,
    Arm::Clockworker,
    Arm::TwoQueues,
    Arm::Fifo,
    Arm::Qlas,
    Arm::Las,
    Arm::Serpt,
    Arm::FairGroups,
    Arm::LocalRuntime,
    Arm::BoxedLoop,
    #[cfg(feature = "rivals")]
    Arm::TaskLoop,
    #[cfg(feature = "rivals")]
    Arm::Published,
    #[cfg(all(feature = "rivals", target_os = "linux"))]
    Arm::Monoio,
    #[cfg(all(feature = "glommio", target_os = "linux"))]
    Arm::Glommio,
];

impl Arm {
    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::Clockworker => "Clockworker",
            Arm::TwoQueues => "Clockworker, two queues",
            Arm::Fifo => "Clockworker, RunnableFifo",
            Arm::Qlas => "Clockworker, QLAS",
            Arm::Las => "Clockworker, LAS",
            Arm::Serpt => "Clockworker, SERPT",
            Arm::FairGroups => "Clockworker, FairGroups",
            Arm::LocalRuntime => "LocalRuntime",
            Arm::BoxedLoop => "loop over boxed futures",
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => "loop over async-task",
            #[cfg(feature = "rivals")]
            Arm::Published => "clockworker 0.2.6",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => "monoio spawn",
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => "glommio spawn_local",
        }
    }

    /// Those of all arms that this machine can run.
    pub fn all() -> impl Iterator<Item = Arm> {
        ALL.iter().copied().filter(|arm| match arm {
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => glommio::is_available(),
            _ => true,
        })
    }

    /// Whether a task that is woken is polled, and one that is not is left alone.
    pub fn has_wakers(self) -> bool {
        self != Arm::BoxedLoop
    }

    /// Whether its tasks run inside tokio, and so can be woken from other threads at any time.
    pub fn is_in_tokio(self) -> bool {
        match self {
            Arm::BoxedLoop => false,
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => false,
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => false,
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => false,
            _ => true,
        }
    }

    /// A fresh executor of clockworker, if that is what it is.
    pub fn executor(self) -> Option<Executor> {
        Some(match self {
            Arm::Clockworker | Arm::TwoQueues => Executor::new(),
            Arm::Fifo => executor_under(RunnableFifo::default()),
            Arm::Qlas => executor_under(Qlas::default()),
            Arm::Las => executor_under(Las::default()),
            Arm::Serpt => executor_under(Serpt::default()),
            Arm::FairGroups => executor_under(FairGroups::default()),
            _ => return None,
        })
    }

    /// Does a job once on a fresh executor, in a fresh host if it has one.
    pub fn run<J: Job>(self, job: &J) -> J::Found {
        if let Some(executor) = self.executor() {
            return match self {
                Arm::TwoQueues => {
                    let queues = two_queues(&executor, [1, 1]);
                    job.run(Clockworker::new(executor, queues.to_vec()))
                }
                _ => job.run(Clockworker::new(executor, DefaultQueue)),
            };
        }
        match self {
            Arm::LocalRuntime => job.run(LocalRuntime::default()),
            Arm::BoxedLoop => job.run(BoxedLoop::default()),
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => job.run(task_loop::TaskLoop::default()),
            #[cfg(feature = "rivals")]
            Arm::Published => job.run(published::Published::with_shares([1])),
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => job.run(monoio::Monoio::default()),
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => job.run(glommio::Glommio::default()),
            _ => job.run(LocalSet::default()),
        }
    }
}
