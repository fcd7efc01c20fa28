//! [`Ledger`]: the program's own books, kept apart from the executor's, and what a task carries with it to be in them.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clockworker::JoinError;

use crate::panics::{PanicsWhenDropped, drop_contained, panic_as_meant};
use crate::pulse::Pulse;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Tasks begun with: also those that are refused.
    Offered,
    /// Tasks that were refused.
    Refused,
    /// Tasks that completed.
    Completed,
    /// Tasks that were cancelled.
    Cancelled,
    /// Tasks that panicked, in a poll or in their drop.
    Panicked,
    /// Outputs that tasks gave.
    OutputsMade,
    /// Outputs that were dropped.
    OutputsDropped,
    /// Waits that a designated thread or task ends by one wake.
    Waits,
    /// Wakes that end a wait.
    Wakes,
    /// Waits that ended, or whose task went.
    WaitsOver,
    /// Join handles that gave what they had.
    HandlesResolved,
    /// Those of them that another thread awaited.
    JoinedElsewhere,
    /// Queues whose scheduler is hostile.
    HostileQueues,
    /// Polls of runs that were dropped midway.
    PollsDropped,
}

/// How much there was, by [`Tally`], and what the watchdog looks at. Any thread adds to it.
#[derive(Debug, Default)]
pub struct Ledger {
    /// None in the sum of all rounds, which must own no memory while memory is compared.
    pulse: Option<Arc<Pulse>>,
    counts: [AtomicU64; Tally::PollsDropped as usize + 1],
}

impl Ledger {
    /// Without counts, for a round whose progress that pulse shows.
    pub fn watched(pulse: &Arc<Pulse>) -> Self {
        Ledger { pulse: Some(Arc::clone(pulse)), ..Ledger::default() }
    }

    pub(super) fn beat(&self) {
        self.pulse.iter().for_each(|pulse| pulse.beat(1));
    }

    pub(super) fn add(&self, to: Tally) {
        self.counts[to as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How much there was.
    pub fn get(&self, of: Tally) -> u64 {
        self.counts[of as usize].load(Ordering::Relaxed)
    }

    /// Adds all that another has.
    pub fn add_all(&self, other: &Ledger) {
        for (sum, count) in self.counts.iter().zip(&other.counts) {
            sum.fetch_add(count.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Tasks that an executor took in; and those that completed, were cancelled and panicked.
    pub fn tasks(&self) -> [u64; 4] {
        let [completed, cancelled, panicked] =
            [Tally::Completed, Tally::Cancelled, Tally::Panicked].map(|of| self.get(of));
        [self.get(Tally::Offered) - self.get(Tally::Refused), completed, cancelled, panicked]
    }
}

/// A handle has given what it had to give.
pub(super) fn resolved(ledger: &Ledger, result: Result<Output, JoinError>) {
    ledger.add(Tally::HandlesResolved);
    drop_contained(result);
}

thread_local! {
    /// The task that this thread is spawning.
    static SPAWNING: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A task's entry in the books, which it carries with it. Closed when it is dropped.
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) ledger: Arc<Ledger>,
    /// What it counts as when it is dropped: set when the task is about to give its output, or to panic.
    pub(super) end: Cell<Tally>,
    /// Set once the future exists. (What has panicked already does not panic in its drop: that would end the process.)
    pub(super) panics_when_dropped: Cell<bool>,
}

impl Entry {
    pub(super) fn open(ledger: &Arc<Ledger>, id: u64) -> Self {
        ledger.add(Tally::Offered);
        let (end, panics_when_dropped) = (Cell::new(Tally::Cancelled), Cell::new(false));
        Entry { id, ledger: Arc::clone(ledger), end, panics_when_dropped }
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
        self.ledger.beat();
        if SPAWNING.get() == Some(self.id) {
            self.ledger.add(Tally::Refused);
            return;
        }
        let panics = self.panics_when_dropped.get() && self.end.get() != Tally::Panicked;
        self.ledger.add(if panics { Tally::Panicked } else { self.end.get() });
        if panics {
            panic_as_meant();
        }
    }
}

pub(super) struct Output {
    ledger: Arc<Ledger>,
    _panics: Option<PanicsWhenDropped>,
}

impl Output {
    pub(super) fn new(ledger: &Arc<Ledger>, panics_when_dropped: bool) -> Self {
        ledger.add(Tally::OutputsMade);
        let panics = panics_when_dropped.then(|| PanicsWhenDropped);
        Output { ledger: Arc::clone(ledger), _panics: panics }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.ledger.add(Tally::OutputsDropped);
    }
}
