//! What `overhead` can be asked for.

use std::path::PathBuf;

use clap::Args;

use super::arm::Arm;
use super::section::Section;

/// What to measure, on what, and how often.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = AFTER_HELP)]
pub struct Options {
    /// A run of seconds through the same code: shows that everything works, measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Run these sections only, separated by commas [default: all]
    #[arg(long, value_name = "SECTIONS", value_enum, value_delimiter = ',')]
    pub only: Vec<Section>,

    /// Measure these arms only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, value_name = "ARMS", value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// Rounds of every measure, however long they take [default: 30, or fewer where they take over a minute; all in all about ten minutes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub rounds: Option<u32>,

    /// Where every random choice starts: the order of the arms, Zipf's groups, resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write the raw samples, the results and the facts of the machine to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// The folder in which the run gets one of its own, for its artefacts [default: overhead in the target folder]
    #[arg(long, value_name = "DIR")]
    pub artefacts: Option<PathBuf>,
}

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

impl Options {
    /// The sections to run.
    pub fn sections(&self) -> impl Iterator<Item = Section> + '_ {
        Section::ALL.into_iter().filter(|section| self.only.is_empty() || self.only.contains(section))
    }

    /// The arms to measure, LocalSet first.
    pub fn arms(&self) -> Vec<Arm> {
        let wanted = |arm: &Arm| *arm == Arm::LocalSet || self.arms.is_empty() || self.arms.contains(arm);
        Arm::all().into_iter().filter(wanted).filter(|arm| arm.is_available()).collect()
    }
}
