//! Loom's types, in the shape of the real ones, with more checks:
//!
//! * an atomic's end counts as a write, so all uses of it must happen before; and it must end, and not be used afterwards;
//! * every use of a cell counts as an access, of which loom allows no two at once;
//! * [`AtomicWaker`] is a lock and a slot. The real one wakes more often (also a waker registered during a wake), never less.
//!
//! Every finding panics, and the first panic ends the process (`models::explore`): nothing here is unwound through.

mod atomic;
mod cell;
mod graveyard;
mod waker;
mod weakened;

pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
pub(crate) use loom::thread::{self, Thread};

pub(crate) use atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence};
pub(crate) use cell::{Cell, UnsafeCell};
pub(crate) use graveyard::{clear_graveyard, reclaim};
pub(crate) use waker::{AtomicWaker, impl_wake, waker_of};

/// Which thread of the model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(thread::ThreadId);

impl ThreadId {
    pub(crate) fn current() -> Self {
        ThreadId(thread::current().id())
    }

    pub(crate) fn is_current(self) -> bool {
        ThreadId::current() == self
    }
}
