//! What every measurement can be asked for.

use std::ops::Deref;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

/// The options of every measurement, for the command line and for the file of results.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Common {
    /// A run of seconds through the same code: shows that everything works, measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Rounds, in each of which every arm is measured, however long they take
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..=100_000))]
    pub rounds: Option<u32>,

    /// Processes that take the rounds in turn, as a program is laid out differently in each [default: 4 for `compare`, else 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=64))]
    pub processes: Option<u32>,

    /// Be one of these processes
    #[arg(long, hide = true)]
    #[serde(skip)]
    pub is_worker: bool,

    /// Exit with status 1 if a bar is missed
    #[arg(long, conflicts_with = "quick")]
    #[serde(skip)]
    pub enforce: bool,

    /// Where every random choice starts: the order of the arms, arrivals, work, resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write the results by round and the facts of the machine to FILE as JSON
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub json: Option<PathBuf>,
}

/// What one measurement is asked for: what every one can be, and its own options, which it has by their names.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub struct Asked<O: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: Common,

    #[command(flatten)]
    #[serde(flatten)]
    pub own: O,
}

impl<O: Args> AsRef<Common> for Asked<O> {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl<O: Args> Deref for Asked<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.own
    }
}

/// The options that a line of arguments gives.
pub fn options_of<O: Args>(line: &str) -> Result<O, clap::Error> {
    let command = O::augment_args(clap::Command::new("measurement").no_binary_name(true));
    O::from_arg_matches(&command.try_get_matches_from(line.split_whitespace())?)
}

/// What is given, or what is usual.
pub fn or_default<T: Clone>(given: &[T], usual: &[T]) -> Vec<T> {
    if given.is_empty() { usual.to_vec() } else { given.to_vec() }
}

/// What is given, or what is usual, in the order of its kind.
pub fn chosen<T: ValueEnum + PartialEq + 'static>(given: &[T], usual: &[T]) -> impl Iterator<Item = T> {
    let wanted = or_default(given, usual);
    T::value_variants().iter().filter(move |value| wanted.contains(value)).cloned()
}

/// The base twice (A/A), and then what else is chosen.
pub fn base_and_chosen<T: ValueEnum + PartialEq + 'static>(base: T, given: &[T], usual: &[T]) -> Vec<T> {
    let others = chosen(given, usual).filter(|value| *value != base);
    [base.clone(), base.clone()].into_iter().chain(others).collect()
}
