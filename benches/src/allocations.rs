//! What this thread allocates, counted.
//!
//! Only the program installs the counting allocator; without it every count is zero. Counting is two additions on
//! thread-local memory.

#![allow(unsafe_code, reason = "a global allocator is unsafe to implement; this one passes everything on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

#[derive(Debug)]
pub struct Counting;

#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    pub count: u64,
    /// Bytes asked for and not given back.
    pub live: i64,
}

impl Allocations {
    pub fn so_far() -> Self {
        Allocations { count: COUNT.get(), live: LIVE.get() }
    }

    pub fn since(before: Self) -> Self {
        let now = Allocations::so_far();
        Allocations { count: now.count - before.count, live: now.live - before.live }
    }
}

#[inline]
fn count(allocations: u64, bytes: i64) {
    COUNT.set(COUNT.get() + allocations);
    LIVE.set(LIVE.get() + bytes);
}

// SAFETY: every call is passed on to the system's allocator as it is. The counters are constants without a destructor, so
// that they neither allocate nor are ever gone.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(memory, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(memory, layout) }
    }
}
