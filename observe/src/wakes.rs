//! [`Wakes`]: how often tasks were woken, and from where.

/// How often tasks were woken that waited, and from where. Part of
/// [`Observed`](crate::Observed).
///
/// A wake on another thread counts once it has come in, between polls. Several of one task until it is polled are one, and one of a task
/// that has ended is none. A task that wakes itself while it is polled yields, and has not waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakes {
    /// On the executor's thread: by a task, by the future given to `run_until`, or by the host, with its I/O and timers.
    pub local: u64,
    /// On other threads.
    pub remote: u64,
}

impl Wakes {
    /// What was counted since `earlier`.
    pub fn since(self, earlier: Wakes) -> Wakes {
        Wakes {
            local: self.local.saturating_sub(earlier.local),
            remote: self.remote.saturating_sub(earlier.remote),
        }
    }

    /// These and others.
    pub(crate) fn plus(self, other: Wakes) -> Wakes {
        Wakes { local: self.local + other.local, remote: self.remote + other.remote }
    }
}
