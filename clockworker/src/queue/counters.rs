//! Counters of a queue, and of a group. Only the owner thread writes them.

use std::cell::Cell;

use crate::task::Finish;

/// A counter. Wraps after 584 years of nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.set(self.0.get().wrapping_add(n));
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

/// The counters of a queue.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) busy_ns: Counter,
    pub(crate) slices: Counter,
    pub(crate) overruns: Counter,
    pub(crate) overrun_ns: Counter,
    pub(crate) preemptions: Counter,
    pub(crate) spawned: Counter,
    pub(crate) completed: Counter,
    pub(crate) cancelled: Counter,
    pub(crate) panicked: Counter,
    pub(crate) moved: Counter,
    pub(crate) refused: Counter,
}

impl Counters {
    pub(crate) fn finished(&self, finish: Finish) {
        match finish {
            Finish::Completed => self.completed.add(1),
            Finish::Cancelled => self.cancelled.add(1),
            Finish::Panicked => self.panicked.add(1),
        }
    }
}

impl Counters {
    /// How many tasks were completed, cancelled, and panicked.
    pub(crate) fn all_finished(&self) -> [u64; 3] {
        [&self.completed, &self.cancelled, &self.panicked].map(Counter::get)
    }

    /// Adds another queue's counts to these.
    pub(crate) fn absorb(&self, other: &Counters) {
        for (to, from) in self.all().into_iter().zip(other.all()) {
            to.add(from.get());
        }
    }

    fn all(&self) -> [&Counter; 12] {
        let Counters {
            polls,
            busy_ns,
            slices,
            overruns,
            overrun_ns,
            preemptions,
            spawned,
            completed,
            cancelled,
            panicked,
            moved,
            refused,
        } = self;
        [
            polls,
            busy_ns,
            slices,
            overruns,
            overrun_ns,
            preemptions,
            spawned,
            completed,
            cancelled,
            panicked,
            moved,
            refused,
        ]
    }
}

/// The counters of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupCounters {
    /// Counted only under a scheduler that needs to know the service.
    pub(crate) polls: u64,
    /// As `polls`.
    pub(crate) busy_ns: u64,
    pub(crate) spawned: u64,
    pub(crate) completed: u64,
    pub(crate) cancelled: u64,
    pub(crate) panicked: u64,
    pub(crate) moved: u64,
}

impl GroupCounters {
    pub(crate) fn finished(&mut self, finish: Finish) {
        match finish {
            Finish::Completed => self.completed += 1,
            Finish::Cancelled => self.cancelled += 1,
            Finish::Panicked => self.panicked += 1,
        }
    }

    /// Tasks that have not finished.
    pub(crate) fn live(&self) -> u64 {
        self.spawned - self.completed - self.cancelled - self.panicked - self.moved
    }
}
