//! [`Limits`]: how many tasks a queue takes.

use super::QueueError;

/// The most tasks of a queue. With the groups and the tombstones their slots fit 31 bits.
pub(crate) const MAX_TASKS: usize = 1 << 30;

/// The most tasks that a queue and each of its groups take. `None` where the user has set no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) live: Option<usize>,
    pub(crate) live_per_group: Option<usize>,
}

impl Limits {
    /// These limits, if all are in range.
    pub(crate) fn checked(self) -> Result<Self, QueueError> {
        let named = [("max_live", self.live), ("max_live_per_group", self.live_per_group)];
        let wrong = |limit: usize| !(1..=MAX_TASKS).contains(&limit);
        match named.into_iter().find(|(_, limit)| limit.is_some_and(wrong)) {
            Some((name, limit)) => Err(QueueError::limit(name, limit.unwrap_or_default())),
            None => Ok(self),
        }
    }

    /// The most live tasks of the queue.
    pub(crate) fn max_live(&self) -> usize {
        self.live.unwrap_or(MAX_TASKS)
    }

    /// Whether a count of live tasks decides alone.
    pub(crate) fn only_count_live(&self) -> bool {
        self.live_per_group.is_none()
    }
}
