//! [`Event`]: one thing that happened, of a [`Timeline`](super::Timeline).

use std::panic::Location;
use std::time::Duration;

use clockworker::probe::{PollOutcome, SliceEndReason, TaskRef, WokenBy};

/// One thing that happened on the executor's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, since the executor was made.
    pub at: Duration,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A task was spawned, or came from another queue. It is ready from then on; no [`Ready`](EventKind::Ready) says so.
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
        reason: WokenBy,
    },
    /// A task that was ready has [moved](clockworker::move_to()) to another queue: it waits no more here, but there since the same time.
    /// A [`Spawned`](EventKind::Spawned) says where.
    Left {
        /// The task, as it was here.
        task: TaskRef,
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
