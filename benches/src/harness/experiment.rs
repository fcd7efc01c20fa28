//! An experiment: what is measured in the same rounds.

use std::time::Duration;

use super::options::Common;
use super::report::Cell;
use super::sample::Sample;
use crate::failure::Failure;
use crate::harness::pinning::Side;

/// What is measured in the same rounds: cells, the arms of each, and how one sample of an arm is taken.
pub trait Experiment<S> {
    /// Starts what has to be there before the first round, as servers. The thread is not pinned yet.
    fn start(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The cells, with arms that have no figures yet. The first arm of a cell is its base, unless
    /// [`base`](Experiment::base) says otherwise.
    fn cells(&self) -> Vec<Cell<S>>;

    /// Measures an arm once. All samples of an arm in a round are put together.
    fn sample(&mut self, window: &Window) -> Result<Sample, Failure>;

    fn rounds(&self) -> Rounds;

    fn wanted(&self, common: &Common) -> Option<u32> {
        common.rounds
    }

    fn side(&self) -> Side {
        Side::Measured
    }

    /// The key of the arm that a figure is compared with; `None` if it is compared with none.
    fn base<'a>(&self, cell: &'a Cell<S>, _figure: &str) -> Option<&'a str> {
        cell.arms.first().map(|arm| arm.key.as_str())
    }

    /// What follows each other in a round: all cells go through the first phase, then through the second.
    fn phases(&self) -> usize {
        1
    }

    /// Windows of an arm in each phase, in [balanced](super::balance::Balance) order.
    fn turns(&self) -> usize {
        1
    }

    /// How long a round takes, about, where that is known.
    fn round_takes(&self) -> Option<Duration> {
        None
    }
}

type Take = dyn Fn(&Window) -> Result<Sample, Failure>;

/// An experiment whose samples a function takes, on the core of what is measured.
pub(crate) struct Sampling<S> {
    cells: Vec<Cell<S>>,
    rounds: Rounds,
    /// How long a sample takes, about, where that is known.
    takes: Option<Duration>,
    /// Whether a figure is compared with the base's.
    is_compared: fn(&str) -> bool,
    sample: Box<Take>,
}

impl<S> Sampling<S> {
    pub(crate) fn new(
        cells: Vec<Cell<S>>,
        rounds: Rounds,
        sample: impl Fn(&Window) -> Result<Sample, Failure> + 'static,
    ) -> Self {
        Sampling { cells, rounds, takes: None, is_compared: |_| true, sample: Box::new(sample) }
    }

    pub(crate) fn with(self, rounds: Rounds) -> Self {
        Sampling { rounds, ..self }
    }

    /// The same, where a sample takes about so long.
    pub(crate) fn taking(self, time: Duration) -> Self {
        Sampling { takes: Some(time), ..self }
    }

    /// The same, where these figures alone are compared.
    pub(crate) fn comparing(self, is_compared: fn(&str) -> bool) -> Self {
        Sampling { is_compared, ..self }
    }
}

impl<S: Clone> Experiment<S> for Sampling<S> {
    fn cells(&self) -> Vec<Cell<S>> {
        self.cells.clone()
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        (self.sample)(window)
    }

    fn rounds(&self) -> Rounds {
        self.rounds
    }

    fn base<'a>(&self, cell: &'a Cell<S>, figure: &str) -> Option<&'a str> {
        cell.arms.first().filter(|_| (self.is_compared)(figure)).map(|arm| arm.key.as_str())
    }

    fn round_takes(&self) -> Option<Duration> {
        let samples: usize = self.cells.iter().map(|cell| cell.arms.len()).sum();
        Some(self.takes? * samples as u32)
    }
}

/// Which sample is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub cell: usize,
    pub arm: usize,
    /// The round; [`u64::MAX`] for the one that is not counted.
    pub round: u64,
    pub phase: usize,
    /// The number of the arm's window in the phase.
    pub turn: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Unless `--rounds` gives a number, or the run is a quick one.
    pub usual: u32,
    /// When this is over no further round is started, unless `--rounds` gives a number.
    pub limit: Option<Duration>,
    /// Whether a first round is run and not counted, unless the run is a quick one.
    pub warms_up: bool,
}

/// Fewer rounds than this give no interval worth printing.
const FEWEST: u32 = 8;

const QUICK: u32 = 2;

impl Rounds {
    /// How many are run at the most, where so many are `wanted`.
    pub fn most(&self, wanted: Option<u32>, quick: bool) -> u32 {
        wanted.unwrap_or(if quick { QUICK } else { self.usual })
    }

    /// Whether no further round is to be started, after so many in such a time.
    pub fn are_enough(&self, wanted: Option<u32>, done: u32, elapsed: Duration) -> bool {
        wanted.is_none() && done >= FEWEST && self.limit.is_some_and(|limit| elapsed > limit)
    }
}
