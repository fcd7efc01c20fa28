//! The executors that `overhead` measures.

use clap::ValueEnum;
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

/// What a measure needs of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Tasks can be aborted.
    Abort,
    /// Tasks run when they are woken, and not otherwise.
    Wakers,
    /// Tasks can be woken from other threads, and the thread parks.
    RemoteWakes,
    /// Wakes from other threads arrive also while tasks are runnable throughout.
    BusyRemoteWakes,
    /// Tens of thousands of wakes at once do it no harm.
    Storms,
    /// It runs inside tokio.
    Tokio,
}

impl Arm {
    /// Whether this machine has what the arm needs.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(all(feature = "glommio", target_os = "linux"))]
            Arm::Glommio => glommio::is_available(),
            _ => true,
        }
    }

    /// Whether the arm can do what a measure needs.
    pub fn has(self, need: Need) -> bool {
        match need {
            Need::Abort => {
                !self.is_monoio() && !matches!(self, Arm::FuturesUnordered | Arm::BoxedLoop | Arm::Published)
            }
            Need::Wakers => self != Arm::BoxedLoop,
            Need::RemoteWakes => !matches!(self, Arm::BoxedLoop | Arm::TaskLoop),
            Need::Storms => self.has(Need::RemoteWakes) && !self.is_glommio(),
            Need::BusyRemoteWakes => self.has(Need::RemoteWakes) && !self.is_monoio(),
            Need::Tokio => self.is_hosted() || self == Arm::LocalRuntime,
        }
    }

    /// Whether it runs as one future inside tokio's runtime.
    pub fn is_hosted(self) -> bool {
        !self.is_monoio()
            && !self.is_glommio()
            && !matches!(self, Arm::LocalRuntime | Arm::LocalPool | Arm::TaskLoop | Arm::BoxedLoop)
    }

    fn is_monoio(self) -> bool {
        self.key() == "monoio"
    }

    fn is_glommio(self) -> bool {
        self.key() == "glommio"
    }

    /// The name in the tables.
    pub fn title(self) -> String {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::WokenFirst => "WokenFirst, one queue",
            Arm::TwoQueues => "WokenFirst, two queues",
            Arm::Qlas => "QLAS",
            Arm::Las => "LAS",
            Arm::Serpt => "SERPT",
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

    /// The name on the command line and in the JSON file.
    pub fn key(self) -> String {
        let value = self.to_possible_value().expect("no arm is hidden");
        value.get_name().to_owned()
    }

    /// Does `job` on a fresh executor.
    pub fn run(self, job: &impl Job) -> Vec<f64> {
        match self {
            Arm::LocalSet => job.run(Hosted::new(Baseline::default())),
            Arm::WokenFirst => job.run(Hosted::new(OneQueue::as_it_comes())),
            Arm::TwoQueues => job.run(Hosted::new(TwoQueues::alike())),
            Arm::Qlas => job.run(Hosted::new(OneQueue::qlas())),
            Arm::Las => job.run(Hosted::new(OneQueue::las())),
            Arm::Serpt => job.run(Hosted::new(OneQueue::serpt())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    use crate::arms::runner::Runner;
    use crate::workload::self_waking::SelfWaking;

    struct Sum;

    impl Job for Sum {
        fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
            let sum = Rc::new(Cell::new(0));
            runner.block_on(async {
                let task = |number| {
                    let sum = sum.clone();
                    runner.spawn(number, async move {
                        SelfWaking::new(3).await;
                        sum.set(sum.get() + number);
                    })
                };
                for handle in (0..100).map(task).collect::<Vec<_>>() {
                    handle.await;
                }
            });
            vec![sum.get() as f64]
        }
    }

    #[test]
    fn every_arm_runs_every_task_to_its_end() {
        for arm in Arm::value_variants().iter().filter(|arm| arm.is_available()) {
            assert_eq!(arm.run(&Sum), [4_950.0], "{}", arm.title());
            assert_eq!(arm.run(&Sum), [4_950.0], "{} for the second time", arm.title());
        }
    }
}
