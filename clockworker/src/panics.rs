//! What to do with panics in destructors where nobody could be told.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops user data, and swallows a panic of its destructor.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // A payload whose own drop panics in turn would go on for ever: leak it.
        std::mem::forget(payload);
    }
}
