//! Shuttle's types, in the shape of the real ones.

pub(crate) use std::cell::{Cell, UnsafeCell};

pub(crate) use futures_util::task::AtomicWaker;
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicUsize, fence};
pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard};
pub(crate) use shuttle::thread::{self, Thread};

pub(crate) use super::wake::{impl_wake, reclaim, waker_of};

/// A thread of the scene.
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
