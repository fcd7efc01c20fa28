//! [`ThreadId`]: which thread is running.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A thread, by a number that is never given out twice in a process.
///
/// The address of a thread-local would be cheaper to get but may be reused once its thread has ended, and a waker may
/// outlive the thread it was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(u64);

thread_local! {
    /// The thread's number, or 0 before it is asked for. Works during thread-local teardown: it has no destructor.
    static ID: Cell<u64> = const { Cell::new(0) };
}

impl ThreadId {
    /// The calling thread.
    #[inline]
    pub(crate) fn current() -> Self {
        #[cold]
        fn assign(id: &Cell<u64>) -> u64 {
            static NEXT: AtomicU64 = AtomicU64::new(1);
            // Ordering: Relaxed, the number only has to be unique.
            id.set(NEXT.fetch_add(1, Ordering::Relaxed));
            id.get()
        }
        ID.with(|id| ThreadId(if id.get() == 0 { assign(id) } else { id.get() }))
    }

    /// Whether it is the calling thread.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        // No thread has the number 0.
        ID.get() == self.0
    }
}
