//! Tombstones: records of tasks that were aborted while their scheduler had them.
//!
//! A scheduler is not asked to remove a task, so the record stays until it gives the task out. One that never does, as a
//! lawful last-in-first-out order, would keep records for ever. So where there are many, and as many polls have gone by as a
//! scheduler takes that gives out everything in turn, the queue *sweeps*: the scheduler gives out all it has, and gets back
//! what is not a tombstone.

use std::cell::Cell;

/// So many are no matter.
const FEW: usize = 1_024;

/// The tombstones of a queue, and when it sweeps.
#[derive(Debug)]
pub(crate) struct Tombstones {
    count: Cell<usize>,
    /// After so many polls of the queue.
    due: Cell<u64>,
}

impl Tombstones {
    pub(crate) fn new() -> Self {
        Self { count: Cell::new(0), due: Cell::new(u64::MAX) }
    }

    /// One more, after so many polls, beside so many tasks that are ready.
    pub(crate) fn add(&self, polls: u64, ready: usize) {
        let count = self.count.get() + 1;
        self.count.set(count);
        if count >= FEW && self.due.get() == u64::MAX {
            self.due.set(polls + 4 * (count + ready) as u64);
        }
    }

    /// One less. True once in 64 times, which take some 5 µs.
    pub(crate) fn remove(&self) -> bool {
        let count = self.count.get().saturating_sub(1);
        self.count.set(count);
        if count == FEW / 2 {
            self.due.set(u64::MAX);
        }
        count.is_multiple_of(64)
    }

    /// Whether it is time to sweep.
    pub(crate) fn are_due(&self, polls: u64) -> bool {
        polls >= self.due.get()
    }

    /// They are swept.
    pub(crate) fn sweep(&self) {
        self.count.set(0);
        self.due.set(u64::MAX);
    }
}
