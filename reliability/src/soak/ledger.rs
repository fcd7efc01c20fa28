//! The program's own books, kept apart from the executor's.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clockworker_testing::panics::{panic_as_meant, panic_unless_unwinding};

use crate::watchdog::Pulse;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tally {
    /// Tasks begun with: also those that are refused.
    Offered,
    Refused,
    Completed,
    Cancelled,
    Panicked,
    OutputsMade,
    OutputsDropped,
    /// Waits that a designated thread or task ends by one wake.
    Waits,
    Wakes,
    /// Waits that ended, or whose task went.
    WaitsOver,
    HandlesResolved,
    JoinedElsewhere,
    HostileQueues,
    PollsDropped,
}

/// How much there was, by [`Tally`]. Any thread adds to it.
#[derive(Debug, Default)]
pub(super) struct Counts([AtomicU64; Tally::PollsDropped as usize + 1]);

/// The counts of a round, and what its watchdog looks at.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) pulse: Arc<Pulse>,
    pub(super) counts: Counts,
}

impl Ledger {
    pub(super) fn add(&self, to: Tally) {
        self.counts.0[to as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self, of: Tally) -> u64 {
        self.counts.get(of)
    }
}

impl Counts {
    pub(super) fn get(&self, of: Tally) -> u64 {
        self.0[of as usize].load(Ordering::Relaxed)
    }

    /// Adds what another has.
    pub(super) fn add_all(&self, other: &Counts) {
        for (sum, count) in self.0.iter().zip(&other.0) {
            sum.fetch_add(count.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Tasks that an executor took in.
    pub(super) fn spawned(&self) -> u64 {
        self.get(Tally::Offered) - self.get(Tally::Refused)
    }

    /// Those of them that have ended.
    pub(super) fn ended(&self) -> u64 {
        self.get(Tally::Completed) + self.get(Tally::Cancelled) + self.get(Tally::Panicked)
    }
}

thread_local! {
    /// The task that this thread is spawning.
    static SPAWNING: Cell<Option<u64>> = const { Cell::new(None) };
}

/// What has become of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Completed,
    Panicked,
}

/// A task's entry in the books, which it carries with it. Closed when it is dropped.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u64,
    ledger: Arc<Ledger>,
    fate: Cell<Fate>,
    panics_when_dropped: Cell<bool>,
}

impl Entry {
    pub(super) fn open(ledger: &Arc<Ledger>, id: u64) -> Self {
        ledger.add(Tally::Offered);
        Entry {
            id,
            ledger: Arc::clone(ledger),
            fate: Cell::new(Fate::Open),
            panics_when_dropped: Cell::new(false),
        }
    }

    pub(super) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// The task is about to give its output.
    pub(super) fn complete(&self) {
        self.fate.set(Fate::Completed);
    }

    /// The task is about to panic.
    pub(super) fn panic(&self) {
        self.fate.set(Fate::Panicked);
    }

    /// Once the future exists its drop may panic. (What has panicked already may not: that would end the process.)
    pub(super) fn will_panic_when_dropped(&self) {
        self.panics_when_dropped.set(true);
    }
}

/// Calls `spawn`, in which a task that is refused is dropped.
pub(super) fn spawning<T>(id: u64, spawn: impl FnOnce() -> T) -> T {
    let outer = SPAWNING.replace(Some(id));
    let spawned = spawn();
    SPAWNING.set(outer);
    spawned
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.pulse.beat(1);
        if SPAWNING.get() == Some(self.id) {
            self.ledger.add(Tally::Refused);
            return;
        }
        let panics = self.panics_when_dropped.get() && self.fate.get() != Fate::Panicked;
        match self.fate.get() {
            _ if panics => self.ledger.add(Tally::Panicked),
            Fate::Panicked => self.ledger.add(Tally::Panicked),
            Fate::Completed => self.ledger.add(Tally::Completed),
            Fate::Open => self.ledger.add(Tally::Cancelled),
        }
        if panics {
            panic_as_meant();
        }
    }
}

/// A task's output.
#[derive(Debug)]
pub(super) struct Output {
    ledger: Arc<Ledger>,
    panics_when_dropped: bool,
}

impl Output {
    pub(super) fn new(ledger: &Arc<Ledger>, panics_when_dropped: bool) -> Self {
        ledger.add(Tally::OutputsMade);
        Output { ledger: Arc::clone(ledger), panics_when_dropped }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.ledger.add(Tally::OutputsDropped);
        if self.panics_when_dropped {
            panic_unless_unwinding();
        }
    }
}
