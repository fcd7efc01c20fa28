//! A contest of two groups: what it begins with, and how their service came about.

use super::History;
use crate::random::Random;

/// How long a group's polls are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polls {
    Short,
    Long,
    Mixed,
}

impl Polls {
    pub(super) const PAIRS: [[Self; 2]; 4] = [
        [Self::Long, Self::Long],
        [Self::Short, Self::Long],
        [Self::Long, Self::Short],
        [Self::Mixed, Self::Mixed],
    ];

    pub(super) fn draw(self, longest_ns: u64, random: &mut Random) -> u64 {
        match self {
            Self::Short => longest_ns / 16,
            Self::Long => longest_ns,
            Self::Mixed => random.below(longest_ns as usize) as u64 + 1,
        }
    }
}

/// One contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contest {
    pub(super) history: History,
    /// Of each group.
    pub(super) tasks: [usize; 2],
    pub(super) polls: [Polls; 2],
}

impl Contest {
    /// Another one for each.
    pub(super) fn number(&self) -> u64 {
        let [a, b] = self.polls.map(|polls| polls as u64);
        (self.history as u64) << 32 | (self.tasks[0].min(2) as u64) << 16 | a << 8 | b
    }
}

/// How the service of the two came about.
#[derive(Default)]
pub(super) struct Course {
    passed_ns: u64,
    /// The service of the first less that of the second.
    difference_ns: i128,
    /// After each poll: what had passed, and the difference.
    points: Vec<(u64, i128)>,
}

impl Course {
    pub(super) fn passed_ns(&self) -> u64 {
        self.passed_ns
    }

    pub(super) fn note(&mut self, group: usize, service_ns: u64) {
        self.passed_ns += service_ns;
        match group {
            0 => self.difference_ns += i128::from(service_ns),
            1 => self.difference_ns -= i128::from(service_ns),
            _ => {}
        }
        self.points.push((self.passed_ns, self.difference_ns));
    }

    /// The most by which the service of the two differs in a stretch that begins at `from_ns` or later.
    pub(super) fn greatest_difference_ns(&self, from_ns: u64) -> u64 {
        let start = (from_ns == 0).then_some(0);
        let later = self.points.iter().filter(|point| point.0 >= from_ns).map(|point| point.1);
        let (least, most) =
            start.into_iter().chain(later).fold((i128::MAX, i128::MIN), |(least, most), difference| {
                (least.min(difference), most.max(difference))
            });
        u64::try_from(most.saturating_sub(least)).unwrap_or(0)
    }

    /// From when on no stretch differs by more than the bound.
    pub(super) fn settled_after_ns(&self, bound_ns: u64) -> u64 {
        let (mut least, mut most) = (i128::MAX, i128::MIN);
        for &(passed_ns, difference) in self.points.iter().rev() {
            (least, most) = (least.min(difference), most.max(difference));
            if most - least > i128::from(bound_ns) {
                return passed_ns;
            }
        }
        0
    }
}
