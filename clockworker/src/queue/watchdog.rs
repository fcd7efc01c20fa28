//! The watchdog: finds tasks that a scheduler passes over for long while it gives out others, so that they may be lost.
//!
//! It looks only after turns (`run/turn.rs`). At one look it marks the ready tasks, at the next it looks for marks.
//! Giving a task out clears its mark, on a path that is taken by new and marked tasks only: other polls pay nothing for this.

use std::cell::Cell;
use std::ops::Range;

use super::Records;

/// The most slots to look through at a time: some 15 µs. A queue with more is watched part by part.
const SLOTS: usize = 16_384;

/// For so many polls, and for so many more for each task, a scheduler may pass a task over. Then it is asked for all its tasks.
const PATIENCE: u64 = 65_536;
const PATIENCE_PER_TASK: u64 = 2_048;

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

    /// Looks no more, unless it is restarted.
    pub(crate) fn end(&self) {
        self.due.set(u64::MAX);
    }

    /// Looks as soon as it can, at another scheduler. Forgets what it has seen of the last one.
    pub(crate) fn restart(&self) {
        self.due.set(0);
        self.since.set(None);
    }

    /// Looks, after `polls` polls. True if a task has been passed over for long.
    pub(crate) fn sees_starved(&self, polls: u64, records: &mut Records) -> bool {
        let patience = PATIENCE + PATIENCE_PER_TASK * records.slots() as u64;
        let mut seen = false;
        if let Some(since) = self.since.get() {
            // The patience may have grown since, with the number of tasks.
            let end = since.saturating_add(patience);
            if polls < end {
                self.due.set(end);
                return false;
            }
            seen = records.any_marked(self.part());
        }
        self.mark_next(records);
        self.since.set(Some(polls));
        self.due.set(polls.saturating_add(patience));
        seen
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
