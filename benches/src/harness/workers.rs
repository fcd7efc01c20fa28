//! [`Workers`]: processes that take the rounds of a measurement in turn.
//!
//! Where a program's code and memory lie is settled once in a process, and polls of some nanoseconds depend on it. So what one
//! process finds again and again another one may not.

use std::env;

use indicatif::ProgressBar;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::child::{self, Child};
use super::experiment::Experiment;
use super::measurement::Measurement;
use super::pinning::Pinning;
use super::report::Cell;
use super::rounds::{self, ByArm, Order};
use super::sample::Sample;
use crate::failure::Failure;

pub(crate) struct Workers(Vec<Child>);

#[derive(Serialize, Deserialize)]
enum Question {
    /// Starts the next part of the plan. The number is of what is drawn for it: by part and worker.
    Begin(u64),
    Round(u64),
}

#[derive(Serialize, Deserialize)]
enum Answer<S> {
    Begun(Vec<Cell<S>>),
    Samples(ByArm<Sample>),
}

impl Workers {
    /// Starts so many processes with the command line of this one.
    pub(crate) fn start(number: u32) -> Result<Self, Failure> {
        let arguments: Vec<String> = env::args().skip(1).chain(["--is-worker".to_owned()]).collect();
        let start = |_| Child::start("a process that measures", &arguments);
        Ok(Workers((0..number).map(start).collect::<Result<_, _>>()?))
    }

    pub(super) fn number(&self) -> usize {
        self.0.len()
    }

    /// Has each start the next part of the plan. The cells.
    pub(super) fn begin<S: DeserializeOwned>(&mut self, part: u64) -> Result<Vec<Cell<S>>, Failure> {
        let mut cells = Vec::new();
        for (worker, child) in self.0.iter_mut().enumerate() {
            // Each has orders of its own, or the first rounds would all have the same.
            match child.ask(&Question::Begin(part | (worker as u64) << 32))? {
                Answer::Begun(begun) => cells = begun,
                Answer::Samples(_) => return Err(unexpected()),
            }
        }
        Ok(cells)
    }

    /// Has the one whose turn it is take a round.
    pub(super) fn round(&mut self, round: u64) -> Result<ByArm<Sample>, Failure> {
        let turn = round as usize % self.0.len();
        match self.0[turn].ask(&Question::Round(round))? {
            Answer::<serde_json::Value>::Samples(samples) => Ok(samples),
            Answer::Begun(_) => Err(unexpected()),
        }
    }
}

fn unexpected() -> Failure {
    Failure::run("a process that measures answers what was not asked")
}

/// A part of the plan that a worker has begun.
struct Begun<S> {
    experiment: Box<dyn Experiment<S>>,
    cells: Vec<Cell<S>>,
    order: Order,
}

/// Is such a process.
pub(crate) fn work<M: Measurement>(options: &M::Options) -> Result<(), Failure> {
    let (pinning, progress) = (Pinning::detect(), ProgressBar::hidden());
    let mut plan = M::plan(options, &pinning)?.into_iter();
    let mut begun: Option<Begun<M::Shape>> = None;
    child::answer(|question| match question {
        Question::Begin(drawn) => {
            // What the part before has started ends first.
            begun = None;
            pinning.release();
            let mut experiment = plan.next().ok_or_else(unexpected)?;
            experiment.start()?;
            pinning.pin(experiment.side());
            let order = rounds::begin(&mut *experiment, drawn, options.as_ref(), &progress)?;
            let cells = experiment.cells();
            begun = Some(Begun { cells: experiment.cells(), experiment, order });
            Ok(Answer::Begun(cells))
        }
        Question::Round(round) => {
            let Begun { experiment, cells, order } = begun.as_mut().ok_or_else(unexpected)?;
            Ok(Answer::Samples(rounds::run_round(&mut **experiment, cells, round, order, &progress)?))
        }
    })
}
