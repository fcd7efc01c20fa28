//! [`Experiment`]: arms that are measured in the same rounds.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::pinning::Side;
use super::sample::Sample;

/// Arms that are compared, and how a sample of one is taken.
///
/// The harness measures the first arm twice in each round, as two [places](super::rounds::places): what differs between
/// these two is what the method cannot tell from nothing (A/A).
pub trait Experiment {
    /// What `--only` calls it. Several experiments can have one name.
    fn part(&self) -> &str;

    /// What is measured, for the table and the progress bar.
    fn title(&self) -> &str;

    /// The titles of the arms, the base first.
    fn arms(&self) -> &[String];

    /// Rounds, unless `--rounds` gives a number or the run is a quick one.
    fn rounds(&self) -> u32 {
        DEFAULT_ROUNDS
    }

    fn processes(&self) -> Processes {
        Processes::This
    }

    /// On which side the thread is pinned that takes samples.
    fn side(&self) -> Side {
        Side::Measured
    }

    /// What follows each other in a round: all places go through the first phase, then through the second. The samples of
    /// a place are put together.
    fn phases(&self) -> usize {
        1
    }

    /// The place in [`arms`](Experiment::arms) of the arm that a figure is compared with.
    fn base(&self, _figure: &str) -> usize {
        0
    }

    /// Starts what has to be there for all rounds, as servers: one for each of these places, which are places in
    /// [`arms`](Experiment::arms). The thread is not pinned yet.
    fn start(&mut self, _places: &[usize]) -> Result<()> {
        Ok(())
    }

    /// Measures an arm once.
    fn sample(&mut self, window: &Window) -> Result<Sample>;
}

/// Enough for an interval that leaves out the six smallest and the six largest ratios.
pub const DEFAULT_ROUNDS: u32 = 24;

/// Which sample is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub round: u32,
    pub phase: usize,
    /// The place in the round's list: 0 and 1 are the base and the base again.
    pub place: usize,
    /// The place in [`Experiment::arms`].
    pub arm: usize,
}

/// Which processes take the samples.
///
/// Where a program's code and memory lie is settled once in a process, and polls of some nanoseconds depend on it: what one
/// process finds again and again another one may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// This one takes all.
    This,
    /// Each round has a process of its own, which takes its samples once before they count.
    ForARound,
    /// Each sample has a process of its own.
    ForASample,
}

type Take = Box<dyn FnMut(&Window) -> Result<Sample>>;

/// An experiment whose samples a function takes.
pub struct Sampling {
    part: &'static str,
    title: String,
    arms: Vec<String>,
    rounds: u32,
    processes: Processes,
    side: Side,
    base: fn(&str) -> usize,
    take: Take,
}

impl Sampling {
    pub fn new(
        part: &'static str,
        title: impl Into<String>,
        arms: Vec<String>,
        take: impl FnMut(&Window) -> Result<Sample> + 'static,
    ) -> Self {
        let (title, take) = (title.into(), Box::new(take));
        let (rounds, processes, side) = (DEFAULT_ROUNDS, Processes::This, Side::Measured);
        Sampling { part, title, arms, rounds, processes, side, base: |_figure| 0, take }
    }

    pub fn rounds(self, rounds: u32) -> Self {
        Sampling { rounds, ..self }
    }

    pub fn processes(self, processes: Processes) -> Self {
        Sampling { processes, ..self }
    }

    pub fn side(self, side: Side) -> Self {
        Sampling { side, ..self }
    }

    /// Says which arm a figure is compared with, by its place.
    pub fn base(self, base: fn(&str) -> usize) -> Self {
        Sampling { base, ..self }
    }
}

impl Experiment for Sampling {
    fn part(&self) -> &str {
        self.part
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn arms(&self) -> &[String] {
        &self.arms
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn processes(&self) -> Processes {
        self.processes
    }

    fn side(&self) -> Side {
        self.side
    }

    fn base(&self, figure: &str) -> usize {
        (self.base)(figure)
    }

    fn sample(&mut self, window: &Window) -> Result<Sample> {
        (self.take)(window)
    }
}
