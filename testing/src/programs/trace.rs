//! Where events are noted, from any thread.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use clockworker::ManualClock;

use super::event::{Entry, Event};

/// What was seen so far. Clones are the same.
#[derive(Clone)]
pub(super) struct Trace {
    entries: Arc<Mutex<Vec<Entry>>>,
    clock: ManualClock,
    owner: ThreadId,
}

thread_local! {
    /// What happens now is to be noted as if it happened on another thread.
    static PRETENDS: Cell<bool> = const { Cell::new(false) };
}

impl Trace {
    /// An empty one, of an executor on this thread and clock.
    pub(super) fn new(clock: ManualClock) -> Self {
        Self { entries: Arc::default(), clock, owner: thread::current().id() }
    }

    pub(super) fn note(&self, event: Event) {
        self.note_place(event);
    }

    /// Notes it. Whether it was on the owner's thread: if not, more than noting it may not be safe.
    pub(super) fn note_place(&self, event: Event) -> bool {
        let at_ns = self.clock.now().as_nanos() as u64;
        let elsewhere = PRETENDS.get() || thread::current().id() != self.owner;
        self.with(|entries| entries.push(Entry { at_ns, event, elsewhere }));
        !elsewhere
    }

    /// Looks at what was noted. Nothing may be noted meanwhile.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        look(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// For an executor that has no other thread: does something as if on one.
pub(super) fn as_if_elsewhere<T>(then: impl FnOnce() -> T) -> T {
    let before = PRETENDS.replace(true);
    let result = then();
    PRETENDS.set(before);
    result
}
