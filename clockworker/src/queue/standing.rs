//! [`Standing`]: where a task stands with its scheduler, in one word.

use super::groups::{GroupIndex, NO_GROUP};

/// A task's group, whether the scheduler has the task, whether its polls are [timed](super::long_polls), and the
/// [watchdog's](super::watchdog) mark.
///
/// Two bits say that it is ready, one at each end. If it were one bit, the compiler would write one byte to change it, and
/// the read of all four that soon follows would wait until that byte is in the cache: 5 ns a wake.
#[derive(Clone, Copy)]
pub(super) struct Standing(u32);

impl Standing {
    const READY: u32 = 1 << 31 | 1;
    /// Set on a ready task only, and cleared when it is given out.
    const MARKED: u32 = 1 << 30;
    const TIMED: u32 = 1 << 29;
    const GROUP: u32 = NO_GROUP << 1;

    /// That of a group's record: of no task, so it is never ready, and in no group.
    pub(super) const OF_GROUP: Self = Self(Self::GROUP);

    /// That of a new task, which its scheduler does not know of.
    pub(super) fn new(group: GroupIndex) -> Self {
        Self(group << 1)
    }

    #[inline]
    pub(super) fn group(self) -> GroupIndex {
        (self.0 & Self::GROUP) >> 1
    }

    #[inline]
    pub(super) fn is_ready(self) -> bool {
        self.0 & Self::READY != 0
    }

    /// Whether it is ready, was given out before, and is not marked.
    #[inline]
    pub(super) fn is_ready_again(self) -> bool {
        self.0 & (Self::READY | Self::MARKED) == Self::READY
    }

    /// Notes that the scheduler gave the task out. It stays ready until its poll shows that it is not.
    #[inline]
    pub(super) fn give_out(&mut self) {
        self.0 = (self.0 | Self::READY) & !Self::MARKED;
    }

    /// A task that becomes ready is not marked; one that is no longer ready loses its mark.
    #[inline]
    pub(super) fn set_ready(&mut self, ready: bool) {
        // Either is one instruction.
        match ready {
            true => self.0 |= Self::READY,
            false => self.0 &= Self::GROUP | Self::TIMED,
        }
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

    pub(super) fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}
