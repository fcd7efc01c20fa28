//! What an executor's tasks, handles and other threads share.

use std::collections::BTreeMap;

use super::inbox::Inbox;
use super::{Arrivals, Credits, OwnerCell};
use crate::base::Process;
use crate::sync::{Mutex, MutexGuard};

/// Lives as long as the last cell, handle or executor that needs it; see [`SharedRef`](crate::task::SharedRef).
#[derive(Debug)]
pub(crate) struct Shared {
    /// The owner thread's way in.
    local: OwnerCell<Local>,
    /// Everybody else's.
    pub(crate) inbox: Inbox,
    /// The process it was made in.
    pub(crate) process: Process,
    names: Mutex<Names>,
}

/// What only the owner thread reaches.
#[derive(Debug, Default)]
pub(crate) struct Local {
    pub(crate) arrivals: Arrivals,
    pub(crate) credits: Credits,
}

/// Names of queues, for spawns from other threads. The lock is never taken by a wake.
#[derive(Debug, Default)]
struct Names {
    /// Ordered, since comparing a few short names takes less than hashing one.
    queues: BTreeMap<Box<str>, QueueKey>,
    refused: Option<Refusal>,
}

/// A queue, told apart from earlier ones with the same index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Why no queue takes any more tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    ShutDown,
    Dropped,
    /// This is the copy that a child process got.
    Forked,
}

impl Shared {
    /// Makes the calling thread the owner.
    pub(crate) fn new() -> Self {
        let process = Process::current();
        Self {
            local: OwnerCell::new(Local::default()),
            inbox: Inbox::new(process),
            process,
            names: Mutex::new(Names::default()),
        }
    }

    /// The owner thread's part, if this is the owner thread.
    #[inline]
    pub(crate) fn local(&self) -> Option<&Local> {
        self.local.get()
    }

    /// The arrivals list, if this is the owner thread.
    #[inline]
    pub(crate) fn arrivals(&self) -> Option<&Arrivals> {
        self.local().map(|local| &local.arrivals)
    }

    /// None in a child process: if another thread held the lock at the fork, nobody releases it there.
    fn names(&self) -> Option<MutexGuard<'_, Names>> {
        // Nothing that could panic runs under this lock, and its data are whole at every step.
        let lock = || self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.process.is_current().then(lock)
    }

    /// Makes a queue known to other threads. False if the name is taken.
    pub(crate) fn add_name(&self, name: &str, key: QueueKey) -> bool {
        let Some(mut names) = self.names() else { return false };
        if names.queues.contains_key(name) {
            return false;
        }
        names.queues.insert(name.into(), key);
        true
    }

    pub(crate) fn remove_name(&self, name: &str) {
        if let Some(mut names) = self.names() {
            names.queues.remove(name);
        }
    }

    /// The queue of that name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<QueueKey>, Refusal> {
        let Some(names) = self.names() else { return Err(Refusal::Forked) };
        match (names.queues.get(name), names.refused) {
            (Some(&key), _) => Ok(Some(key)),
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Ok(None),
        }
    }

    /// Says that no queue takes any more tasks.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        if let Some(mut names) = self.names() {
            names.refused = Some(refusal);
            names.queues.clear();
        }
    }
}
