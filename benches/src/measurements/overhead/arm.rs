//! The executors that `overhead` measures.

use clap::ValueEnum;
use clockworker::schedulers::{FairGroups, Las, Qlas, Serpt};
use serde::Serialize;

#[cfg(all(feature = "glommio", target_os = "linux"))]
use crate::arms::glommio;
use crate::arms::loops::{BoxedLoop, TaskLoop};
#[cfg(target_os = "linux")]
use crate::arms::monoio;
use crate::arms::others::{LocalExecutor, LocalPool, LocalRuntime, Published, Unordered};
use crate::arms::runner::{Hosted, Job};
use crate::arms::{Baseline, OneQueue, TwoQueues};

/// An executor, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// tokio's LocalSet: the baseline
    LocalSet,
    /// Clockworker as it comes: one queue, WokenFirst
    WokenFirst,
    /// Clockworker with its tasks dealt out to two queues
    TwoQueues,
    /// Clockworker with quantised least attained service
    Qlas,
    /// Clockworker with least attained service
    Las,
    /// Clockworker with shortest expected remaining time
    Serpt,
    /// Clockworker with each group its share, of groups of one task here
    FairGroups,
    /// Clockworker 0.2.6, as published
    Published,
    /// tokio's LocalRuntime
    LocalRuntime,
    /// smol's LocalExecutor, inside tokio as LocalSet is
    LocalExecutor,
    /// futures' FuturesUnordered, inside tokio as LocalSet is
    FuturesUnordered,
    /// futures' LocalPool
    LocalPool,
    /// monoio's spawn
    #[cfg(target_os = "linux")]
    Monoio,
    /// glommio's spawn_local
    #[cfg(all(feature = "glommio", target_os = "linux"))]
    Glommio,
    /// A bare FIFO loop over async-task's tasks: the floor of a task cell from crates.io
    TaskLoop,
    /// A bare loop over boxed futures: the physical limit
    BoxedLoop,
}

/// The keys of arms that cannot abort a task, or drop it only later.
pub(super) const NO_ABORTS: &[&str] = &["monoio", "futures_unordered", "boxed_loop", "published"];
/// Of arms that poll tasks whether they were woken or not.
pub(super) const NO_WAKERS: &[&str] = &["boxed_loop"];
/// Of arms that take no wakes from other threads, or do not park.
pub(super) const NO_REMOTE_WAKES: &[&str] = &["boxed_loop", "task_loop"];
/// Of arms that take them only when no task is runnable, and those.
pub(super) const NO_BUSY_REMOTE_WAKES: &[&str] = &["boxed_loop", "task_loop", "monoio"];
/// Of arms that tens of thousands of wakes at once do harm to, and those.
pub(super) const NO_STORMS: &[&str] = &["boxed_loop", "task_loop", "glommio"];
/// Of arms that do not run inside tokio.
pub(super) const NOT_ON_TOKIO: &[&str] = &["local_pool", "monoio", "glommio", "task_loop", "boxed_loop"];

impl Arm {
    pub(super) fn is_available(self) -> bool {
        match self {
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => glommio::is_available(),
            _ => true,
        }
    }

    pub(crate) fn title(self) -> String {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::WokenFirst => "WokenFirst, one queue",
            Arm::TwoQueues => "WokenFirst, two queues",
            Arm::Qlas => "QLAS",
            Arm::Las => "LAS",
            Arm::Serpt => "SERPT",
            Arm::FairGroups => "FairGroups",
            Arm::Published => "clockworker 0.2.6",
            Arm::LocalRuntime => "LocalRuntime",
            Arm::LocalExecutor => "smol LocalExecutor",
            Arm::FuturesUnordered => "FuturesUnordered",
            Arm::LocalPool => "LocalPool",
            #[cfg(target_os = "linux")]
            Arm::Monoio => return format!("monoio spawn ({})", monoio::driver()),
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => "glommio spawn_local",
            Arm::TaskLoop => "async-task loop",
            Arm::BoxedLoop => "boxed futures loop",
        }
        .to_owned()
    }

    pub fn run(self, job: &impl Job) -> Vec<f64> {
        match self {
            Arm::LocalSet => job.run(Hosted::new(Baseline::default())),
            Arm::WokenFirst => job.run(Hosted::new(OneQueue::as_it_comes())),
            Arm::TwoQueues => job.run(Hosted::new(TwoQueues::alike())),
            Arm::Qlas => job.run(Hosted::new(OneQueue::under::<Qlas>())),
            Arm::Las => job.run(Hosted::new(OneQueue::under::<Las>())),
            Arm::Serpt => job.run(Hosted::new(OneQueue::under::<Serpt>())),
            Arm::FairGroups => job.run(Hosted::new(OneQueue::under::<FairGroups>())),
            Arm::Published => job.run(Hosted::new(Published::default())),
            Arm::LocalRuntime => job.run(LocalRuntime::default()),
            Arm::LocalExecutor => job.run(Hosted::new(LocalExecutor::default())),
            Arm::FuturesUnordered => job.run(Hosted::new(Unordered::default())),
            Arm::LocalPool => job.run(LocalPool::default()),
            #[cfg(target_os = "linux")]
            Arm::Monoio => job.run(monoio::Monoio::default()),
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => job.run(glommio::Glommio::default()),
            Arm::TaskLoop => job.run(TaskLoop::default()),
            Arm::BoxedLoop => job.run(BoxedLoop::default()),
        }
    }
}
