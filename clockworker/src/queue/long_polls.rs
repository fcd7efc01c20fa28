//! [`LongPolls`]: which groups have each of their polls timed, where of short polls some are timed.
//!
//! A poll that is timed by lot stands for up to 31. That is little among many short ones, but where one of 200 µs comes among polls
//! of 100 ns, its group is charged 6 ms at once or nothing at all, and waits for its next turn accordingly. So a group earns by
//! what it is charged: one poll timed for itself per [`EARNS_NS`]. One whose polls take that long in the mean, short ones included,
//! has each of them timed. Two readings of the clock are added per poll, so at most 4 % of its time where a reading takes 20 ns.
//!
//! A queue earns in the same way (`run/timing.rs`), by what the clock says that the polls of all its groups took. A group whose long polls
//! were never drawn so far has earned nothing by itself, and is charged next to nothing: one such poll in 31 is drawn.
//!
//! What a slot has earned stays when it is another task's: so tasks that have one long poll each and end are timed, too.

use super::groups::GroupIndex;

/// What a group is charged, or the polls of a queue take, for one poll to be timed.
pub(crate) const EARNS_NS: u64 = 1_024;

/// The first polls of a group that is opened are timed: as yet, nothing is known of it.
const AT_FIRST: u16 = 8;

/// How many polls of each group are still to be timed.
#[derive(Default)]
pub(super) struct LongPolls {
    /// By group index.
    left: Vec<u16>,
    /// In how many places that is not 0.
    groups: usize,
}

impl LongPolls {
    /// Whether the next poll of the group is to be timed.
    #[inline]
    pub(super) fn contains(&self, group: GroupIndex) -> bool {
        self.groups > 0 && self.left.get(group as usize).is_some_and(|&left| left > 0)
    }

    /// A group is opened under an index.
    pub(super) fn open(&mut self, group: GroupIndex) {
        self.set(group, AT_FIRST);
    }

    /// Whether a [`charge`](LongPolls::charge) for so many polls may change which are timed. One for a poll that was timed for itself may:
    /// another task of its group may have used up what they had earned.
    #[inline]
    pub(super) fn may_change(&self, polls: u32, service_ns: u64) -> bool {
        polls == 1 || self.groups > 0 || service_ns > EARNS_NS * u64::from(polls)
    }

    /// A poll of the group was timed that stands for so many, and the group is charged so much. Whether its next poll is to be timed.
    pub(super) fn charge(&mut self, group: GroupIndex, polls: u32, service_ns: u64) -> bool {
        let left = u64::from(self.left.get(group as usize).copied().unwrap_or(0));
        let left = (left + service_ns / EARNS_NS).saturating_sub(polls.into());
        self.set(group, u16::try_from(left).unwrap_or(u16::MAX));
        left > 0
    }

    fn set(&mut self, group: GroupIndex, polls: u16) {
        if group as usize >= self.left.len() {
            if polls == 0 {
                return;
            }
            self.left.resize(group as usize + 1, 0);
        }
        let left = &mut self.left[group as usize];
        self.groups += usize::from(polls > 0);
        self.groups -= usize::from(*left > 0);
        *left = polls;
    }

    /// Forgets all groups, and gives the memory back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the group's polls are timed, if each that is not timed by lot is told to take so long.
    fn timed(long: &mut LongPolls, polls: &[u64]) -> usize {
        let is_timed = |&&ns: &&u64| {
            let is_timed = long.contains(0);
            if is_timed {
                long.charge(0, 1, ns);
            }
            is_timed
        };
        polls.iter().filter(is_timed).count()
    }

    #[test]
    fn a_poll_is_earned_per_so_much_service() {
        let mut long = LongPolls::default();
        assert!(
            !long.may_change(8, 8 * EARNS_NS) && long.may_change(8, 8 * EARNS_NS + 1),
            "it earns more than it costs"
        );
        assert!(long.may_change(1, 100));
        assert!(long.charge(0, 8, 20 * EARNS_NS));
        assert_eq!(timed(&mut long, &[100; 50]), 12);
        assert!(!long.contains(0) && long.groups == 0);
        long.charge(0, 1, u64::MAX);
        assert_eq!(timed(&mut long, &[100; 100_000]), u16::MAX.into(), "as much as is kept");
    }

    #[test]
    fn the_first_polls_of_a_group_are_timed_whatever_had_its_index() {
        let mut long = LongPolls::default();
        long.charge(0, 1, 1_000 * EARNS_NS);
        long.open(0);
        assert_eq!(timed(&mut long, &[100; 50]), AT_FIRST.into());
        assert!(!long.contains(1) && !long.contains(GroupIndex::MAX));
    }
}
