//! [`Wakes`]: how often tasks were woken, and from where.

/// How often tasks were woken that waited, and from where. Part of [`QueueStats`](crate::QueueStats) and
/// [`ExecutorStats`](crate::ExecutorStats).
///
/// A wake counts once the executor has taken note of it, between polls. Several of one task until then are one, and one of a task that
/// has ended by then is none. A task that wakes itself while it is polled yields, and has not waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakes {
    /// On the executor's thread: by a task, by the future given to `run_until`, or by the host, with its I/O and timers.
    pub local: u64,
    /// On other threads.
    pub remote: u64,
}

impl Wakes {
    pub(crate) fn new(all: u64, remote: u64) -> Self {
        Self { local: all.saturating_sub(remote), remote }
    }

    /// What was counted since `earlier`.
    pub(crate) fn since(self, earlier: Wakes) -> Wakes {
        Wakes {
            local: self.local.saturating_sub(earlier.local),
            remote: self.remote.saturating_sub(earlier.remote),
        }
    }

    /// These and others.
    pub(crate) fn plus(self, other: Wakes) -> Wakes {
        Wakes { local: self.local.wrapping_add(other.local), remote: self.remote.wrapping_add(other.remote) }
    }
}
