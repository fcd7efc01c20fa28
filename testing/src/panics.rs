//! Panics that are meant, and keeping them in.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Wake;

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

/// A waker that panics.
#[derive(Debug)]
pub struct TouchyWaker {
    /// Whether it panics when it is woken.
    pub in_wake: bool,
    /// What panics when it is dropped.
    pub in_drop: Option<PanicsWhenDropped>,
}

impl Wake for TouchyWaker {
    fn wake(self: Arc<Self>) {
        if self.in_wake {
            panic_as_meant();
        }
    }
}
