//! Counts every operation's allocations, with an allocator that counts and without valgrind, and compares them with the
//! budgets. So this needs a Rust toolchain only, and says that callgrind and the allocator see the same.

#![allow(unsafe_code, reason = "a global allocator is unsafe to implement; this one passes everything on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clockworker_budgets::budgets::{Budgets, default_path};
use clockworker_budgets::operations::{COUNTED_OPERATIONS, Operation};
use clockworker_budgets::region::Region;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is left to the system's allocator, with what the caller gave.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller promises is what is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller promises is what is asked for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller promises is what is asked for.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: what the caller promises is what is asked for.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Allocations in each counted call.
#[derive(Default)]
struct Counts(Mutex<Vec<u64>>);

impl Region for Counts {
    fn count(&self, _: u64, work: &mut dyn FnMut()) {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        work();
        let counted = ALLOCATIONS.load(Ordering::Relaxed) - before;
        self.0.lock().unwrap().push(counted);
    }
}

// One test: another beside it would allocate while this one counts.
#[test]
fn operations_allocate_as_often_as_their_budgets_say() {
    let budgets = Budgets::read(&default_path()).unwrap();
    for operation in Operation::ALL {
        let Some(budget) = budgets.get(operation) else { continue };
        let counts = Counts::default();
        operation.run(&counts);
        let counts = counts.0.into_inner().unwrap();
        let each = (counts[2] as f64 - counts[1] as f64) / COUNTED_OPERATIONS as f64;
        assert_eq!(each, budget.allocations, "{operation:?}: {counts:?}");

        // The file must not be changed to say otherwise.
        let key = operation.key;
        if key.starts_with("poll") || key.starts_with("wake") || key == "hop" {
            assert_eq!(budget.allocations, 0.0, "{operation:?} is not to allocate");
        }
    }
}
