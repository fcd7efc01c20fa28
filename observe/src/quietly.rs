//! Panics in foreign code that no caller could be given.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops user data. Swallows a panic of its destructor, and of the destructor of that panic's payload.
pub(crate) fn drop_quietly<T>(value: T) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) else { return };
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // This could go on for ever, so it leaks.
        std::mem::forget(again);
    }
}
