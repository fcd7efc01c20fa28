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

thread_local! {
    /// The task whose future or output is being polled or dropped on this thread.
    static CURRENT: Cell<Option<Id>> = const { Cell::new(None) };
}

impl Id {
    /// The id of the task that runs: the one whose future is being polled or dropped on this thread, or whose output is being
    /// dropped. None outside tasks. The future given to [`run_until`](crate::Executor::run_until) belongs to the task inside
    /// which it is run, if there is one.
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::Id;
    ///
    /// let ex = clockworker::Executor::new();
    /// let task = ex.spawn(async { Id::current() });
    /// let id = task.id();
    /// assert_eq!(ex.block_on(task).unwrap(), Some(id));
    /// assert_eq!(Id::current(), None);
    /// ```
    pub fn current() -> Option<Id> {
        CURRENT.get()
    }

    /// Makes `task` the current one. The guard of the turn puts the outer one back.
    #[inline]
    pub(crate) fn make_current(task: Option<Id>) {
        CURRENT.set(task);
    }

    /// The number that it is.
    pub fn as_u64(self) -> u64 {
        self.0.get()
    }

    /// The id that is [that number](Id::as_u64). None of 0.
    pub fn from_u64(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Id)
    }

    /// Makes this task the current one until the guard is dropped.
    pub(crate) fn enter(self) -> EnteredId {
        EnteredId { outer: CURRENT.replace(Some(self)) }
    }

    /// A new id.
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

/// Makes the task current again that was current before.
pub(crate) struct EnteredId {
    outer: Option<Id>,
}

impl Drop for EnteredId {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
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
