//! Where a task stands with its scheduler, in one word.

use super::groups::{GroupIndex, NO_GROUP};

/// A task's group, whether the scheduler has the task, and the [watchdog's](super::watchdog) mark.
///
/// Whether it is ready is said by two bits, one at each end. Changing one bit the compiler would make a write of one byte, and
/// the read of all four that follows soon would wait until the byte is in the cache: 5 ns a wake.
#[derive(Clone, Copy)]
pub(super) struct Standing(u32);

impl Standing {
    const READY: u32 = 1 << 31 | 1;
    /// Set on a ready task only, and gone when it is given out.
    const MARKED: u32 = 1 << 30;
    const GROUP: u32 = NO_GROUP << 1;

    pub(super) fn ready(group: GroupIndex) -> Self {
        Self(group << 1 | Self::READY)
    }

    #[inline]
    pub(super) fn group(self) -> GroupIndex {
        (self.0 & Self::GROUP) >> 1
    }

    #[inline]
    pub(super) fn is_ready(self) -> bool {
        self.0 & Self::READY != 0
    }

    /// A task that becomes ready is not marked. One that is ready no more loses its mark.
    #[inline]
    pub(super) fn set_ready(&mut self, ready: bool) {
        // Both are one instruction.
        match ready {
            true => self.0 |= Self::READY,
            false => self.0 &= Self::GROUP,
        }
    }

    pub(super) fn mark(&mut self) {
        self.0 |= Self::MARKED;
    }

    pub(super) fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}
