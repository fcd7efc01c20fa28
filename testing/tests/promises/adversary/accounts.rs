//! [`Accounts`]: what the adversary knows of a play: which queues there are, and who got the thread.

use crate::bounds::{POLLS_OVERRUN, Queue, shortfall};

/// A place is a queue, and any that is created in its stead after it was closed. It counts in W also while it is closed.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    places: Vec<Queue>,
    /// By place: the share that is there now.
    shares: Vec<u32>,
    /// The greatest that their sum was.
    most_shares: u64,
    shares_change: bool,
    victim: usize,
    /// Service, in the order in which it was given.
    rounds: Vec<Round>,
    /// Moves and polls.
    pub(super) operations: u64,
    planned: u64,
    cycles: u64,
}

/// What others got, and then the victim. In nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    others: u64,
    victim: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// The greatest shortfall / bound, when a third of the service had been given, two thirds, and all.
    pub(super) ratios: [f64; 3],
    /// The same in the end; both less the victim's own slice; both less all slices: what sleepers keep.
    pub(super) beyond: [f64; 3],
    pub(super) cycles: u64,
    pub(super) operations: u64,
    /// Nanoseconds that went to queues.
    pub(super) served: u64,
    /// How far the executor's own counts are from that, in parts of it: of any queue, and of all together.
    pub(super) misbilled: f64,
}

/// Each third of a play is to have a cycle.
const FEWEST_CYCLES: u64 = 3;

impl Accounts {
    /// For a play of about so many moves and polls, of a victim in that place.
    pub(super) fn new(victim: usize, operations: u64) -> Self {
        Accounts { victim, planned: operations, ..Accounts::default() }
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
        self.most_shares = self.most_shares.max(self.shares.iter().map(|&share| u64::from(share)).sum());
        self.places[place].share = self.places[place].share.max(share);
    }

    pub(super) fn set_request(&mut self, place: usize, request: u64) {
        self.places[place].request = self.places[place].request.max(request);
    }

    /// The queue in that place used the thread for `ns`, at the end of a poll with its drop, or a drop alone, of `poll` in all.
    pub(super) fn serve(&mut self, place: usize, ns: u64, poll: u64) {
        self.operations += 1;
        let queue = &mut self.places[place];
        queue.longest_poll = queue.longest_poll.max(poll);
        queue.overrun = POLLS_OVERRUN * queue.longest_poll;
        match self.rounds.last_mut() {
            Some(round) if place == self.victim => round.victim += ns,
            Some(round) if round.victim == 0 => round.others += ns,
            _ if place == self.victim => self.rounds.push(Round { others: 0, victim: ns }),
            _ => self.rounds.push(Round { others: ns, victim: 0 }),
        }
    }

    /// Whether there is to be one more cycle.
    pub(super) fn next_cycle(&mut self) -> bool {
        // Of no moves, it would never end.
        self.operations += 1;
        let goes_on = self.cycles < FEWEST_CYCLES || self.operations < self.planned;
        self.cycles += u64::from(goes_on);
        goes_on
    }

    pub(super) fn outcome(&self) -> Outcome {
        let shortfalls = self.shortfalls();
        let bound = shortfall(&self.places, self.victim, self.most_shares, self.shares_change);
        let ratio = |shortfall: i128, less: i128| (shortfall - less) as f64 / (bound.whole - less) as f64;
        Outcome {
            ratios: shortfalls.map(|shortfall| ratio(shortfall, 0)),
            beyond: [0, bound.own_slice, bound.slices].map(|less| ratio(shortfalls[2], less)),
            cycles: self.cycles,
            operations: self.operations,
            served: self.rounds.iter().map(|round| round.others + round.victim).sum(),
            misbilled: 0.0,
        }
    }

    /// The greatest shortfall of any stretch in nanoseconds times W, in the first third, two thirds, and in all.
    ///
    /// It is the greatest drawdown of D(t) = t·w_f/W − s_f(t), where s_f is what the victim got of t.
    fn shortfalls(&self) -> [i128; 3] {
        let gain = i128::from(self.places[self.victim].share);
        let loss = i128::from(self.most_shares) - gain;
        let (mut d, mut least, mut greatest) = (0_i128, 0_i128, 0_i128);
        let (mut from, rounds) = (0, self.rounds.len());
        [rounds.div_ceil(3), (2 * rounds).div_ceil(3), rounds].map(|to| {
            for round in &self.rounds[std::mem::replace(&mut from, to)..to] {
                d += i128::from(round.others) * gain;
                greatest = greatest.max(d - least);
                d -= i128::from(round.victim) * loss;
                least = least.min(d);
            }
            greatest
        })
    }
}
