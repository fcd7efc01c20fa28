//! Wakers made of the standard library's `Arc`.

use std::sync::Arc;
use std::task::{Wake, Waker};

/// Makes a waker of `Arc<$target>`, which calls its [`WakeTarget`](super::WakeTarget).
macro_rules! impl_wake {
    ($target:ty) => {
        impl std::task::Wake for $target {
            fn wake(self: std::sync::Arc<Self>) {
                $crate::sync::WakeTarget::wake(&*self);
            }

            fn wake_by_ref(self: &std::sync::Arc<Self>) {
                $crate::sync::WakeTarget::wake(&**self);
            }
        }
    };
}
pub(crate) use impl_wake;

/// A waker that calls [`WakeTarget::wake`](super::WakeTarget::wake).
pub(crate) fn waker_of<S: Wake + Send + Sync + 'static>(target: Arc<S>) -> Waker {
    Waker::from(target)
}

/// Frees a value whose last reference is gone.
#[inline]
pub(crate) fn reclaim<T: 'static>(last: Box<T>) {
    drop(last);
}
