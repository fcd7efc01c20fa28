//! Freed memory, kept for as long as the execution lasts.

use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;

thread_local! {
    /// Freed memory of this execution, kept so that a later use of it is noticed.
    static GRAVEYARD: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Drops a value whose last reference is gone, and keeps its memory.
pub(crate) fn reclaim<T: 'static>(last: Box<T>) {
    let raw = Box::into_raw(last);
    // SAFETY: it came from a box, and is dropped once.
    unsafe { std::ptr::drop_in_place(raw) };
    // SAFETY: as above. What may be uninitialised has no drop.
    let memory: Box<MaybeUninit<T>> = unsafe { Box::from_raw(raw.cast()) };
    GRAVEYARD.with_borrow_mut(|graveyard| graveyard.push(memory));
}

/// Between executions: gives freed memory back.
pub(crate) fn clear_graveyard() {
    GRAVEYARD.with_borrow_mut(Vec::clear);
}
