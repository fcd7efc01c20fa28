//! What `programs` can be asked for.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};

use super::arm::Arm;
use super::list::PROGRAMS;
use super::program::Program;

/// What to measure, and how often.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// A run of seconds through the same code: shows that everything works, measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Run these programs only, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true, value_parser = names())]
    pub only: Vec<String>,

    /// Say which programs there are, and run none
    #[arg(long)]
    pub list: bool,

    /// Rounds of every program, however long they take [default: 20, or fewer where they take over 10 s; all in all about three minutes]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..=100_000))]
    pub rounds: Option<u32>,

    /// Where every random choice starts: the order of the arms, who sends to whom, resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write the raw samples, the results and the facts of the machine to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Options {
    /// The programs to run.
    pub fn programs(&self) -> Vec<&'static Program> {
        let wanted =
            |program: &&Program| self.only.is_empty() || self.only.iter().any(|name| name == program.key);
        PROGRAMS.iter().filter(wanted).collect()
    }
}

/// One sample of a program, for a process of its own.
#[derive(Args, Clone, Debug)]
pub struct SampleOptions {
    /// Which
    #[arg(value_parser = names())]
    pub program: String,

    /// By whom it is run
    #[arg(value_enum)]
    pub arm: Arm,

    /// As in `programs`
    #[arg(long)]
    pub quick: bool,

    /// As in `programs`
    #[arg(long)]
    pub seed: u64,
}

fn names() -> PossibleValuesParser {
    PROGRAMS.iter().map(|program| program.key).into()
}
