//! The stack of cells that other threads have freed.

#![allow(unsafe_code, reason = "the stack is through the memory of freed cells")]

use std::ptr::NonNull;

use super::explore;
use crate::sync::{Arc, reclaim, thread};
use crate::task::{Returned, Vacant};

/// Pushes what stands for a freed cell.
fn free(returned: &Returned) {
    let vacant = NonNull::from(Box::leak(Box::new(Vacant::new())));
    // SAFETY: it was just made, and is not used again here.
    unsafe { returned.push(vacant) };
}

/// Takes all out, and overwrites each.
fn collect(returned: &Returned) -> usize {
    let overwrite = |memory: NonNull<u8>| {
        // SAFETY: `free` leaked it, and it was taken out.
        reclaim(unsafe { Box::from_raw(memory.cast::<Vacant>().as_ptr()) });
    };
    returned.take_all().map(overwrite).count()
}

/// A cell is taken out, and is on top again, while a thread pushes another on top of it.
#[test]
fn a_cell_that_comes_round_again_is_collected_once() {
    explore("returned/again", || {
        let returned = Arc::new(Returned::new());
        let thread = {
            let returned = Arc::clone(&returned);
            thread::spawn(move || free(&returned))
        };
        free(&returned);
        let taken: Vec<_> = returned.take_all().collect();
        for memory in &taken {
            // SAFETY: it was taken out, and is not used again here.
            unsafe { returned.push(memory.cast()) };
        }
        thread.join().unwrap();
        assert_eq!(collect(&returned), 2);
    });
}

/// Two threads push while the owner collects. Each cell comes out once, and is the owner's then.
#[test]
fn what_other_threads_free_is_collected_once() {
    explore("returned/two", || {
        let returned = Arc::new(Returned::new());
        let threads = [0, 1].map(|_| {
            let returned = Arc::clone(&returned);
            thread::spawn(move || free(&returned))
        });
        let early = collect(&returned);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(early + collect(&returned), 2);
        assert!(returned.is_empty());
    });
}
