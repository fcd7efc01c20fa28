//! A measurement: a subcommand that measures something, and what it says of it.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::experiment::Experiment;
use super::facts;
use super::options::Common;
use super::report::{Cell, Report};
use crate::failure::Failure;
use crate::harness::pinning::Pinning;
use crate::page::Chapter;
use crate::stats::Conclusion;

pub type Plan<S> = Vec<Box<dyn Experiment<S>>>;

/// A subcommand that measures something. [`command`](super::command::command) runs it, and `report` reads its files.
pub trait Measurement: Sized {
    /// What it can be asked for, with [`Common`] flattened into it.
    type Options: Args + Clone + Serialize + DeserializeOwned + AsRef<Common>;

    /// What a cell is measured for: its place among the others, by which chapters and bars find it.
    type Shape: Serialize + DeserializeOwned;

    const NAME: &'static str;
    const SCHEMA: &'static str;
    /// The version of those files' form. It goes up when a field changes its meaning or goes away.
    const SCHEMA_VERSION: u32 = 2;
    /// What it answers.
    const QUESTION: &'static str;
    /// What it says of a report.
    const CHAPTER: fn(&Report<Self>) -> Chapter;

    /// The subcommand with the arguments for `report --run`, which wants everything.
    const ARGUMENTS: &'static [&'static str] = &[Self::NAME];

    const HOST: &'static str = facts::TOKIO;

    /// How many processes take the rounds in turn, unless `--processes` gives a number, or the run is a quick one.
    const PROCESSES: u32 = 1;

    /// Nothing has been measured when this finds that what is asked for makes no sense.
    fn plan(options: &Self::Options, pinning: &Pinning) -> Result<Plan<Self::Shape>, Failure>;

    /// The folder in which each run leaves one of its own with its report, if there is such a folder.
    fn artefacts(_options: &Self::Options) -> Option<PathBuf> {
        None
    }

    fn bars(options: &Self::Options, cells: &[Cell<Self::Shape>]) -> Vec<Conclusion>;

    /// What is still to be done with a report that has been written and printed. What fails here is the run's exit status.
    fn judge(_report: &Report<Self>) -> Result<(), Failure> {
        Ok(())
    }
}
