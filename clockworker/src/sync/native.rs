//! The real things.

use std::task::{Wake, Waker};

pub(crate) use std::cell::{Cell, UnsafeCell};
#[cfg(all(feature = "monoio", target_os = "linux"))]
pub(crate) use std::sync::atomic::AtomicU8;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};
pub(crate) use std::thread::{self, Thread};

pub(crate) use futures_util::task::AtomicWaker;

pub(crate) use super::thread_id::ThreadId;

/// Makes `Arc<$signal>` something that wakes by [`Signal`](super::Signal).
macro_rules! impl_wake {
    ($signal:ty) => {
        impl std::task::Wake for $signal {
            fn wake(self: std::sync::Arc<Self>) {
                $crate::sync::Signal::signal(&*self);
            }

            fn wake_by_ref(self: &std::sync::Arc<Self>) {
                $crate::sync::Signal::signal(&**self);
            }
        }
    };
}
pub(crate) use impl_wake;

/// A waker that calls [`Signal::signal`](super::Signal::signal).
pub(crate) fn waker_of<S: Wake + Send + Sync + 'static>(signal: Arc<S>) -> Waker {
    Waker::from(signal)
}

/// Frees what nobody refers to any more.
#[inline]
pub(crate) fn reclaim<T: 'static>(last: Box<T>) {
    drop(last);
}
