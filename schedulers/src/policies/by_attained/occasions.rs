//! What is due at times between polls: fair turns, and the ends of half-lives.

use super::half_life::HalfLife;
use crate::parts::fair_turns::{FairTurns, LONGEST_NS, PER_POP_NS};

/// Counts the service of a queue and its pops, and says when a fair turn is due and when a half-life has ended.
///
/// There is one countdown for both: a subtraction for each poll, and one and a test for each pop. All else is done when it has
/// run out.
#[derive(Clone, Debug)]
pub(super) struct Occasions {
    /// What is left until something is due. Below 0 when it is.
    left_ns: i64,
    /// What `left_ns` was when it was last set.
    granted_ns: i64,
    /// What polls in order had left before the next fair turn then.
    balance_ns: i64,
    /// Whether the last pop was a fair turn.
    is_fair: bool,
    fair_turns: FairTurns,
    half_life: HalfLife,
}

/// What is due at a pop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// This pop is a fair turn.
    pub(super) fair: bool,
    /// A half-life has ended, before this pop.
    pub(super) halving: bool,
}

impl Occasions {
    pub(super) const fn new(fair_turns: FairTurns, half_life: HalfLife) -> Self {
        let mut new =
            Self { left_ns: 0, granted_ns: 0, balance_ns: 0, is_fair: false, fair_turns, half_life };
        if !new.fair_turns.exist() {
            new.grant();
        } else if new.fair_turns.earns(1) > 0 {
            // The first pop is in order, and counts as a fair turn did before. All that it costs is settled at the second.
            (new.left_ns, new.granted_ns) = (PER_POP_NS, PER_POP_NS);
            (new.balance_ns, new.is_fair) = (-PER_POP_NS, true);
        }
        new
    }

    /// With other fair turns, as if none had been yet.
    pub(super) fn with_fair_turns(self, fair_turns: FairTurns) -> Self {
        Self::new(fair_turns, self.half_life)
    }

    /// With another half-life, which begins now.
    pub(super) fn with_half_life(self, half_life: HalfLife) -> Self {
        Self::new(self.fair_turns, half_life.after(self.half_life.halvings()))
    }

    pub(super) const fn fair_turns(&self) -> &FairTurns {
        &self.fair_turns
    }

    pub(super) const fn half_life(&self) -> &HalfLife {
        &self.half_life
    }

    /// How many half-lives have passed.
    #[inline]
    pub(super) const fn halvings(&self) -> u32 {
        self.half_life.halvings()
    }

    /// Counts the service of a poll. (Of 2⁶² ns or more, not all.)
    #[inline]
    pub(super) fn served(&mut self, service_ns: u64) {
        self.left_ns = self.left_ns.wrapping_sub_unsigned(service_ns);
    }

    /// Counts a pop, and says whether something is due: then [`settle`](Self::settle) says what.
    #[inline]
    pub(super) fn are_due(&mut self) -> bool {
        self.left_ns = self.left_ns.wrapping_sub(PER_POP_NS);
        self.left_ns < 0
    }

    /// What is due at this pop, which has been counted. To be called from a place of its own.
    #[inline]
    pub(super) fn settle(&mut self) -> Due {
        // This pop was counted, and belongs to what comes.
        let spent_ns = self.granted_ns.wrapping_sub(self.left_ns).wrapping_sub(PER_POP_NS).max(0);
        let halving = self.half_life.passes(spent_ns);
        self.balance_ns = if self.is_fair {
            self.balance_ns.saturating_add(self.fair_turns.earns(spent_ns))
        } else {
            self.balance_ns.saturating_sub(spent_ns).max(-LONGEST_NS)
        };
        self.is_fair = self.fair_turns.exist() && self.balance_ns < PER_POP_NS;
        if self.is_fair {
            (self.left_ns, self.granted_ns) = (0, 0);
        } else {
            self.grant();
        }
        // A fair turn is settled at the next pop, whatever it takes.
        self.left_ns -= PER_POP_NS;
        Due { fair: self.is_fair, halving }
    }

    const fn grant(&mut self) {
        let half_life_ns = self.half_life.left_ns();
        let until_fair_ns = if self.fair_turns.exist() { self.balance_ns } else { i64::MAX };
        self.left_ns = if until_fair_ns < half_life_ns { until_fair_ns } else { half_life_ns };
        self.granted_ns = self.left_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;

    fn every(n: u32) -> Occasions {
        Occasions::new(FairTurns::every(NonZeroU32::new(n).unwrap()), HalfLife::NEVER)
    }

    fn pop(occasions: &mut Occasions) -> Due {
        if occasions.are_due() { occasions.settle() } else { Due::default() }
    }

    /// The pops that are fair turns, of so many, where a poll in order and one of a fair turn take so long.
    fn fair_pops(occasions: &mut Occasions, pops: u32, [in_order, fair]: [u64; 2]) -> Vec<u32> {
        let poll = |_: &u32| {
            let is_fair = pop(occasions).fair;
            occasions.served(if is_fair { fair } else { in_order });
            is_fair
        };
        (1..=pops).filter(poll).collect()
    }

    #[test]
    fn of_equal_polls_every_nth_is_fair() {
        assert_eq!(fair_pops(&mut every(3), 7, [0, 0]), [3, 6]);
        assert_eq!(fair_pops(&mut every(3), 9, [1_000_000, 1_000_000]), [4, 7]);
        assert_eq!(fair_pops(&mut every(2), 6, [0, 0]), [2, 4, 6]);
        assert_eq!(fair_pops(&mut every(1), 3, [0, 0]), [1, 2, 3]);
        assert_eq!(fair_pops(&mut every(1), 3, [5_000, 70]), [1, 2, 3]);
        let mut never = Occasions::new(FairTurns::NEVER, HalfLife::of_ns(0));
        assert_eq!(fair_pops(&mut never, 1_000, [100_000, 0]), [0; 0]);
    }

    /// The service of so many pops that fair turns get, in millionths.
    fn part(every_nth: u32, pops: u32, polls: [u64; 2]) -> u64 {
        let fair = fair_pops(&mut every(every_nth), pops, polls).len() as u64;
        let fair_ns = fair * polls[1];
        fair_ns * 1_000_000 / (fair_ns + (u64::from(pops) - fair) * polls[0])
    }

    /// One part in N, to within what a pop counts for.
    #[test]
    fn fair_turns_get_their_part_of_the_time() {
        for (polls, least, most) in [
            ([10_000, 10_000_000], 31_250, 33_000), // 1/32 is 31,250
            ([10_000_000, 10_000], 30_000, 31_260),
            ([1_000, 1_000], 31_249, 31_251),
            ([100_000, 20_000_000], 31_250, 31_400),
            ([5_000_000, 100_000], 31_100, 31_260),
        ] {
            let part = part(32, 1_000_000, polls);
            assert!((least..=most).contains(&part), "{polls:?}: {part}");
        }
    }

    /// What is stated: N·(2²⁶ / 256) pops of no time at most from one fair turn to the next, whatever the last one took.
    #[test]
    fn the_longest_fair_poll_is_paid_off_by_a_bounded_number_of_pops() {
        for fair_ns in [1, 1 << 20, 1 << 26, 1 << 40] {
            let fair = fair_pops(&mut every(3), 3_000_000, [0, fair_ns]);
            let longest = fair.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(longest <= 3 << 18, "{fair_ns}: {longest}");
            assert!(fair_ns < 1 << 26 || longest > 2 << 18, "{fair_ns}: {longest}");
        }
    }

    /// A poll in order of any length funds fair turns of 2²⁶ ns / (N − 1) at most.
    #[test]
    fn what_fair_turns_are_owed_is_bounded() {
        let mut occasions = every(32);
        pop(&mut occasions);
        pop(&mut occasions);
        occasions.served(1 << 50);
        let fair = fair_pops(&mut occasions, 10_000, [0, 10_000]);
        let in_a_row = fair.iter().zip(1..).take_while(|(pop, nth)| *pop == nth).count();
        assert!((100..=(1 << 26) / (31 * 10_000) + 2).contains(&in_a_row), "{in_a_row}");
    }

    #[test]
    fn half_lives_end_on_time_whatever_fair_turns_do() {
        for turns in [FairTurns::NEVER, FairTurns::DEFAULT, FairTurns::every(NonZeroU32::MIN)] {
            let mut occasions = Occasions::new(turns.clone(), HalfLife::of_ns(1 << 24));
            let (mut passed, mut halvings) = (0, Vec::new());
            for nth in 0_u64..100_000 {
                let due = pop(&mut occasions);
                passed += PER_POP_NS as u64;
                if due.halving {
                    halvings.push(passed);
                }
                // Fair turns take now more, now less than the others.
                let service_ns = if due.fair { 40 * (nth % 300) } else { 900 };
                occasions.served(service_ns);
                passed += service_ns;
            }
            assert_eq!(halvings.len() as u64, passed >> 24, "{turns:?}");
            for (nth, at) in (1..).zip(halvings) {
                let end = nth << 24;
                assert!((end..end + 13_000).contains(&at), "{turns:?}: {nth} at {at}, not {end}");
            }
        }
    }

    #[test]
    fn service_that_makes_no_sense_does_no_harm() {
        let mut occasions = every(2);
        for _ in 0..10 {
            pop(&mut occasions);
            occasions.served(u64::MAX);
        }
        assert!(!fair_pops(&mut occasions, 10, [0, 0]).is_empty());
    }
}
