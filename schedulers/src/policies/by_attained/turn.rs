//! A group's turn among those of its bucket.

use super::buckets::Below;
use super::rank::Rank;

/// The most polls of a turn, where groups take turns. Four times as many spare 1.5 ns a poll more; but a task that is woken waits for the
/// turns of all others in its bucket.
const TURN_POLLS: u32 = 16;

/// Says that no group has it, and it is in no bucket.
const NONE: u32 = u32::MAX;

/// The turn of the group popped last in order.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Whose, until it has attained enough.
    pub(super) group: u32,
    pub(super) bucket: u32,
    /// The buckets below that.
    pub(super) below: Below,
    /// What the group has attained when the turn ends: as much as a turn lasts for, or as takes it out of the bucket.
    ends_ns: u64,
    polls_left: u32,
    /// Whether the group waits for its next poll at the head of its bucket, where groups take turns.
    pub(super) waits: bool,
}

impl Turn {
    /// No group's.
    pub(super) const NONE: Self =
        Self { group: NONE, bucket: NONE, below: Below::NONE, ends_ns: 0, polls_left: 0, waits: false };

    /// That of a group which has attained so much, and is in `bucket`.
    #[inline]
    pub(super) fn new(group: u32, (bucket, attained_ns): (u32, u64), rank: &impl Rank) -> Self {
        let ends_ns = attained_ns.saturating_add(rank.turn_ns()).min(rank.end_ns(bucket));
        let group = if attained_ns < ends_ns { group } else { NONE };
        Self { group, bucket, below: Below::new(bucket), ends_ns, polls_left: TURN_POLLS, waits: false }
    }

    /// Whether `group` still has its turn.
    #[inline]
    pub(super) fn lasts<R: Rank>(&self, group: u32) -> bool {
        self.group == group && (!R::TAKES_TURNS || self.polls_left > 0)
    }

    /// Counts a poll of it, where groups take turns.
    #[inline]
    pub(super) fn count_poll<R: Rank>(&mut self) {
        if R::TAKES_TURNS {
            self.polls_left = self.polls_left.wrapping_sub(1);
        }
    }

    /// The group has attained so much: its turn ends if that is enough.
    #[inline]
    pub(super) fn went_on(&mut self, attained_ns: u64) {
        if attained_ns >= self.ends_ns {
            self.group = NONE;
        }
    }
}
