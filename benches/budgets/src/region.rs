//! What is counted: the calls of one function.

use std::hint::black_box;

/// Counts what happens inside a call.
pub trait Region: Sync {
    /// Does `work`, which is `n` operations, and counts it. Whatever the caller does before and after is not counted.
    ///
    /// It may be called on any thread.
    fn count(&self, n: u64, work: &mut dyn FnMut());
}

/// Counts nothing itself: callgrind does, by the name of the function that is called here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Callgrind {
    /// Turns of an empty loop to add per 1,000 operations: a slowdown, to try the check itself.
    pub(crate) slowdown: u64,
}

/// Instructions of one turn of the loop that `Callgrind::slowdown` adds, about.
pub(crate) const SLOWDOWN_INSTRUCTIONS: u64 = 4;

/// What callgrind knows `counted_region` by. (A star at the end would match nothing, in valgrind 3.19.)
pub(crate) const COUNTED: &str = "*::region::counted_region";

impl Region for Callgrind {
    fn count(&self, n: u64, work: &mut dyn FnMut()) {
        counted_region(work, n * self.slowdown / 1_000);
    }
}

/// The loop comes last and runs also if it has nothing to do: so `work` is no tail call, and callgrind sees this
/// function return.
#[inline(never)]
fn counted_region(work: &mut dyn FnMut(), slowdown: u64) {
    work();
    for turn in 0..slowdown {
        black_box(turn);
    }
}
