//! Panics in foreign code that no caller could be given.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls foreign code. None if it panics.
pub(crate) fn call_quietly<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).map_err(drop_quietly).ok()
}

/// Drops user data. Swallows a panic of its destructor, and of the destructor of that panic's payload.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // This could go on for ever, so what comes of it leaks.
        std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
    }
}

/// Locks what is used by this crate's own code alone: nothing that could panic runs under the lock.
pub(crate) fn lock<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}
