//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clockworker_benches::workload::shape::Shape;

use crate::contestant::Contestant;

/// Where files go that are not asked to go elsewhere.
pub(crate) const DIRECTORY: &str = "target/profiling";

/// Shows where the time goes in tasks that do nothing but yield.
#[derive(Debug, Parser)]
#[command(name = "clockworker-profiling", version)]
pub(crate) struct Line {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the workload over and over, for a profiler outside: samply, perf, callgrind
    Run(RunOptions),
    /// Profile the workload with pprof-rs: an SVG flame graph and a protobuf profile, without privileges
    Flamegraph(FlamegraphOptions),
    /// Say in nanoseconds per poll what the time goes to, in a table that sums to the total
    Phases(PhasesOptions),
    /// Profile three queues with pprof-rs, and say whose the time is by the profile, the timeline and the accounts
    #[cfg(feature = "observe")]
    Queues(QueuesOptions),
    /// Print the commands that count instructions by function, with callgrind
    Callgrind {
        /// The executor
        #[arg(long, value_enum, default_value = "runnable-fifo")]
        executor: Contestant,
        #[command(flatten)]
        workload: Workload,
    },
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    /// The executor
    #[arg(long, value_enum, default_value = "runnable-fifo")]
    pub(crate) executor: Contestant,

    #[command(flatten)]
    pub(crate) workload: Workload,

    #[command(flatten)]
    pub(crate) length: Length,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FlamegraphOptions {
    #[command(flatten)]
    pub(crate) run: RunOptions,

    /// Where the flame graph goes
    #[arg(long, value_name = "FILE", default_value_os_t = Path::new(DIRECTORY).join("flamegraph.svg"))]
    pub(crate) svg: PathBuf,

    /// Where the profile goes, in the format of `go tool pprof`
    #[arg(long, value_name = "FILE", default_value_os_t = Path::new(DIRECTORY).join("profile.pb"))]
    pub(crate) proto: PathBuf,

    /// Samples per second of CPU time; the kernel gives no more than its tick has, often 250
    #[arg(long, value_name = "HZ", default_value_t = 997, value_parser = clap::value_parser!(i32).range(1..=10_000))]
    pub(crate) frequency: i32,
}

#[cfg(feature = "observe")]
#[derive(Args, Clone, Debug)]
pub(crate) struct QueuesOptions {
    /// How long the queues have work
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    pub(crate) seconds: Duration,

    /// Where the flame graph goes
    #[arg(long, value_name = "FILE", default_value_os_t = Path::new(DIRECTORY).join("queues.svg"))]
    pub(crate) svg: PathBuf,

    /// Samples per second of CPU time; the kernel gives no more than its tick has, often 250
    #[arg(long, value_name = "HZ", default_value_t = 997, value_parser = clap::value_parser!(i32).range(1..=10_000))]
    pub(crate) frequency: i32,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PhasesOptions {
    /// The executors, separated by commas; they take turns
    #[arg(long = "executor", value_enum, value_delimiter = ',', num_args = 1..)]
    #[arg(default_values = ["local-set", "runnable-fifo", "two-queues", "qlas", "las", "serpt"])]
    pub(crate) executors: Vec<Contestant>,

    #[command(flatten)]
    pub(crate) workload: Workload,

    #[command(flatten)]
    pub(crate) length: Length,

    /// Say below the table which functions each phase is made of, N at most
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) functions: usize,
}

/// What the tasks are.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// Tasks, all spawned before any is awaited
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) tasks: u32,

    /// How often each of them wakes itself and yields
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=1_000_000_000))]
    pub(crate) yields: u32,
}

impl Workload {
    pub(crate) fn shape(self) -> Shape {
        Shape::new(self.tasks as usize, self.yields)
    }
}

/// How long to go on.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Length {
    /// Begin rounds for so long; a round is all tasks from spawn to join
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    pub(crate) seconds: Duration,

    /// Or do so many rounds, however long they take
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: Option<u64>,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a number of seconds from 0 to 900");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    let seconds = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    if seconds > Duration::from_secs(900) { Err(wrong()) } else { Ok(seconds) }
}
