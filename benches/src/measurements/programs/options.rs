//! What `programs` can be asked for.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};

use super::list;
use super::program::{Arm, Program};
use crate::harness::Asked;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these programs only, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true, value_parser = names())]
    pub only: Vec<String>,

    /// Say which programs there are, and run none
    #[arg(long)]
    #[serde(skip)]
    pub list: bool,
}

const ROUNDS: &str = "Rounds of every program, however long they take [default: 20, or fewer where they take over 10 s; all in all about three minutes]";

impl Options {
    /// The programs to run.
    pub(super) fn programs(&self) -> impl Iterator<Item = [&'static Program; 2]> {
        let named = |key| self.only.is_empty() || self.only.iter().any(|name| name == key);
        list::programs().filter(move |[program, _]| named(program.key))
    }
}

/// One sample of a program, for a process of its own.
#[derive(Args, Clone, Debug)]
pub struct SampleOptions {
    /// Which
    #[arg(value_parser = names().try_map(|name| find(&name).ok_or("there is no such program")))]
    pub(super) program: [&'static Program; 2],

    /// With whose imports
    #[arg(value_enum)]
    pub(super) arm: Arm,

    /// As in `programs`
    #[arg(long)]
    pub(super) quick: bool,

    /// As in `programs`
    #[arg(long)]
    pub(super) seed: u64,
}

fn names() -> PossibleValuesParser {
    list::programs().map(|[program, _]| program.key).into()
}

fn find(name: &str) -> Option<[&'static Program; 2]> {
    list::programs().find(|[program, _]| program.key == name)
}
