//! Wakers made of the standard library's `Arc`.

use std::sync::Arc;
use std::task::{Wake, Waker};

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
