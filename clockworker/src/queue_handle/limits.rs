//! What a queue may have at most: tasks, CPU time.

use super::Queue;
use clockworker_schedulers::Cap;

use crate::queue::QueueError;

impl Queue {
    /// The most live tasks that the queue takes, if there is a limit.
    pub fn max_live(&self) -> Option<usize> {
        self.inner.limits.get().live
    }

    /// The most live tasks that the queue takes of each group, if there is a limit.
    pub fn max_live_per_group(&self) -> Option<usize> {
        self.inner.limits.get().live_per_group
    }

    /// Changes the most live tasks that the queue takes; `None` lifts the limit. See
    /// [`QueueBuilder::max_live`](crate::QueueBuilder::max_live).
    ///
    /// If it has more already, they stay, and it is full until it has fewer. If there is more room now, the callers that wait in
    /// [`spawn_when_room`](Queue::spawn_when_room) are woken before this returns, which takes O(log n) steps for each of them.
    ///
    /// # Errors
    ///
    /// If the limit is out of range, or the queue is gone, as in [`set_share`](Queue::set_share).
    pub fn set_max_live(&self, most: Option<usize>) -> Result<(), QueueError> {
        self.core.change_limits(&self.inner, |limits| limits.live = most)
    }

    /// Changes the most live tasks that the queue takes of each group; `None` lifts the limit. See
    /// [`QueueBuilder::max_live_per_group`](crate::QueueBuilder::max_live_per_group). Takes O(n) steps for n that wait in full
    /// groups.
    ///
    /// # Errors
    ///
    /// As [`set_max_live`](Queue::set_max_live).
    pub fn set_max_live_per_group(&self, most: Option<usize>) -> Result<(), QueueError> {
        self.core.change_limits(&self.inner, |limits| limits.live_per_group = most)
    }

    /// The most CPU time that the queue may have, if it is capped.
    pub fn cap(&self) -> Option<Cap> {
        self.inner.cap.get()
    }

    /// Changes the most CPU time that the queue may have, also while it runs or is throttled; `None` takes the cap away.
    ///
    /// What the queue has used in the period under way stays used. The period goes on, unless periods are to be of another
    /// length: then the first begins now. Setting the same cap again changes nothing.
    ///
    /// # Errors
    ///
    /// If the queue is gone, as in [`set_share`](Queue::set_share), or has children: those may be capped.
    pub fn set_cap(&self, cap: Option<Cap>) -> Result<(), QueueError> {
        self.core.set_cap(&self.inner, cap)
    }
}
