//! The program's own books, kept apart from the executor's.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clockworker_testing::panics::{panic_as_meant, panic_unless_unwinding};

use crate::watchdog::Pulse;

/// A count that any thread adds to.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See the [module docs](self).
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) pulse: Arc<Pulse>,
    /// Tasks begun with: also those that are refused.
    pub(super) offered: Count,
    pub(super) refused: Count,
    pub(super) completed: Count,
    pub(super) cancelled: Count,
    pub(super) panicked: Count,
    pub(super) outputs_made: Count,
    pub(super) outputs_dropped: Count,
    /// Waits that a designated thread or task ends by one wake.
    pub(super) waits: Count,
    pub(super) wakes: Count,
    /// Waits that ended, or whose task went.
    pub(super) waits_over: Count,
    pub(super) handles_resolved: Count,
    pub(super) joined_elsewhere: Count,
    pub(super) hostile_queues: Count,
    pub(super) polls_dropped: Count,
}

impl Ledger {
    /// Tasks that an executor took in.
    pub(super) fn spawned(&self) -> u64 {
        self.offered.get() - self.refused.get()
    }

    /// Those of them that have ended.
    pub(super) fn ended(&self) -> u64 {
        self.completed.get() + self.cancelled.get() + self.panicked.get()
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
        ledger.offered.add();
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
            self.ledger.refused.add();
            return;
        }
        let panics = self.panics_when_dropped.get() && self.fate.get() != Fate::Panicked;
        match self.fate.get() {
            _ if panics => self.ledger.panicked.add(),
            Fate::Panicked => self.ledger.panicked.add(),
            Fate::Completed => self.ledger.completed.add(),
            Fate::Open => self.ledger.cancelled.add(),
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
        ledger.outputs_made.add();
        Output { ledger: Arc::clone(ledger), panics_when_dropped }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.ledger.outputs_dropped.add();
        if self.panics_when_dropped {
            panic_unless_unwinding();
        }
    }
}
