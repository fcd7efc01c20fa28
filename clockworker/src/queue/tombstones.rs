//! Tombstones: records of tasks that were aborted while their scheduler had them.
//!
//! A scheduler is not asked to remove a task, so the record stays until the scheduler gives the task out. One that never
//! does, as a lawful last-in-first-out order may not, would keep records for ever. So the queue *sweeps* when there are many,
//! and it has done as many polls as a scheduler takes that gives out everything in turn: the scheduler gives out all it has,
//! and gets back what is not a tombstone.

use std::cell::Cell;

/// Tombstones from which on a queue sweeps.
const FEW: usize = 1_024;

/// The tombstones of a queue, and when it sweeps.
#[derive(Debug)]
pub(crate) struct Tombstones {
    count: Cell<usize>,
    /// The number of polls of the queue after which it sweeps.
    due: Cell<u64>,
}

impl Default for Tombstones {
    fn default() -> Self {
        Self { count: Cell::new(0), due: Cell::new(u64::MAX) }
    }
}

impl Tombstones {
    /// Counts one more, after `polls` polls, while `ready` tasks are ready.
    pub(crate) fn add(&self, polls: u64, ready: usize) {
        let count = self.count.get() + 1;
        self.count.set(count);
        if count >= FEW && self.due.get() == u64::MAX {
            self.due.set(polls + 4 * (count + ready) as u64);
        }
    }

    /// Counts one less. True once in 64 times, which take some 5 µs.
    pub(crate) fn remove(&self) -> bool {
        let count = self.count.get().saturating_sub(1);
        self.count.set(count);
        if count == FEW / 2 {
            self.due.set(u64::MAX);
        }
        count.is_multiple_of(64)
    }

    /// Whether the queue is to sweep, after `polls` polls.
    pub(crate) fn are_due(&self, polls: u64) -> bool {
        polls >= self.due.get()
    }

    /// Counts none any more: the queue sweeps.
    pub(crate) fn sweep(&self) {
        self.count.set(0);
        self.due.set(u64::MAX);
    }
}
