//! Which thread owns an executor, and data that only that thread may reach.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A thread, by a number that is never given out twice in a process.
///
/// The address of a thread-local would be cheaper to get but may be reused once its thread has ended, and a waker may
/// outlive the thread it was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(u64);

impl ThreadId {
    /// The calling thread. Works during thread-local teardown: the cell has no destructor.
    #[inline]
    pub(crate) fn current() -> Self {
        thread_local! {
            static ID: Cell<u64> = const { Cell::new(0) };
        }
        #[cold]
        fn assign(id: &Cell<u64>) -> u64 {
            static NEXT: AtomicU64 = AtomicU64::new(1);
            // Ordering: Relaxed, the number only has to be unique.
            id.set(NEXT.fetch_add(1, Ordering::Relaxed));
            id.get()
        }
        ID.with(|id| ThreadId(if id.get() == 0 { assign(id) } else { id.get() }))
    }
}

/// A value that can be shared with other threads but reached from its owner's thread only.
#[derive(Debug)]
pub(crate) struct OwnerCell<T> {
    owner: ThreadId,
    value: T,
}

// SAFETY: `get` hands out the value on the owner's thread only, so `T` is never used from two threads. It may be
// dropped on another one, which `T: Send` allows.
unsafe impl<T: Send> Sync for OwnerCell<T> {}

impl<T> OwnerCell<T> {
    /// Makes the calling thread the owner.
    pub(crate) fn new(value: T) -> Self {
        Self { owner: ThreadId::current(), value }
    }

    /// The value, if this is the owner's thread.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        (ThreadId::current() == self.owner).then_some(&self.value)
    }
}
