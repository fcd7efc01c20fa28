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

/// How samples are taken.
pub struct Source<'a> {
    /// The arguments that make a process of this program have the same experiments.
    line: &'a [String],
    /// The place of the experiment among them.
    experiment: usize,
    /// The process of two rounds, and which two they are.
    child: Option<(u32, Child)>,
}

impl<'a> Source<'a> {
    pub fn new(line: &'a [String], experiment: usize) -> Self {
        Source { line, experiment, child: None }
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
        &mut self,
        experiment: &mut dyn Experiment,
        windows: Vec<Window>,
    ) -> Result<Vec<(Window, Sample)>> {
        match experiment.processes() {
            Processes::This => take(experiment, windows),
            Processes::ForASample => {
                let one = |window: Window| self.start()?.ask(&self.question(vec![window]));
                let samples: Result<Vec<Vec<(Window, Sample)>>> = windows.into_iter().map(one).collect();
                Ok(samples?.into_iter().flatten().collect())
            }
            Processes::ForTwoRounds => {
                let question = self.question(windows);
                self.child_for(question.windows[0].round)?.ask(&question)
            }
        }
    }

    fn question(&self, windows: Vec<Window>) -> Question {
        Question { experiment: self.experiment, windows }
    }

    fn start(&self) -> Result<Child> {
        Child::start(self.line.iter().map(String::as_str).chain(["--worker"]))
    }

    /// The process for a round. A new one takes a round before that is not counted.
    fn child_for(&mut self, round: u32) -> Result<&mut Child> {
        let pair = round / 2;
        if self.child.as_ref().is_none_or(|(started, _)| *started != pair) {
            self.child = None;
            self.child = Some((pair, self.start()?));
        }
        self.child.as_mut().map(|(_, child)| child).context("it was just started")
    }
}

/// Takes samples in this process.
fn take(experiment: &mut dyn Experiment, windows: Vec<Window>) -> Result<Vec<(Window, Sample)>> {
    windows.into_iter().map(|window| Ok((window, experiment.sample(&window)?))).collect()
}

/// Is such a process.
pub fn work(measurement: &dyn Measurement) -> Result<()> {
    let pinning = Pinning::detect();
    let mut experiments = run::chosen(measurement, &pinning)?;
    let mut is_warm = measurement.options().quick;
    let mut started = false;
    child::answer(|Question { experiment, windows }: Question| {
        let (_, experiment) = experiments.get_mut(experiment).context("there is no such experiment")?;
        if !started {
            started = true;
            experiment.start(&places(experiment.arms().len()))?;
            pinning.pin(experiment.side());
        }
        if !is_warm && experiment.processes() == Processes::ForTwoRounds {
            is_warm = true;
            take(&mut **experiment, windows.clone())?;
        }
        take(&mut **experiment, windows)
    })
}
