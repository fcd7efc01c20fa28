//! What `compare` can be asked for.

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use crate::harness::Asked;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Repetitions of the background scenario, 24 s each [default: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    pub repetitions: Option<u32>,

    /// The share of clockworker's foreground queue in the background scenario; the background's is 2
    #[arg(long, value_name = "N", default_value_t = 13, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub foreground_share: u32,

    /// Nanoseconds by which each reading of clockworker's clock is delayed, to see what it costs where that is dear [default: 0]
    #[arg(long, value_name = "NS", value_parser = value_parser!(u32).range(..=1_000))]
    pub clock_cost: Option<u32>,

    /// Run this scenario only; may be given more than once [default: all]
    #[arg(long = "scenario", value_name = "NAME", value_enum)]
    pub scenarios: Vec<Scenario>,
}

const ROUNDS: &str =
    "Rounds of the overhead scenario, however long they take [default: 40, or fewer if 35 s are over]";

/// One of the two comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scenario {
    /// What a poll costs, beside LocalSet
    Overhead,
    /// What foreground latency costs beside background work
    Background,
}

impl Options {
    /// Whether `scenario` is to be run.
    pub(super) fn wants(&self, scenario: Scenario) -> bool {
        self.scenarios.is_empty() || self.scenarios.contains(&scenario)
    }
}
