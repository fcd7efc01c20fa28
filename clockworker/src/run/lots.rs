//! [`Lots`]: draws which polls are timed where a scheduler asks for service and polls are short.
//!
//! A reading of the clock takes as long as a short poll. So of the next *m* polls one is timed, each with the same chance, and
//! the scheduler is told nothing of the others. If it is the *j*-th, it stands for *m* − *j* + 1 polls: its time is told so many
//! times over. If none before the *j*-th was timed, its chance is one in *m* − *j* + 1. So what is told of a poll is expected to
//! be what it takes, whatever its task has seen and does: a task that yields just before a reading gains nothing (the estimator
//! of Horvitz and Thompson, *Journal of the American Statistical Association* 47, 1952). Of *n* polls that take *t* each, what is
//! told has a standard deviation of *t*·√(2·*n*·(*m* − 1)/3): at *m* = 31, 3 % of a millisecond of polls of 50 ns.
//!
//! Of one poll it is 4.5 times its length. So where the polls of a queue take long in the mean each is timed, and so are those of a group
//! whose polls do, whichever was drawn (`queue/long_polls.rs`).

use std::cell::Cell;

/// One poll of so many is timed, in the mean, where polls are shortest.
pub(super) const MOST_IN_MEAN: u32 = 16;

/// Draws lots, the same for each executor (xorshift: Marsaglia, *Journal of Statistical Software* 8, 2003).
#[derive(Debug)]
pub(super) struct Lots(Cell<u64>);

/// Which poll is timed, and how many it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lot {
    /// The number of the poll, from 1.
    pub(super) poll: u32,
    pub(super) stands_for: u32,
}

impl Lot {
    /// The next poll, for itself.
    pub(super) const NEXT: Self = Self { poll: 1, stands_for: 1 };
}

impl Default for Lots {
    fn default() -> Self {
        Self(Cell::new(0x9E37_79B9_7F4A_7C15))
    }
}

impl Lots {
    /// Chooses one of the next polls, such that one in `in_mean` is timed.
    #[inline]
    pub(super) fn draw(&self, in_mean: u32) -> Lot {
        let among = 2 * in_mean - 1;
        let mut state = self.0.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.set(state);
        let place = ((state >> 32) * u64::from(among)) >> 32;
        Lot { poll: place as u32 + 1, stands_for: among - place as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_poll_is_timed_where_one_in_one_is() {
        let lots = Lots::default();
        assert!((0..100).all(|_| lots.draw(1) == Lot::NEXT));
    }

    /// Each of the 31 places comes up as often as the others, to within five standard deviations, and what the timed polls
    /// stand for is all polls, to within five.
    #[test]
    fn the_polls_timed_stand_for_all() {
        let (lots, draws) = (Lots::default(), 310_000);
        let (mut places, mut polls, mut told) = ([0_i64; 31], 0_i64, 0_i64);
        for _ in 0..draws {
            let lot = lots.draw(MOST_IN_MEAN);
            assert_eq!(lot.poll + lot.stands_for, 32);
            places[lot.poll as usize - 1] += 1;
            polls += i64::from(lot.poll);
            told += i64::from(lot.stands_for);
        }
        assert!(places.iter().all(|&count| (count - 10_000).abs() < 5 * 99), "{places:?}");
        let deviation = (polls as f64 * 2.0 * 30.0 / 3.0).sqrt();
        assert!(((told - polls) as f64).abs() < 5.0 * deviation, "{told} of {polls}");
    }
}
