//! [`QueueId`]: a queue, by number.

use core::fmt;

/// A queue, as [`Eevdf`](crate::Eevdf) knows it: a small dense index, reused after [`Eevdf::remove`](crate::Eevdf::remove).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(pub(super) u32);

impl QueueId {
    /// The dense index, usable as an index into a `Vec`.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue {}", self.0)
    }
}
