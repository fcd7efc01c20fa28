//! What to do with panics in foreign code where nobody could be told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Drops user data, and swallows a panic of its destructor, and one of the destructor of that panic's payload.
pub(crate) fn drop_quietly<T>(value: T) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) else { return };
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // This could go on for ever: leak it.
        std::mem::forget(again);
    }
}

/// Wakes and drops a waker, and swallows a panic of either.
pub(crate) fn wake_quietly(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref())) {
        drop_quietly(payload);
    }
    drop_quietly(waker);
}
