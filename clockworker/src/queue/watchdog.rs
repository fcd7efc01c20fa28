//! The watchdog: finds tasks that a scheduler has lost while it gives out others, and tasks that it passes over for longer
//! than its [patience](clockworker_schedulers::Scheduler::patience).
//!
//! It looks only after turns (`run/watching.rs`). At one look it marks the ready tasks, at the next it looks for marks.
//! Giving a task out makes it not ready, and the same instruction clears the mark: polls and slices pay nothing for this.

use std::cell::Cell;
use std::ops::Range;

use super::Records;

/// The most slots to look through at a time: some 15 µs. A queue with more is watched part by part.
const SLOTS: usize = 16_384;

/// Polls after which a scheduler with endless patience is asked again.
const ASK_AGAIN: u64 = 65_536;

/// When to look next, and what the last look marked. Counts the polls of one queue.
#[derive(Debug)]
pub(crate) struct Watchdog {
    due: Cell<u64>,
    /// When the tasks of the part were marked. None if they were not.
    since: Cell<Option<u64>>,
    /// The first slot of the part that is watched.
    first: Cell<usize>,
}

impl Watchdog {
    /// A watchdog that looks as soon as it can.
    pub(crate) fn new() -> Self {
        Self { due: Cell::new(0), since: Cell::new(None), first: Cell::new(0) }
    }

    pub(crate) fn is_due(&self, polls: u64) -> bool {
        polls >= self.due.get()
    }

    /// Looks no more.
    pub(crate) fn end(&self) {
        self.due.set(u64::MAX);
    }

    /// Looks, after `polls` polls. True if a task has been passed over for at least `patience` of them.
    pub(crate) fn sees_starved(&self, polls: u64, patience: Option<u64>, records: &mut Records) -> bool {
        let Some(patience) = patience else {
            // The marked tasks may starve.
            self.since.set(None);
            self.due.set(polls.saturating_add(ASK_AGAIN));
            return false;
        };
        let patience = patience.max(1);
        if let Some(since) = self.since.get() {
            // The patience may have grown since, with the number of tasks.
            let end = since.saturating_add(patience);
            if polls < end {
                self.due.set(end);
                return false;
            }
            if records.any_marked(self.part()) {
                return true;
            }
        }
        self.mark_next(records);
        self.since.set(Some(polls));
        self.due.set(polls.saturating_add(patience));
        false
    }

    fn part(&self) -> Range<usize> {
        self.first.get()..self.first.get() + SLOTS
    }

    /// Marks the ready tasks of the next part.
    fn mark_next(&self, records: &mut Records) {
        let next = self.part().end;
        self.first.set(if next < records.slots() { next } else { 0 });
        records.mark_ready(self.part());
    }
}
