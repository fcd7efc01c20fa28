//! What a closure panics with.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{quietly, said};

/// What a closure gives, or what it panics with, without the mark.
pub(crate) fn caught<T>(then: impl FnOnce() -> T) -> Result<T, String> {
    quietly(|| catch_unwind(AssertUnwindSafe(then))).map_err(said)
}

/// What a closure panics with, as it must.
#[track_caller]
pub(crate) fn complaint_of<T>(then: impl FnOnce() -> T) -> String {
    caught(then).err().expect("it panics")
}
