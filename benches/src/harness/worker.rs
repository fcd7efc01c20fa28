//! Samples that are taken in processes of their own.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::child::{self, Child};
use super::experiment::{Experiment, Processes, Window};
use super::pinning::Pinning;
use super::rounds::places;
use super::run::{self, Measurement};
use super::sample::Sample;

#[derive(Serialize, Deserialize)]
struct Question {
    /// The place of the experiment among those that were chosen.
    experiment: usize,
    windows: Vec<Window>,
}

/// Where the samples of an experiment come from.
pub struct Source<'a> {
    /// The arguments that make a process of this program have the same experiments.
    line: &'a [String],
    /// The place of the experiment among them.
    experiment: usize,
}

impl<'a> Source<'a> {
    pub fn new(line: &'a [String], experiment: usize) -> Self {
        Source { line, experiment }
    }

    /// Gets ready. Whether it is this thread that takes samples.
    pub fn begin(&self, experiment: &mut dyn Experiment, places: &[usize]) -> Result<bool> {
        let here = experiment.processes() == Processes::This;
        if here {
            experiment.start(places)?;
        }
        Ok(here)
    }

    /// The samples of a round's windows.
    pub fn take(
        &self,
        experiment: &mut dyn Experiment,
        windows: Vec<Window>,
    ) -> Result<Vec<(Window, Sample)>> {
        let samples = match experiment.processes() {
            Processes::This => return take(experiment, &windows),
            Processes::ForARound => vec![self.ask(windows)?],
            Processes::ForASample => {
                windows.into_iter().map(|window| self.ask(vec![window])).collect::<Result<_>>()?
            }
        };
        Ok(samples.into_iter().flatten().collect())
    }

    /// Has a new process take samples.
    fn ask(&self, windows: Vec<Window>) -> Result<Vec<(Window, Sample)>> {
        let mut child = Child::start(self.line.iter().map(String::as_str).chain(["--worker"]))?;
        child.ask(&Question { experiment: self.experiment, windows })
    }
}

/// Takes samples in this process.
fn take(experiment: &mut dyn Experiment, windows: &[Window]) -> Result<Vec<(Window, Sample)>> {
    windows.iter().map(|window| Ok((*window, experiment.sample(window)?))).collect()
}

/// Is such a process.
pub fn work(measurement: &dyn Measurement) -> Result<()> {
    let pinning = Pinning::detect();
    let mut experiments = run::chosen(measurement, &pinning)?;
    let quick = measurement.options().quick;
    child::answer(|Question { experiment, windows }: Question| {
        let (_, experiment) = experiments.get_mut(experiment).context("there is no such experiment")?;
        experiment.start(&places(experiment.arms().len()))?;
        pinning.pin(experiment.side());
        if experiment.processes() == Processes::ForARound && !quick {
            // What is only there the first time, as memory that has never been used, is not measured.
            take(&mut **experiment, &windows)?;
        }
        take(&mut **experiment, &windows)
    })
}
