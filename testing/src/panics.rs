//! Panics that are meant, and keeping them in.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of a panic that is meant.
#[derive(Debug)]
pub struct Meant;

/// Panics, as is meant. The panic hook is not called, so nothing is printed.
pub fn panic_as_meant() -> ! {
    resume_unwind(Box::new(Meant))
}

/// Panics as [`panic_as_meant`], but while another panic unwinds: that would end the process.
pub fn panic_unless_unwinding() {
    if !std::thread::panicking() {
        panic_as_meant();
    }
}

/// Drops a value whose drop may panic. False if it did.
pub fn drop_contained<T>(value: T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(value))).is_ok()
}

/// Panics when it is dropped.
#[derive(Debug)]
pub struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic_unless_unwinding();
    }
}
