//! [`PassedOver`]: when a task that an order passes over has its turn.

use crate::parts::fair_turns::FairTurns;

/// However long the last turn took, the next comes after so many times the usual number of pops.
const MOST: u64 = 1_024;

/// Counts pops that pass over ready tasks, and says when one of these has a turn: in one of *N* such pops at most, and for one
/// part in *N* of the time, as long as the polls of turns take no more than 1,024 times as long as the others.
///
/// What turns take is known as far as the policy is told of [time](crate::Served::Queue). A turn is due when *N* − 1
/// pops have passed over others since the last, and have taken *N* − 1 times as long as that one; and after
/// 1,024·*N* pops in any case. *N* is at least 2.
#[derive(Clone, Debug)]
pub(super) struct PassedOver {
    /// *N*; `None` if there are no turns.
    every: Option<u64>,
    /// So many pops in a row passed over others.
    pops: u64,
    /// So long they took.
    service_ns: u64,
    /// So long they have to take, for what the last turn took.
    due_ns: u64,
    /// What the poll under way was given out as.
    poll: Poll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Poll {
    /// It passed over none.
    Plain,
    /// It passed over others.
    Before,
    /// It was the turn of one that is passed over.
    Turn,
}

impl PassedOver {
    /// With a turn in as many pops as these fair turns have one in.
    pub(super) const fn new(turns: &FairTurns) -> Self {
        let every = match turns.every_pops() {
            None => None,
            Some(pops) if pops.get() < 2 => Some(2),
            Some(pops) => Some(pops.get() as u64),
        };
        Self { every, pops: 0, service_ns: 0, due_ns: 0, poll: Poll::Plain }
    }

    /// A pop is to pass over no task: the row of those that did has ended.
    #[inline]
    pub(super) fn reset_row(&mut self) {
        (self.pops, self.service_ns, self.poll) = (0, 0, Poll::Plain);
    }

    /// Counts a pop that is to pass over tasks, and says whether their turn is due instead. Then it is up to the caller whether
    /// to [take](PassedOver::take_turn) it, and if not, the next comes as if it had been taken.
    #[inline]
    pub(super) fn count_pop(&mut self) -> bool {
        let Some(every) = self.every else { return false };
        self.pops += 1;
        self.poll = Poll::Before;
        let is_due = self.pops >= every && (self.service_ns >= self.due_ns || self.pops >= MOST * every);
        if is_due {
            (self.pops, self.service_ns, self.due_ns) = (0, 0, 0);
        }
        is_due
    }

    /// A task that was passed over is popped out of order.
    pub(super) fn take_turn(&mut self) {
        self.poll = Poll::Turn;
    }

    /// The poll under way took so long.
    #[inline]
    pub(super) fn time_passed(&mut self, ns: u64) {
        match (self.poll, self.every) {
            (Poll::Before, _) => self.service_ns = self.service_ns.saturating_add(ns),
            (Poll::Turn, Some(every)) => {
                self.due_ns = self.due_ns.saturating_add(ns.saturating_mul(every - 1));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;

    fn every(pops: u32) -> PassedOver {
        PassedOver::new(&FairTurns::every(NonZeroU32::new(pops).unwrap()))
    }

    /// After how many pops, that one included, a turn is due, where each takes so long.
    fn pops_until_turn(over: &mut PassedOver, poll_ns: u64) -> u64 {
        let mut pops = 1;
        while !over.count_pop() {
            over.time_passed(poll_ns);
            pops += 1;
        }
        pops
    }

    #[test]
    fn one_pop_in_n_where_turns_take_no_longer_than_the_others() {
        let mut over = every(4);
        for turn_ns in [0, 10, 9, 10] {
            assert_eq!(pops_until_turn(&mut over, 10), 4);
            over.take_turn();
            over.time_passed(turn_ns);
        }
    }

    #[test]
    fn long_turns_are_paid_for_by_time_and_at_last_by_pops() {
        let mut over = every(4);
        assert_eq!(pops_until_turn(&mut over, 10), 4);
        over.take_turn();
        over.time_passed(1_000);
        assert_eq!(pops_until_turn(&mut over, 10), 301, "300 polls of 10 ns are 3 times 1,000 ns");
        over.take_turn();
        over.time_passed(u64::MAX);
        over.time_passed(u64::MAX);
        assert_eq!(pops_until_turn(&mut over, 10), 4 * MOST);
        assert_eq!(pops_until_turn(&mut over, 10), 4, "a turn that was not taken costs nothing");
    }

    #[test]
    fn where_none_is_passed_over_counting_begins_anew_and_what_is_due_stays() {
        let mut over = every(4);
        assert!(!over.count_pop() && !over.count_pop());
        over.reset_row();
        over.time_passed(1_000_000);
        assert_eq!(pops_until_turn(&mut over, 10), 4);
        over.take_turn();
        over.time_passed(100);
        over.reset_row();
        over.time_passed(1_000_000);
        assert_eq!(pops_until_turn(&mut over, 10), 31);
    }

    #[test]
    fn two_is_the_least_and_never_is_never() {
        let mut over = every(1);
        assert_eq!((pops_until_turn(&mut over, 0), pops_until_turn(&mut over, 0)), (2, 2));
        let mut never = PassedOver::new(&FairTurns::NEVER);
        assert!((0..100_000).all(|_| !never.count_pop()));
    }
}
