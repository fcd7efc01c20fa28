//! [`Books`]: what the adversary knows of a play: places, who got the thread, and how long it has gone on.

use crate::bounds::{Queue, shortfall};

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
    /// By how many polls a slice may overrun what it was granted.
    polls_overrun: u64,
    ledger: Ledger,
    pub(super) operations: u64,
    planned: u64,
    cycles: u64,
    /// How many cycles there are in a third of the play; none before its end.
    third: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// The greatest shortfall / bound, when a third of the cycles was over, two thirds, and all.
    pub(super) ratios: [f64; 3],
    /// The same in the end; both less the victim's own slice; both less all slices: what sleepers keep.
    pub(super) beyond: [f64; 3],
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
    pub(super) fn ratio(&self) -> f64 {
        self.ratios[2]
    }

    /// What each further third adds to it, at least. What comes once and late is no growth.
    pub(super) fn growth(&self) -> f64 {
        let [first, second, third] = self.ratios;
        (second - first).min(third - second)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.ratio() > 1.0
    }
}

impl Books {
    /// For a play of about so many moves and polls, of a victim in that place. A slice may overrun what it was granted by so
    /// many polls.
    pub(super) fn new(victim: usize, operations: u64, polls_overrun: u64) -> Self {
        Books { victim, planned: operations, polls_overrun, ..Books::default() }
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

    pub(super) fn set_share(&mut self, place: usize, share: u32) {
        self.shares_change |= self.shares[place] != share;
        self.shares[place] = share;
        self.most = self.most.max(self.shares.iter().map(|&share| u64::from(share)).sum());
        self.places[place].share = self.places[place].share.max(share);
    }

    pub(super) fn set_request(&mut self, place: usize, request: u64) {
        self.places[place].request = self.places[place].request.max(request);
    }

    /// The queue in that place alone used the thread for `ns`, which ends a poll or a drop of `poll` in all.
    pub(super) fn serve(&mut self, place: usize, ns: u64, poll: u64) {
        self.ledger.serve(place == self.victim, ns);
        self.operations += 1;
        let queue = &mut self.places[place];
        queue.longest_poll = queue.longest_poll.max(poll);
        queue.overrun = self.polls_overrun * queue.longest_poll;
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

/// Service in the order in which it was given. From it comes the shortfall of every stretch, exactly.
#[derive(Clone, Debug, Default)]
struct Ledger {
    rounds: Vec<Round>,
    /// How many rounds there were when each part but the last was over.
    marks: Vec<usize>,
}

/// What others got, and then the victim.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    others: u64,
    victim: u64,
}

impl Ledger {
    fn serve(&mut self, is_victim: bool, ns: u64) {
        let under_way = self.marks.last() != Some(&self.rounds.len());
        match self.rounds.last_mut() {
            Some(round) if is_victim && under_way => round.victim += ns,
            Some(round) if round.victim == 0 && under_way => round.others += ns,
            _ if is_victim => self.rounds.push(Round { others: 0, victim: ns }),
            _ => self.rounds.push(Round { others: ns, victim: 0 }),
        }
    }

    fn mark(&mut self) {
        self.marks.push(self.rounds.len());
    }

    fn total(&self) -> u64 {
        self.rounds.iter().map(|round| round.others + round.victim).sum()
    }

    /// The greatest shortfall of any stretch in nanoseconds times W: up to each mark, and in all.
    ///
    /// It is the greatest drawdown of D(t) = t·w_f/W − s_f(t), where s_f is what the victim got of t.
    fn shortfalls(&self, share: u32, shares: u64) -> Vec<i128> {
        let (gain, loss) = (i128::from(share), i128::from(shares) - i128::from(share));
        let (mut d, mut least, mut greatest) = (0_i128, 0_i128, 0_i128);
        let mut shortfalls = Vec::with_capacity(self.marks.len() + 1);
        let ends = self.marks.iter().copied().chain([self.rounds.len()]);
        let mut from = 0;
        for to in ends {
            for round in &self.rounds[std::mem::replace(&mut from, to)..to] {
                d += i128::from(round.others) * gain;
                greatest = greatest.max(d - least);
                d -= i128::from(round.victim) * loss;
                least = least.min(d);
            }
            shortfalls.push(greatest);
        }
        shortfalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_come_in_three_parts_of_as_many() {
        let mut books = Books::new(0, 100, 1);
        books.create(0, 1, 1);
        while books.next_cycle() {
            (0..9).for_each(|_| books.operations += 1);
        }
        let outcome = books.outcome();
        assert_eq!((outcome.cycles, outcome.operations), (12, 121));
    }

    #[test]
    fn a_closed_queue_counts_until_its_place_is_taken() {
        let mut books = Books::new(0, 1, 1);
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
        let mut books = Books::new(0, 1, 1);
        books.create(0, 1, 10);
        books.create(1, 1, 10);
        books.serve(1, 118, 4);
        let outcome = books.outcome();
        assert_eq!((outcome.ratio(), outcome.beyond), (1.0, [1.0; 3]));
        books.serve(1, 28, 0);
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

    fn ledger(services: &[(bool, u64)]) -> Ledger {
        let mut ledger = Ledger::default();
        services.iter().for_each(|&(is_victim, ns)| ledger.serve(is_victim, ns));
        ledger
    }

    #[test]
    fn the_shortfall_is_that_of_the_worst_stretch_times_w() {
        let alternate = [(false, 10), (true, 10), (false, 10), (true, 10)];
        assert_eq!(ledger(&alternate).shortfalls(1, 2), [10]);
        assert_eq!(ledger(&alternate).total(), 40);
        let after_much = [(true, 100), (false, 30), (true, 1), (false, 30), (true, 100), (false, 59)];
        assert_eq!(ledger(&after_much).shortfalls(1, 2), [30 - 1 + 30]);
        assert_eq!(ledger(&[(false, 100)]).shortfalls(9, 10), [900]);
        assert_eq!(ledger(&[(false, 100)]).shortfalls(1, 10), [100]);
    }

    #[test]
    fn a_part_may_end_within_a_round() {
        let mut ledger = ledger(&[(false, 10)]);
        ledger.mark();
        ledger.serve(false, 10);
        ledger.serve(true, 5);
        ledger.mark();
        ledger.serve(true, 5);
        assert_eq!(ledger.shortfalls(1, 2), [10, 20, 20]);
        ledger.mark();
        assert_eq!(ledger.shortfalls(1, 2), [10, 20, 20, 20]);
    }
}
