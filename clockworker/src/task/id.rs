//! Task ids.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many ids a thread takes at once, so that a spawn does not touch the shared counter each time.
const BLOCK: u64 = 1024;

/// Identifies a task among all tasks ever spawned in this process.
///
/// Ids grow, but not strictly in spawn order across threads; use them to tell tasks apart, in logs and in
/// [`JoinError::id`](crate::JoinError::id), not to order them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

impl Id {
    /// An id nobody has.
    pub(crate) fn next() -> Self {
        thread_local! {
            /// The next id of this thread's block, and how many are left.
            static RANGE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
        }
        RANGE.with(|range| {
            let (next, left) = match range.get() {
                (_, 0) => (take_block(), BLOCK),
                range => range,
            };
            range.set((next + 1, left - 1));
            Id(NonZeroU64::new(next).unwrap_or(NonZeroU64::MIN))
        })
    }
}

fn take_block() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Ordering: Relaxed, the blocks only have to be disjoint.
    NEXT.fetch_add(BLOCK, Ordering::Relaxed)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}
