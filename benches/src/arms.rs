//! The executors under test, behind two traits, so that every workload is written once: a [`Contender`] is a future inside
//! tokio, as LocalSet is, and a [`Runner`](runner::Runner) is an executor together with what it runs in.

mod boxed_loop;
pub mod clockworker;
#[cfg(all(feature = "glommio", target_os = "linux"))]
mod glommio;
pub mod joined;
#[cfg(all(feature = "rivals", target_os = "linux"))]
pub mod monoio;
#[cfg(feature = "rivals")]
pub mod rivals;
pub mod runner;
#[cfg(feature = "rivals")]
mod task_loop;
pub mod tokio;
mod unordered;

use std::fmt;

use ::clockworker::schedulers::{ArrivalFifo, FairGroups, Las, Qlas, RunnableFifo, Serpt};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use self::boxed_loop::BoxedLoop;
use self::clockworker::{OneQueue, TwoQueues};
use self::runner::{Hosted, Job, Work};
use self::tokio::{Baseline, LocalRuntime};
use self::unordered::Unordered;

/// A single-threaded executor under test.
///
/// It has lanes, numbered from 0, which are what it can tell apart: queues, for clockworker; for LocalSet
/// every number is the same lane.
pub trait Contender: 'static {
    /// Waits for a task; fails if the task panicked or was cancelled.
    type Handle: Future<Output = Result<(), Self::Lost>> + 'static;
    type Lost: fmt::Debug;

    /// Spawns a task. To be called inside [`Contender::run_until`].
    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Handle;

    fn detach(handle: Self::Handle) {
        drop(handle);
    }

    /// Has a task dropped before its end. Not called on those that [cannot](Arm::aborts).
    fn abort(handle: Self::Handle);

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output>;
}

/// An executor, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet: the base
    LocalSet,
    /// Clockworker as it comes: one queue, WokenFirst
    Clockworker,
    /// Clockworker with its tasks dealt out to two queues
    TwoQueues,
    /// Clockworker in the order of becoming runnable
    Fifo,
    /// Clockworker in the order of arrival
    ArrivalFifo,
    /// Clockworker with quantised least attained service
    Qlas,
    /// Clockworker with least attained service
    Las,
    /// Clockworker with shortest expected remaining time
    Serpt,
    /// Clockworker with each group its share
    FairGroups,
    /// tokio's LocalRuntime
    LocalRuntime,
    /// futures' FuturesUnordered, inside tokio as LocalSet is
    FuturesUnordered,
    /// A bare loop over boxed futures: the physical limit
    BoxedLoop,
    /// A bare FIFO loop over async-task's tasks: the floor of a task cell from crates.io
    #[cfg(feature = "rivals")]
    TaskLoop,
    /// Clockworker 0.2.6, as published
    #[cfg(feature = "rivals")]
    Published,
    /// smol's LocalExecutor, inside tokio as LocalSet is
    #[cfg(feature = "rivals")]
    Smol,
    /// futures' LocalPool
    #[cfg(feature = "rivals")]
    LocalPool,
    /// monoio's spawn
    #[cfg(all(feature = "rivals", target_os = "linux"))]
    Monoio,
    /// glommio's spawn_local
    #[cfg(all(feature = "glommio", target_os = "linux"))]
    Glommio,
}

impl Arm {
    /// Clockworker with one queue, under each of its policies.
    pub const POLICIES: [Arm; 7] =
        [Arm::Clockworker, Arm::Fifo, Arm::ArrivalFifo, Arm::Qlas, Arm::Las, Arm::Serpt, Arm::FairGroups];

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::Clockworker => "Clockworker",
            Arm::TwoQueues => "Clockworker, two queues",
            Arm::Fifo => "Clockworker, RunnableFifo",
            Arm::ArrivalFifo => "Clockworker, ArrivalFifo",
            Arm::Qlas => "Clockworker, QLAS",
            Arm::Las => "Clockworker, LAS",
            Arm::Serpt => "Clockworker, SERPT",
            Arm::FairGroups => "Clockworker, FairGroups",
            Arm::LocalRuntime => "LocalRuntime",
            Arm::FuturesUnordered => "FuturesUnordered",
            Arm::BoxedLoop => "loop over boxed futures",
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => "loop over async-task",
            #[cfg(feature = "rivals")]
            Arm::Published => "clockworker 0.2.6",
            #[cfg(feature = "rivals")]
            Arm::Smol => "smol LocalExecutor",
            #[cfg(feature = "rivals")]
            Arm::LocalPool => "LocalPool",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => "monoio spawn",
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => "glommio spawn_local",
        }
    }

    /// Those of all arms that this machine can run.
    pub fn all() -> impl Iterator<Item = Arm> {
        Arm::value_variants().iter().copied().filter(|arm| arm.is_available())
    }

    fn is_available(self) -> bool {
        match self {
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => glommio::is_available(),
            _ => true,
        }
    }

    /// Whether a task that is woken is polled, and one that is not is left alone.
    pub fn has_wakers(self) -> bool {
        self != Arm::BoxedLoop
    }

    /// Whether it can be woken by another thread, and sleeps until then.
    pub fn has_remote_wakers(self) -> bool {
        match self {
            Arm::BoxedLoop => false,
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => false,
            _ => true,
        }
    }

    /// Whether it can be woken by another thread while tasks are runnable.
    pub fn has_busy_remote_wakers(self) -> bool {
        match self {
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => false,
            _ => self.has_remote_wakers(),
        }
    }

    /// Whether an aborted task is dropped at once, also one that waits.
    pub fn aborts(self) -> bool {
        match self {
            Arm::FuturesUnordered | Arm::BoxedLoop => false,
            #[cfg(feature = "rivals")]
            Arm::Published => false,
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => false,
            _ => true,
        }
    }

    pub fn is_clockworker(self) -> bool {
        self == Arm::TwoQueues || Arm::POLICIES.contains(&self)
    }

    /// Whether its tasks run inside tokio.
    pub fn is_in_tokio(self) -> bool {
        match self {
            Arm::BoxedLoop => false,
            #[cfg(feature = "rivals")]
            Arm::TaskLoop | Arm::LocalPool => false,
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => false,
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => false,
            _ => true,
        }
    }

    /// Does a job once on a fresh executor, in a fresh host if it has one.
    pub fn run<J: Job>(self, job: &J) -> J::Found {
        struct OnHost<'a, J>(&'a J);

        impl<J: Job> Work for OnHost<'_, J> {
            type Found = J::Found;

            fn on<C: Contender>(&self, contender: C) -> J::Found {
                self.0.run(Hosted::new(contender))
            }
        }

        match self {
            Arm::LocalRuntime => job.run(LocalRuntime::default()),
            Arm::BoxedLoop => job.run(BoxedLoop::default()),
            #[cfg(feature = "rivals")]
            Arm::TaskLoop => job.run(task_loop::TaskLoop::default()),
            #[cfg(feature = "rivals")]
            Arm::LocalPool => job.run(rivals::LocalPool::default()),
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Arm::Monoio => job.run(monoio::Monoio::default()),
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => job.run(glommio::Glommio::default()),
            hosted => hosted.on_tokio(&OnHost(job)).expect("all others run inside tokio"),
        }
    }

    /// Does work once on a fresh executor, if that is a future inside tokio.
    pub fn on_tokio<W: Work>(self, work: &W) -> Option<W::Found> {
        Some(match self {
            Arm::LocalSet => work.on(Baseline::default()),
            Arm::Clockworker => work.on(OneQueue::as_it_comes()),
            Arm::TwoQueues => work.on(TwoQueues::alike()),
            Arm::Fifo => work.on(OneQueue::under::<RunnableFifo>()),
            Arm::ArrivalFifo => work.on(OneQueue::under::<ArrivalFifo>()),
            Arm::Qlas => work.on(OneQueue::under::<Qlas>()),
            Arm::Las => work.on(OneQueue::under::<Las>()),
            Arm::Serpt => work.on(OneQueue::under::<Serpt>()),
            Arm::FairGroups => work.on(OneQueue::under::<FairGroups>()),
            Arm::FuturesUnordered => work.on(Unordered::default()),
            #[cfg(feature = "rivals")]
            Arm::Published => work.on(rivals::Published::default()),
            #[cfg(feature = "rivals")]
            Arm::Smol => work.on(rivals::Smol::default()),
            _ => return None,
        })
    }
}
