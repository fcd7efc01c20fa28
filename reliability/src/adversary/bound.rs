//! The bound on how far a queue that always has work falls short of its part of the thread.
//!
//! Of every stretch in which t ns go to queues, queue f receives at least t·w_f/W − B, whatever the others do.
//!
//! | Symbol | Meaning |
//! |---|---|
//! | w_j, r_j | share and request of queue j: the greatest, where they change |
//! | S_j | its longest poll; the drop of a future is a poll, or part of one |
//! | W | the greatest sum of the shares of all queues at a time, asleep or not |
//! | K | what sleeping queues together can keep of what they are owed: 2·max (r_k + S_k) over all queues |
//! | n | how many queues there are at a time |
//!
//! Where no share changes
//!
//! ```text
//! B = (w_f/W)·Σ_{j≠f} (max(r_j, r_f·w_j/w_f) + S_j + K) + r_f + S_f + K
//! ```
//!
//! and in any case
//!
//! ```text
//! B = Σ_j (r_j + S_j + K)
//! ```
//!
//! Sums are over places: a queue that is created after another was closed takes that one's place, the last that was closed
//! first.
//!
//! All arithmetic is exact: in nanoseconds times W, in whole numbers.

/// A place between queues, as far as the bound depends on it: the greatest of what any queue had there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// w.
    pub(super) share: u32,
    /// r, in nanoseconds.
    pub(super) request: u64,
    /// S, in nanoseconds.
    pub(super) longest_poll: u64,
}

/// Everything that the bound depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    /// All places.
    pub(super) places: &'a [Place],
    /// That of the queue that always has work.
    pub(super) victim: usize,
    /// W.
    pub(super) shares: u64,
    /// Whether any share changes, or a queue is created in a place that had another share.
    pub(super) shares_change: bool,
}

/// The bound in nanoseconds times W, and parts of it. Each holds the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    /// What the victim may have had too early: its own longest slice, r_f + S_f.
    pub(super) own_slice: i128,
    /// And the others' slices: all but what sleepers keep.
    pub(super) slices: i128,
    /// B.
    pub(super) whole: i128,
}

impl Setting<'_> {
    /// W·B.
    pub(super) fn scaled(&self) -> Scaled {
        let own_slice = i128::from(self.shares) * longest_slice(self.places[self.victim]);
        let always = (self.slices_where_shares_change(), self.places.len() as i128 * self.credit());
        let steady = (self.slices_where_shares_stay(), self.credits() + self.credit());
        let (slices, credits) = match self.shares_change || always.0 + always.1 < steady.0 + steady.1 {
            true => always,
            false => steady,
        };
        Scaled { own_slice, slices, whole: slices + credits }
    }

    /// W·K
    fn credit(&self) -> i128 {
        i128::from(self.shares) * self.longest_credit()
    }

    /// K
    fn longest_credit(&self) -> i128 {
        2 * self.places.iter().copied().map(longest_slice).max().unwrap_or(0)
    }

    fn slices_where_shares_stay(&self) -> i128 {
        let victim = self.places[self.victim];
        let slices = self.others().map(|other| level(victim, other) + times(victim, other.longest_poll));
        slices.sum::<i128>() + i128::from(self.shares) * longest_slice(victim)
    }

    fn slices_where_shares_change(&self) -> i128 {
        i128::from(self.shares) * self.places.iter().copied().map(longest_slice).sum::<i128>()
    }

    /// w_f·Σ_{j≠f} K
    fn credits(&self) -> i128 {
        i128::from(self.places[self.victim].share) * self.longest_credit() * self.others().count() as i128
    }

    fn others(&self) -> impl Iterator<Item = Place> {
        let places = self.places.iter().copied().enumerate();
        places.filter(|&(index, _)| index != self.victim).map(|(_, place)| place)
    }
}

/// r + S
fn longest_slice(place: Place) -> i128 {
    i128::from(place.request) + i128::from(place.longest_poll)
}

/// w_f·max(r_j, r_f·w_j/w_f)
fn level(victim: Place, other: Place) -> i128 {
    times(victim, other.request).max(times(other, victim.request))
}

fn times(place: Place, ns: u64) -> i128 {
    i128::from(place.share) * i128::from(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VICTIM: Place = Place { share: 1, request: 500, longest_poll: 20 };
    const WORKER: Place = Place { share: 9, request: 500, longest_poll: 20 };
    const HELPER: Place = Place { share: 1, request: 500, longest_poll: 1 };

    fn scaled(places: &[Place], victim: usize, shares_change: bool) -> i128 {
        let shares = places.iter().map(|place| u64::from(place.share)).sum();
        Setting { places, victim, shares, shares_change }.scaled().whole
    }

    /// In microseconds: K = 2·520, and r_f·w_j/w_f = 4500 for the worker.
    #[test]
    fn a_worked_example() {
        let places = [VICTIM, WORKER, HELPER];
        let steady = (4_500 + 20 + 1_040) + (500 + 1 + 1_040) + 11 * (520 + 1_040);
        assert_eq!(scaled(&places, 0, false), steady);
        assert_eq!(scaled(&places, 0, true), 11 * (520 + 520 + 501 + 3 * 1_040));
    }

    #[test]
    fn a_large_victim_waits_for_the_requests_of_others() {
        let places = [VICTIM, WORKER, HELPER];
        assert_eq!(scaled(&places, 1, false), 9 * (520 + 1_040) + 9 * (501 + 1_040) + 11 * (520 + 1_040));
    }

    #[test]
    fn where_both_apply_the_smaller_holds() {
        let long = Place { request: 100_000, ..VICTIM };
        let places = [long, WORKER];
        let changing = 10 * (100_020 + 520 + 2 * 200_040);
        assert_eq!(scaled(&places, 0, true), changing);
        let steady = 900_000 + 20 + 200_040 + 10 * (100_020 + 200_040);
        assert_eq!(scaled(&places, 0, false), changing.min(steady));
    }

    #[test]
    fn a_queue_alone_waits_for_nobody_but_itself() {
        assert_eq!(scaled(&[VICTIM], 0, false), 520 + 1_040);
    }
}
