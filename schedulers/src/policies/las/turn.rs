//! A group's turn among those that have attained as much.

use super::width::end_of;

/// The most polls of a turn. Four times as many spare 1.5 ns a poll more; but a task that is woken waits for the turns of all others in
/// its bucket.
const TURN_POLLS: u32 = 16;

/// Says that no group has it, and it is in no bucket.
const NONE: u32 = u32::MAX;

/// The turn of a group among those of its bucket: of the one popped last in order, if it had one ready task.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) group: u32,
    pub(super) bucket: u32,
    /// What the group has attained when the turn ends: a resolution more, or as much as takes it out of the bucket.
    ends_ns: u64,
    polls_left: u32,
    /// Whether the group waits for its next poll, at the head of its bucket.
    pub(super) waits: bool,
}

impl Turn {
    /// No group's.
    pub(super) const NONE: Self = Self { group: NONE, bucket: NONE, ends_ns: 0, polls_left: 0, waits: false };

    /// That of a group which has attained so much, and is in `bucket`.
    #[inline]
    pub(super) fn new(group: u32, (bucket, attained_ns): (u32, u64), resolution_bits: u32) -> Self {
        let ends_ns = attained_ns.saturating_add(1 << resolution_bits).min(end_of(bucket, resolution_bits));
        Self { group, bucket, ends_ns, polls_left: TURN_POLLS, waits: false }
    }

    /// Whether `group`, which has attained so much, still has its turn.
    #[inline]
    pub(super) fn lasts(self, group: u32, attained_ns: u64) -> bool {
        self.group == group && attained_ns < self.ends_ns && self.polls_left > 0
    }

    /// Counts a poll of it.
    #[inline]
    pub(super) fn count_poll(&mut self) {
        self.polls_left -= 1;
    }
}
