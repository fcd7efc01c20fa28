//! [`Event`]: one thing that happened, of a [`Timeline`](super::Timeline).

use std::panic::Location;
use std::time::Duration;

/// One thing that happened on the executor's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, since the executor was made.
    pub at: Duration,
    /// What.
    pub kind: EventKind,
}

/// A task, as long as it lives: its queue, and its place there.
///
/// The place of a task that has ended is given to another one, with another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskRef {
    /// The index of its queue: see [`TimelineQueue`](super::TimelineQueue).
    pub queue: u32,
    /// Its slot in the queue's records.
    pub slot: u32,
    /// How many tasks the queue had had when it was spawned, modulo 2^24.
    pub generation: u32,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A task was spawned. It is ready from then on; no [`Ready`](EventKind::Ready) says so.
    Spawned {
        /// The task.
        task: TaskRef,
        /// Where.
        location: &'static Location<'static>,
        /// The index of its group in its queue, if it has one. When a group has closed, another one may have its index.
        group: Option<u32>,
    },
    /// A task that waited was woken. (One that yields says so where it was [`Polled`](EventKind::Polled).)
    Ready {
        /// The task.
        task: TaskRef,
        /// By whom.
        reason: ReadyReason,
    },
    /// A queue was picked.
    SliceBegan {
        /// The index of the queue.
        queue: u32,
        /// Its ready tasks.
        ready: u32,
    },
    /// A task was polled. `at` is when the poll began.
    Polled {
        /// The task.
        task: TaskRef,
        /// How long it took.
        took: Duration,
        /// Of how many polls the time was measured together: 1 where this one was measured by itself. Short polls are not, as
        /// reading the clock would take as long as they do; they are then given equal parts.
        measured_with: u32,
        /// What came of it.
        outcome: PollOutcome,
    },
    /// The slice of a queue was over.
    SliceEnded {
        /// The index of the queue.
        queue: u32,
        /// Why.
        reason: SliceEndReason,
    },
    /// A turn on the host's thread began.
    TurnBegan,
    /// The turn was over, and the host had the thread.
    TurnEnded {
        /// Whether nothing was left to do: if not, the host was only to have a look at its own.
        idle: bool,
    },
}

/// By whom a task was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadyReason {
    /// On the executor's thread, by a task or by the host.
    Local,
    /// On another thread.
    Remote,
}

/// What came of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PollOutcome {
    /// The task waits for a wake.
    Pending,
    /// It was woken while it was polled: it is ready again.
    Yielded,
    /// It has ended.
    Finished,
}

/// Why a slice was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SliceEndReason {
    /// The time granted was used up.
    Spent,
    /// A queue woke up that was to be served first.
    Preempted,
    /// No task of the queue was ready.
    Drained,
    /// The host was due.
    HostDue,
    /// Anything else: the future given to `run_until` was woken, or the queue's scheduler was replaced.
    Other,
}
