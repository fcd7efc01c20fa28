//! What `overhead` can be asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::arm::Arm;
use crate::harness::{Asked, base_and_chosen, chosen};

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(after_long_help = AFTER_HELP, mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these sections only, separated by commas [default: all]
    #[arg(long, value_name = "SECTIONS", value_enum, value_delimiter = ',')]
    pub only: Vec<Section>,

    /// Measure these arms only, separated by commas; LocalSet is always among them, twice [default: all]
    #[arg(long, value_name = "ARMS", value_enum, value_delimiter = ',')]
    #[serde(skip_deserializing)]
    // The program that reads a file may have been built without some of them.
    pub arms: Vec<Arm>,

    /// The folder in which the run gets one of its own, for its artefacts [default: overhead in the target folder]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub artefacts: Option<PathBuf>,
}

const ROUNDS: &str = "Rounds of every measure, however long they take [default: 30, or fewer where they take over a minute; all in all about ten minutes]";

const AFTER_HELP: &str = "\
Where a table has '–' the arm cannot do what is measured:
  boxed_loop    polls boxed futures whether they were woken or not: nothing that needs a waker, no aborts
  task_loop     has a queue of its own thread only: no wakes from other threads, does not park
  futures_unordered, monoio  cannot abort a task
  published     aborts, but drops an aborted task that was parked only together with the executor
  monoio        takes wakes from other threads only when nothing is runnable: none while it is busy
  glommio       counts every wake on its way from another thread in 16 bits, and panics in a storm
  host polls    only where a host polls the executor: not for runtimes, nor for loops that are their own host
  yield_now     tokio's works only inside tokio
glommio itself needs Linux, io_uring and the feature `glommio` of this package; it is left out if it cannot be had";

/// A part of the suite, which can be run by itself. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Self-waking polls at 1 to 1,000,000 tasks, and tokio's own yield_now
    Polls,
    /// Spawn and join, spawn and detach, abort; a task in a JoinSet (clockworker only)
    Spawn,
    /// Wakes from the same thread, from another, and storms of them
    Wake,
    /// 1 to 1,024 queues: all runnable, one runnable, churning (clockworker only)
    Queues,
    /// 1 to 100,000 groups, uniform and Zipf (clockworker only)
    Groups,
    /// Bytes per parked task; allocations per spawn, poll and wake
    Memory,
    /// Host polls and CPU time in an idle second
    Idle,
}

impl Section {
    /// Whether clockworker is compared with itself and not with LocalSet.
    pub(super) fn is_of_itself(self) -> bool {
        matches!(self, Section::Queues | Section::Groups)
    }
}

impl Options {
    /// The sections to run.
    pub(super) fn sections(&self) -> impl Iterator<Item = Section> {
        chosen(&self.only, Section::value_variants())
    }

    /// The arms to measure: first LocalSet and LocalSet again.
    pub(super) fn arms(&self) -> Vec<Arm> {
        let mut arms = base_and_chosen(Arm::LocalSet, &self.arms, Arm::value_variants());
        arms.retain(|arm| arm.is_available());
        arms
    }
}
