//! What can be asked of the simulator.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use clockworker_schedulers::simulate::{POLICIES, Policy, Service};

use crate::per_queue::{Load, PerQueue, Time};
use crate::queue_spec::{QueueSpec, Shares};
use crate::target::Target;

/// Asks the schedulers in virtual time: response times, slowdowns, and which of them meet a target.
#[derive(Clone, Debug, Parser)]
#[command(name = "clockworker-simulate", version, after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// How long jobs are, for one queue or for all that are not named [default: exponential:mean=20us]
    #[arg(long, value_name = "[QUEUE=]KIND:…")]
    pub(crate) service: Vec<PerQueue<Service>>,

    /// The part of the thread that jobs ask for, from 0 up, or `busy` for a queue that always has work [default: 0.7]
    #[arg(long, value_name = "[QUEUE=]LOAD")]
    pub(crate) load: Vec<PerQueue<Load>>,

    /// The longest poll; a job yields after each [default: 20us]
    #[arg(long, value_name = "[QUEUE=]TIME")]
    pub(crate) quantum: Vec<PerQueue<Time>>,

    /// Jobs from a CSV file in place of random ones; with --load, at such a distance as makes that load
    #[arg(long, value_name = "FILE", conflicts_with_all = ["service", "groups", "jobs"])]
    pub(crate) trace: Option<PathBuf>,

    /// What each poll takes besides its work
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    pub(crate) overhead: Time,

    /// Schedulers to try, separated by commas, on the queues that have none of their own [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = scheduler)]
    pub(crate) schedulers: Vec<Policy>,

    /// Queues, separated by commas [default: all:1]
    #[arg(long, value_name = "NAME:SHARE[:REQUEST][:SCHEDULER]", value_delimiter = ',')]
    pub(crate) queues: Vec<QueueSpec>,

    /// Shares to try, in the order of the queues, separated by commas: 1:1,9:1 [default: the queues' own]
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    pub(crate) shares: Vec<Shares>,

    /// Put each job into one of N groups (tenants), all equally likely; at most 1,000,000 [default: a group of its own]
    #[arg(long, value_name = "[QUEUE=]N")]
    pub(crate) groups: Vec<PerQueue<u32>>,

    /// What is to be met, such as "p99 <= 2ms"; may be given more than once
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Vec<Target>,

    /// Jobs in all
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10..=10_000_000_000))]
    pub(crate) jobs: u64,

    /// Where every random choice starts
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write the results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Hold the simulator to the formulas of queueing theory, and fail where it is more than 2 % off
    #[arg(long, conflicts_with_all = ["service", "load", "quantum", "trace", "overhead", "schedulers", "queues", "shares", "groups", "target", "jobs"])]
    pub(crate) theory: bool,

    /// With --theory, a ten-thousandth of the jobs: shows that everything works, proves nothing
    #[arg(long, requires = "theory")]
    pub(crate) quick: bool,

    /// Threads to run on; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

const AFTER_HELP: &str = "\
Distributions: constant:size=20us, exponential:mean=20us, bimodal:short=10us,long=10ms,part=0.005,
               pareto:alpha=1.1,min=10us,max=100ms
Targets:       [QUEUE] p50|p90|p99|p99.9|…|mean|max [slowdown] <= VALUE
Traces:        columns `arrival` and `service`, `queue`, `group`, `polls` and `response` if wanted; times in ns, or with a unit
               (12.5us). `clockworker_observe::Workload` writes one of a live run

  clockworker-simulate --load 0.9 --service pareto:alpha=1.1,min=10us,max=100ms --target 'p99 slowdown <= 10'
  clockworker-simulate --queues front:1,back:1:qlas --shares 1:1,9:1,99:1 --load front=0.3 --load back=busy \\
      --quantum back=100us --target 'front p99 <= 1ms'
  clockworker-simulate --trace requests.csv --load 0.8 --schedulers fifo,qlas";

impl Options {
    /// How many threads may run.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        self.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }

    /// Ends the program as a wrong command line does.
    pub(crate) fn refuse(&self, why: &anyhow::Error) -> ! {
        Self::command().error(ErrorKind::ValueValidation, format!("{why:#}")).exit()
    }
}

fn scheduler(name: &str) -> Result<Policy, String> {
    Policy::named(name).ok_or_else(|| {
        let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name()).collect();
        format!("there are {}", names.join(", "))
    })
}
