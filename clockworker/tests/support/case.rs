//! One of many cases.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a case of a test. If it fails, its name follows the panic.
#[track_caller]
pub(crate) fn case(name: impl Display, then: impl FnOnce()) {
    let passed = catch_unwind(AssertUnwindSafe(then)).is_ok();
    assert!(passed, "{name}: failed");
}
