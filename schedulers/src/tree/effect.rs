//! What a decision asks of the caller: [`Grant`], [`Effect`]; and [`Left`], what the caller tells at the end of a slice.

use crate::eevdf::QueueId;

/// A slice of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Whose slice it is.
    pub queue: QueueId,
    /// The clock reading by which it is to end, with the poll under way then. `u64::MAX` while no other queue waits.
    pub until: u64,
    /// Whether the clock is to be read after each poll: the queue is capped or idle, or a throttled one is to go on in time.
    pub exact: bool,
    /// Whether the queue is to drop futures only, and to poll no task: it is idle or throttled.
    pub drops_only: bool,
}

/// What a change asks of the one who runs slices.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: no slice is under way, and no more may run than before.
    None,
    /// A slice is under way. It is to end by then, unless it was to end sooner; `u64::MAX` if no other queue waits any more. `exact`
    /// as in [`Grant`].
    Until {
        /// A clock reading.
        until: u64,
        /// Whether the clock is to be read after each poll.
        exact: bool,
    },
    /// The slice under way is to end after the poll under way.
    Preempt,
    /// No slice is under way, and more may run than before: one who sleeps is to [pick](crate::QueueTree::pick), or to look at the
    /// [next release](crate::QueueTree::next_release).
    Turn,
}

/// What a queue has left to do at the end of its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: it sleeps.
    Nothing,
    /// Tasks to poll.
    Tasks,
    /// Futures to drop, and maybe tasks.
    Drops,
}
