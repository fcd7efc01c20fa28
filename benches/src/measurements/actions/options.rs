//! What `actions` can be asked for.

use std::path::PathBuf;

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

use super::changes::{Change, Changes};
use super::queues::Shares;
use super::schema::Setup;
use crate::harness::{Asked, base_and_chosen, or_default};
use crate::measurements::arm::Arm;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Numbers of instances, separated by commas [default: 1000,10000,50000,500000; of `--steps` the first two]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u64).range(1..=2_000_000))]
    pub instances: Vec<u64>,

    /// Actions of each instance [default: 4, and 1 where there are more than 100,000 instances]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=64))]
    pub actions: Option<u32>,

    /// Measure the changes one after the other, each with those before it, on LocalSet and with queues
    #[arg(long, conflicts_with = "without")]
    pub steps: bool,

    /// Leave these changes out, separated by commas
    #[arg(long, value_name = "CHANGES", value_enum, value_delimiter = ',')]
    pub without: Vec<Change>,

    /// Measure these arms only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, visible_alias = "only", value_name = "ARMS", value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// Workers, each a task
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u16).range(1..=10_000))]
    pub workers: u16,

    /// Shares of the queues start, dispatch, completion (with the workers) and flush
    #[arg(long, value_name = "START,DISPATCH,COMPLETION,FLUSH", default_value = "1,4,8,1", value_parser = shares)]
    pub shares: Shares,

    #[command(flatten)]
    #[serde(skip)]
    pub plain: Plain,
}

/// One run as a plain program, which measures nothing.
#[derive(Args, Clone, Debug, Default)]
pub struct Plain {
    /// Run once, on one executor, in a database that stays
    #[arg(long, requires = "database", conflicts_with_all = ["steps", "arms", "rounds", "json", "quick", "enforce"])]
    pub once: bool,

    /// `--once`: the executor
    #[arg(long, value_enum, requires = "once", default_value = "clockworker")]
    pub executor: Executor,

    /// `--once`: the database, a file
    #[arg(long, value_name = "PATH", requires = "once")]
    pub database: Option<PathBuf>,

    /// `--once`: go on with the run that the database holds, with its instances and changes
    #[arg(long, requires = "once", conflicts_with_all = ["instances", "actions", "without"])]
    pub resume: bool,

    /// Kill the process at this moment; two pass with each transaction
    #[arg(long, hide = true, requires = "once")]
    pub kill_at: Option<u64>,

    /// Interrupt the process at this moment
    #[arg(long, hide = true, requires = "once")]
    pub interrupt_at: Option<u64>,

    /// Let the database have no more pages than these
    #[arg(long, hide = true, requires = "once")]
    pub most_pages: Option<u32>,
}

const ROUNDS: &str = "Rounds, in each of which every arm runs once [default: 10, fewer of many instances]";

const INSTANCES: [u64; 4] = [1_000, 10_000, 50_000, 500_000];

/// Above so many instances each has one action, unless `--actions` says otherwise: the run is to end in minutes.
const MANY: u64 = 100_000;

fn shares(text: &str) -> Result<Shares, String> {
    let shares: Option<Vec<u32>> = text.split(',').map(|share| share.parse().ok()).collect();
    let shares = shares.and_then(|shares| Shares::try_from(shares).ok());
    let valid = shares.filter(|shares| shares.iter().all(|share| (1..=10_000).contains(share)));
    valid.ok_or_else(|| "wanted are four numbers from 1 to 10000, separated by commas".to_owned())
}

impl Options {
    pub(super) fn instances(&self) -> Vec<u64> {
        let usual = match (self.common.quick, self.steps) {
            (true, _) => &[60][..],
            (_, true) => &INSTANCES[..2],
            _ => &INSTANCES,
        };
        or_default(&self.instances, usual)
    }

    pub(super) fn setup(&self, instances: u64, changes: Changes) -> Setup {
        let actions = self.actions.unwrap_or(if instances > MANY { 1 } else { 4 });
        Setup { instances, actions, changes }
    }

    /// What is run: the steps, or everything but what is left out.
    pub(super) fn steps(&self) -> Vec<(&'static str, Changes)> {
        match self.steps {
            true => Changes::steps().collect(),
            false => vec![("", Changes::without(&self.without))],
        }
    }

    /// The arms: LocalSet twice, then the others.
    pub(super) fn arms(&self) -> Vec<Arm> {
        use clap::ValueEnum;

        let usual = if self.steps { &[Arm::Queues][..] } else { Arm::value_variants() };
        base_and_chosen(Arm::LocalSet, &self.arms, usual)
    }
}

/// What `--once` runs on: an arm, by the name that it has among users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "lowercase")]
pub enum Executor {
    /// Clockworker with a queue for each loop
    #[default]
    Clockworker,
    /// tokio's LocalSet
    LocalSet,
}
