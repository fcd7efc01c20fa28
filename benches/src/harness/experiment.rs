//! [`Experiment`]: arms that are measured in the same rounds.
//!
//! Machines drift, and what is measured in one round drifts together: so ratios are taken within a round. In each round every
//! place is measured once, in an order that favours none.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::pinning::Side;
use super::sample::Sample;
use crate::random::{Purpose, random};

/// Arms that are compared, and how a sample of one is taken.
///
/// The harness measures the first arm, the base, twice in each round: what differs between these two is what the method cannot
/// tell from nothing (A/A).
pub struct Experiment {
    /// What `--only` calls it. Several experiments can have one name.
    pub part: &'static str,
    /// What is measured, for the table and the progress bar.
    pub title: String,
    /// The titles of the arms, the base first.
    pub arms: Vec<String>,
    /// Rounds, unless `--rounds` gives a number or the run is a quick one.
    pub rounds: u32,
    pub processes: Processes,
    /// On which side the thread is pinned that takes samples.
    pub side: Side,
    take: Take,
}

type Take = Box<dyn FnMut(&Window) -> Result<Sample>>;

/// Enough for an interval that leaves out the six smallest and the six largest ratios.
const DEFAULT_ROUNDS: u32 = 24;

/// Which sample is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub round: u32,
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

impl Experiment {
    pub fn new(
        part: &'static str,
        title: impl Into<String>,
        arms: impl IntoIterator<Item = impl Into<String>>,
        take: impl FnMut(&Window) -> Result<Sample> + 'static,
    ) -> Self {
        let (title, arms) = (title.into(), arms.into_iter().map(Into::into).collect());
        let (rounds, processes, side) = (DEFAULT_ROUNDS, Processes::This, Side::Measured);
        Experiment { part, title, arms, rounds, processes, side, take: Box::new(take) }
    }

    pub fn rounds(self, rounds: u32) -> Self {
        Experiment { rounds, ..self }
    }

    pub fn processes(self, processes: Processes) -> Self {
        Experiment { processes, ..self }
    }

    pub fn side(self, side: Side) -> Self {
        Experiment { side, ..self }
    }

    /// Measures arms, in this process.
    pub fn take(&mut self, windows: &[Window]) -> Result<Vec<Sample>> {
        windows.iter().map(|window| (self.take)(window)).collect()
    }

    /// The arms that are measured in a round, by place: the base twice, and then those of the others that `--arms` names.
    pub fn places(&self, wanted: &[String]) -> Vec<usize> {
        let is_wanted = |arm: &usize| wanted.is_empty() || wanted.contains(&name(&self.arms[*arm]));
        [0, 0].into_iter().chain((1..self.arms.len()).filter(is_wanted)).collect()
    }
}

/// What `--arms` calls an arm of that title: `clockworker_two_queues` for `Clockworker, two queues`.
pub fn name(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The samples of a round, in the order in which they are taken. `part` tells the experiment's order from those of others.
///
/// Orders come in pairs: the first is drawn, the second is its reverse. So of two arms each is before the other in one of
/// two rounds.
pub fn windows(seed: u64, part: usize, round: u32, places: &[usize]) -> Vec<Window> {
    let pair = u64::from(round / 2) << 32 | part as u64;
    let mut order: Vec<usize> = (0..places.len()).collect();
    random(seed, Purpose::Order, pair).shuffle(&mut order);
    if round % 2 == 1 {
        order.reverse();
    }
    order.into_iter().map(|place| Window { round, place, arm: places[place] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_drawn_in_pairs_of_which_one_is_the_other_reversed() {
        let order = |seed, part, round| -> Vec<usize> {
            windows(seed, part, round, &[0, 0, 1, 2, 3]).iter().map(|window| window.place).collect()
        };
        let drawn = |seed, part| (0..8).map(|round| order(seed, part, round)).collect::<Vec<_>>();
        for pair in drawn(1, 0).chunks(2) {
            assert!(pair[0].iter().eq(pair[1].iter().rev()));
            let mut places = pair[0].clone();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4]);
        }
        assert_ne!(order(1, 0, 0), order(1, 0, 2));
        assert!(drawn(1, 0) == drawn(1, 0) && drawn(1, 0) != drawn(2, 0) && drawn(1, 0) != drawn(1, 1));
    }
}
