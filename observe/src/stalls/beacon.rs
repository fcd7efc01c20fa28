//! [`Beacon`]: shows other threads which poll an executor is in, and for which task.
//!
//! The owner thread writes it around each poll, while somebody watches; the lookout of [`stalls`](crate::stalls) reads it. It is a
//! sequence lock whose number also says what the lock is for: it is odd while a poll runs, and no two polls have the same. What
//! is shown of a poll is written while the number is even, before the poll begins. A reader that finds the same odd number
//! before and after has read what belongs to that poll. The owner thread waits for no reader, but for one that copies names
//! when those are to change: at a poll of another queue, or of a task that has a name or whose group has one.

use std::panic::Location;
use std::sync::atomic::{self, Ordering};
use std::sync::{Arc, PoisonError};

use clockworker::Id;
use clockworker::probe::{Poll, PollKind};

use super::StallKind;
use super::atomic_location::AtomicLocation;
use crate::sync::{self, AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Mutex, MutexGuard, fence};

/// See the [module docs](self).
#[derive(Default)]
pub(crate) struct Beacon {
    /// How many watch it. Nothing is shown while nobody does.
    watchers: AtomicUsize,
    /// Whether the executor is gone.
    is_gone: AtomicBool,
    /// Odd while a poll runs.
    sequence: AtomicU64,
    /// What runs: the number of a [`StallKind`], with [`IN_GROUP`] for a task in a group.
    kind: AtomicU8,
    /// The task's id, or 0.
    task: AtomicU64,
    /// The group's key, where `kind` says that there is a group.
    group: AtomicU64,
    location: AtomicLocation,
    names: Mutex<Names>,
}

/// The names that belong to the task that was polled last.
#[derive(Clone, Default)]
struct Names {
    queue: Arc<str>,
    task: Option<Arc<str>>,
    group: Option<Arc<str>>,
}

/// Is added to the number of a [`StallKind`] for a task in a group.
const IN_GROUP: u8 = 4;

/// A poll as its executor shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownPoll {
    pub(crate) kind: StallKind,
    /// None for the future given to `run_until`, which is in no queue.
    pub(crate) queue: Option<Arc<str>>,
    pub(crate) group: Option<u64>,
    pub(crate) group_name: Option<Arc<str>>,
    pub(crate) task: Option<Id>,
    pub(crate) task_name: Option<Arc<str>>,
    pub(crate) location: Option<&'static Location<'static>>,
}

impl Beacon {
    /// Begins to watch: polls are shown from the next one on.
    pub(crate) fn add_watcher(&self) {
        // Ordering: Relaxed here and below. Polls are shown sooner or later.
        self.watchers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_watcher(&self) {
        self.watchers.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// The number of the poll under way, which is odd; even between polls.
    pub(crate) fn sequence(&self) -> u64 {
        // Ordering: Acquire, pairs with the Release in `begin`: whoever sees that the poll runs sees what is shown of it.
        self.sequence.load(Ordering::Acquire)
    }

    /// What is shown of the poll with that number. None if it is over.
    pub(crate) fn read(&self, sequence: u64) -> Option<ShownPoll> {
        if self.sequence() != sequence || sequence.is_multiple_of(2) {
            return None;
        }
        let number = self.kind.load(Ordering::Relaxed);
        let (task, group) = (self.task.load(Ordering::Relaxed), self.group.load(Ordering::Relaxed));
        let location = self.location.load();
        let names = self.names().clone();
        // Ordering: pairs with the fence in `begin`: if one of the loads above has seen what a later poll shows, the one below
        // sees that this poll is over. (Or, of names, the lock says so.)
        fence(Ordering::Acquire);
        let kind = match number & !IN_GROUP {
            0 => StallKind::Poll,
            1 => StallKind::Drop,
            _ => StallKind::Main,
        };
        let (is_task, in_group) = (kind != StallKind::Main, number & IN_GROUP != 0);
        let read = ShownPoll {
            kind,
            queue: is_task.then_some(names.queue),
            group: in_group.then_some(group),
            group_name: names.group.filter(|_| is_task),
            task: Id::from_u64(task),
            task_name: names.task.filter(|_| is_task),
            location,
        };
        (self.sequence.load(Ordering::Relaxed) == sequence).then_some(read)
    }

    /// Shows that a poll begins. Owner thread only.
    pub(crate) fn begin(
        &self,
        kind: StallKind,
        (task, group, location): (Option<Id>, Option<u64>, Option<&'static Location<'static>>),
    ) -> Lit<'_> {
        // Ordering: Relaxed, only this thread writes it.
        let sequence = self.sequence.load(Ordering::Relaxed);
        // Ordering: pairs with the fence in `read`; the end of the last poll goes before what is shown of this one.
        fence(Ordering::Release);
        let in_group = if group.is_some() { IN_GROUP } else { 0 };
        self.kind.store(kind as u8 | in_group, Ordering::Relaxed);
        self.task.store(task.map_or(0, Id::as_u64), Ordering::Relaxed);
        self.group.store(group.unwrap_or(0), Ordering::Relaxed);
        self.location.store(location);
        // Ordering: Release, pairs with the Acquire in `sequence`.
        self.sequence.store(sequence | 1, Ordering::Release);
        Lit { beacon: self, end: (sequence | 1).wrapping_add(1) }
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        // Nothing that could panic runs under the lock.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows a poll until it is dropped.
#[must_use = "the poll is over when this is dropped"]
pub(crate) struct Lit<'a> {
    beacon: &'a Beacon,
    end: u64,
}

impl Drop for Lit<'_> {
    #[inline]
    fn drop(&mut self) {
        // Ordering: Release, so that a reader that finds it over finds what the poll did done.
        self.beacon.sequence.store(self.end, Ordering::Release);
    }
}

/// The beacon of an executor, and what it has shown last: its hub's.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) beacon: sync::Arc<Beacon>,
    /// The address of the name that is shown of a queue, which the beacon keeps. The executor's thread's, as the next is.
    queue: atomic::AtomicUsize,
    /// Whether the name of a task or group is shown.
    has_names: atomic::AtomicBool,
}

impl Shown {
    /// Shows a poll until the result is dropped, if it is watched. On the executor's thread.
    #[inline]
    pub(crate) fn show(&self, poll: &Poll<'_>) -> Option<Lit<'_>> {
        (self.beacon.watchers.load(Ordering::Relaxed) > 0).then(|| self.show_watched(poll))
    }

    #[cold]
    fn show_watched(&self, poll: &Poll<'_>) -> Lit<'_> {
        let Some(task) = poll.task() else { return self.beacon.begin(StallKind::Main, (None, None, None)) };
        let kind = if poll.kind() == PollKind::Drop { StallKind::Drop } else { StallKind::Poll };
        let group = task.group();
        let key = group.as_ref().map(|group| group.key);
        let names = (task.name().cloned(), group.and_then(|group| group.name));
        self.show_names(task.queue_name().unwrap_or_default(), names);
        self.beacon.begin(kind, (Some(task.id()), key, Some(task.location())))
    }

    fn show_names(&self, queue: Arc<str>, (task, group): (Option<Arc<str>>, Option<Arc<str>>)) {
        // Ordering: Relaxed here and below. Only the owner thread reads and writes these.
        let address = Arc::as_ptr(&queue).addr();
        let is_other = self.queue.swap(address, Ordering::Relaxed) != address;
        let has_names = task.is_some() || group.is_some();
        let had_names = self.has_names.swap(has_names, Ordering::Relaxed);
        if is_other || has_names || had_names {
            *self.beacon.names() = Names { queue, task, group };
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.beacon.is_gone.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(clockworker_loom)))]
mod tests;
