//! [`QueueId`]: a queue, by number.

use core::fmt;
use core::num::NonZeroU32;

/// A queue, as [`Eevdf`](crate::Eevdf) and [`QueueTree`](crate::QueueTree) know it: a small dense index, which is used again
/// once the queue is removed, and a generation, which tells the queues apart that have had it. An id of a queue that was
/// removed names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId {
    pub(super) index: u32,
    /// Not zero, so that an `Option` of this fits a register.
    pub(super) generation: NonZeroU32,
}

impl QueueId {
    /// The dense index, usable as an index into a `Vec`.
    #[inline]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Grows in the order in which queues are added: from 1, and again from 1 after 2³² − 1.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.generation.get()
    }
}

impl fmt::Debug for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue {}", self.index)
    }
}
