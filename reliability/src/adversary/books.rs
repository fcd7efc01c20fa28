//! [`Books`]: what the adversary knows of a play: places, services, and how long it has gone on.

use super::ledger::Ledger;
use crate::bounds::{Queue, shortfall};

/// Keeps the books of a play.
///
/// A place counts in W until another queue takes it, also while the queue that was there is closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    places: Vec<Queue>,
    /// By place: the share that is there now.
    shares: Vec<u32>,
    /// The greatest that their sum was.
    most: u64,
    shares_change: bool,
    victim: usize,
    ledger: Ledger,
    /// Moves and polls.
    operations: u64,
    planned: u64,
    cycles: u64,
    /// How many cycles there are in a third of the play; none before its end.
    third: Option<u64>,
}

/// What a play came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// The greatest shortfall / bound, when a third of the cycles was over, two thirds, and all.
    pub(super) ratios: [f64; 3],
    /// The same in the end; both less the victim's own slice; both less everybody's slice: what sleepers keep.
    pub(super) beyond: [f64; 3],
    /// Times that the moves were made.
    pub(super) cycles: u64,
    /// Moves and polls.
    pub(super) operations: u64,
    /// Nanoseconds that went to queues.
    pub(super) served: u64,
    /// How far the executor's own counts are from the truth, in parts of what went to queues: the worst of any queue, and
    /// that of all queues together.
    pub(super) billing: [f64; 2],
}

impl Outcome {
    /// The greatest shortfall / bound.
    pub(super) fn ratio(&self) -> f64 {
        self.ratios[2]
    }

    /// What each further third adds to it, at least. What comes once and late is no growth.
    pub(super) fn growth(&self) -> f64 {
        let [first, second, third] = self.ratios;
        (second - first).min(third - second)
    }

    /// Whether it is more than the queue was promised to bear.
    pub(super) fn is_broken(&self) -> bool {
        self.ratio() > 1.0
    }
}

impl Books {
    /// For a play of about so many moves and polls, of a victim in that place.
    pub(super) fn new(victim: usize, operations: u64) -> Self {
        Books { victim, planned: operations, ..Books::default() }
    }

    /// A queue is created, in a new place or in one where another was closed.
    pub(super) fn create(&mut self, place: usize, share: u32, request: u64) {
        if place == self.places.len() {
            self.places.push(Queue::default());
            self.shares.push(share);
        }
        self.set_share(place, share);
        self.set_request(place, request);
    }

    /// The share of the queue in that place changes.
    pub(super) fn set_share(&mut self, place: usize, share: u32) {
        self.shares_change |= self.shares[place] != share;
        self.shares[place] = share;
        self.most = self.most.max(self.shares.iter().map(|&share| u64::from(share)).sum());
        let greatest = &mut self.places[place].share;
        *greatest = share.max(*greatest);
    }

    /// The request of the queue in that place changes.
    pub(super) fn set_request(&mut self, place: usize, request: u64) {
        let greatest = &mut self.places[place].request;
        *greatest = request.max(*greatest);
    }

    /// The queue in that place used the thread, and nobody else did.
    #[inline]
    pub(super) fn serve(&mut self, place: usize, ns: u64) {
        self.ledger.serve(place == self.victim, ns);
    }

    /// It was a poll, or a drop, of so long.
    #[inline]
    pub(super) fn poll(&mut self, place: usize, ns: u64) {
        self.operations += 1;
        let longest = &mut self.places[place].longest_poll;
        *longest = ns.max(*longest);
    }

    /// A move was made.
    #[inline]
    pub(super) fn make_move(&mut self) {
        self.operations += 1;
    }

    /// Whether there is to be one more cycle. There are as many in each third of the play.
    pub(super) fn next_cycle(&mut self) -> bool {
        // Of no moves, it would never end.
        self.operations += 1;
        if self.third.is_none() && self.cycles > 0 && self.operations >= self.planned / 3 {
            self.third = Some(self.cycles);
        }
        match self.third {
            Some(third) if self.cycles == 3 * third => return false,
            Some(third) if self.cycles.is_multiple_of(third) => self.ledger.mark(),
            _ => {}
        }
        self.cycles += 1;
        true
    }

    /// Moves and polls so far.
    pub(super) fn operations(&self) -> u64 {
        self.operations
    }

    /// Closes the books.
    pub(super) fn outcome(&self) -> Outcome {
        let shortfalls = self.ledger.shortfalls(self.places[self.victim].share, self.most);
        let last = shortfalls.last().copied().unwrap_or(0);
        let bound = shortfall(&self.places, self.victim, self.most, self.shares_change);
        let ratio = |shortfall: i128, less: i128| (shortfall - less) as f64 / (bound.whole - less) as f64;
        Outcome {
            ratios: [0, 1, 2].map(|third| ratio(shortfalls.get(third).copied().unwrap_or(last), 0)),
            beyond: [0, bound.own_slice, bound.slices].map(|less| ratio(last, less)),
            cycles: self.cycles,
            operations: self.operations,
            served: self.ledger.total(),
            billing: [0.0; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_come_in_three_parts_of_as_many() {
        let mut books = Books::new(0, 100);
        books.create(0, 1, 1);
        while books.next_cycle() {
            (0..9).for_each(|_| books.make_move());
        }
        let outcome = books.outcome();
        assert_eq!((outcome.cycles, outcome.operations), (12, 121));
    }

    #[test]
    fn a_closed_queue_counts_until_its_place_is_taken() {
        let mut books = Books::new(0, 1);
        books.create(0, 1, 1);
        books.create(1, 8, 1);
        books.create(2, 3, 1);
        assert_eq!((books.most, books.shares_change), (12, false));
        books.create(1, 8, 1);
        assert_eq!((books.most, books.shares_change), (12, false));
        books.create(1, 2, 1);
        books.set_share(2, 4);
        assert_eq!((books.shares.as_slice(), books.most, books.shares_change), (&[1, 2, 4][..], 12, true));
    }

    /// B = (1/2)·(10 + 4 + K) + 10 + K, where K = 2·(10 + 4)
    #[test]
    fn a_broken_bound_is_more_than_one() {
        let mut books = Books::new(0, 1);
        books.create(0, 1, 10);
        books.create(1, 1, 10);
        books.poll(1, 4);
        books.serve(1, 118);
        let outcome = books.outcome();
        assert_eq!((outcome.ratio(), outcome.beyond), (1.0, [1.0; 3]));
        books.serve(1, 28);
        let outcome = books.outcome();
        assert_eq!(outcome.beyond, [73.0 / 59.0, 63.0 / 49.0, 56.0 / 42.0]);
        assert!(outcome.is_broken());
    }

    #[test]
    fn what_comes_late_and_once_is_no_growth() {
        let of = |ratios| Outcome { ratios, ..Outcome::default() }.growth();
        assert_eq!(of([1.0, 2.0, 3.0]), 1.0);
        assert_eq!(of([1.0, 1.0, 3.0]), 0.0);
    }
}
