//! [`Standing`]: where a task stands with its scheduler, in one word.

use super::groups::{GroupIndex, NO_GROUP};

/// A task's group, whether its polls are [timed](super::long_polls), the [watchdog's](super::watchdog) mark, and whether it is a
/// [tombstone](super::tombstones). Whether it is ready its cell says.
#[derive(Clone, Copy)]
pub(super) struct Standing(u32);

impl Standing {
    /// Aborted while its scheduler had it.
    const TOMBSTONE: u32 = 1 << 31;
    /// Set on a ready task only, and cleared when it is given out.
    const MARKED: u32 = 1 << 30;
    const TIMED: u32 = 1 << 29;
    const GROUP: u32 = NO_GROUP;

    /// That of a group's record, which is in no group.
    pub(super) const OF_GROUP: Self = Self(Self::GROUP);

    /// That of a new task.
    pub(super) fn new(group: GroupIndex) -> Self {
        Self(group)
    }

    #[inline]
    pub(super) fn group(self) -> GroupIndex {
        self.0 & Self::GROUP
    }

    /// Whether it was aborted while its scheduler had it.
    #[inline]
    pub(super) fn is_tombstone(self) -> bool {
        self.0 & Self::TOMBSTONE != 0
    }

    pub(super) fn bury(&mut self) {
        self.0 |= Self::TOMBSTONE;
    }

    /// Whether each poll of the task is timed for itself.
    #[inline]
    pub(super) fn is_timed(self) -> bool {
        self.0 & Self::TIMED != 0
    }

    pub(super) fn set_timed(&mut self, timed: bool) {
        self.0 = if timed { self.0 | Self::TIMED } else { self.0 & !Self::TIMED };
    }

    pub(super) fn mark(&mut self) {
        self.0 |= Self::MARKED;
    }

    pub(super) fn unmark(&mut self) {
        self.0 &= !Self::MARKED;
    }

    #[inline]
    pub(super) fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}
