//! [`Beacon`]: shows other threads which poll an executor is in, and for which task.
//!
//! The owner thread writes it around each poll, while [activity](crate::Observation::activity) is asked for or a stall detector watches;
//! an [`Observer`](crate::Observer) and the detector's lookout read it. It is a
//! sequence lock whose number also says what the lock is for: it is odd while a poll runs, and no two polls have the same. What
//! is shown of a poll is written while the number is even, before the poll begins. A reader that finds the same odd number
//! before and after has read what belongs to that poll. The owner thread waits for no reader, but for one that copies names
//! when those are to change: at a poll of another queue, or of a task that has a name or whose group has one.

use std::panic::Location;
use std::sync::atomic::{self, Ordering};
use std::sync::{Arc, PoisonError};

use clockworker::Id;
use clockworker::probe::{ExecutorClock, Poll, PollKind};

use crate::Holder;
use crate::atomic_location::AtomicLocation;
use crate::sync::{self, AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Mutex, MutexGuard, fence};

/// See the [module docs](self).
#[derive(Default)]
pub(crate) struct Beacon {
    /// How many detectors watch it.
    watchers: AtomicUsize,
    /// Whether the executor is gone.
    is_gone: AtomicBool,
    /// A [`Turn`] in bits, or [`NO_TURN`] unless activity is asked for. All its orderings are Relaxed: nothing is published with it.
    turn: AtomicU64,
    /// Odd while a poll runs.
    sequence: AtomicU64,
    /// What runs: [`TASK`], [`DROP`] or [`MAIN`], with [`IN_GROUP`] for a task in a group.
    kind: AtomicU8,
    /// When it began.
    since_ns: AtomicU64,
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

/// Numbers of a [`PollKind`].
const TASK: u8 = 0;
const DROP: u8 = 1;
const MAIN: u8 = 2;
/// Is added to these for a task in a group.
const IN_GROUP: u8 = 4;

/// Whether a turn is under way, and since when that is so.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) is_under_way: bool,
    pub(crate) since_ns: u64,
}

/// A [`Turn`] that is not shown.
const NO_TURN: u64 = 0;

impl Beacon {
    /// Begins to watch: polls are shown from the next one on.
    #[cfg(feature = "stalls")]
    pub(crate) fn add_watcher(&self) {
        // Ordering: Relaxed here and below. Polls are shown sooner or later.
        self.watchers.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(feature = "stalls")]
    pub(crate) fn remove_watcher(&self) {
        self.watchers.fetch_sub(1, Ordering::Relaxed);
    }

    #[cfg(feature = "stalls")]
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// Whether a turn is under way. None unless activity is asked for.
    pub(crate) fn turn(&self) -> Option<Turn> {
        let bits = self.turn.load(Ordering::Relaxed);
        (bits != NO_TURN).then_some(Turn { is_under_way: bits & 2 != 0, since_ns: bits >> 2 })
    }

    /// Shows that, or no more whether a turn is under way.
    pub(crate) fn set_turn(&self, turn: Option<Turn>) {
        let bits = turn.map_or(NO_TURN, |turn| turn.since_ns << 2 | u64::from(turn.is_under_way) << 1 | 1);
        self.turn.store(bits, Ordering::Relaxed);
    }

    /// The number of the poll under way, which is odd; even between polls.
    pub(crate) fn sequence(&self) -> u64 {
        // Ordering: Acquire, pairs with the Release in `begin`: a reader that sees that the poll runs sees what is shown of it.
        self.sequence.load(Ordering::Acquire)
    }

    /// Who is shown to be in the poll with that number, and since when, in nanoseconds. None if it is over.
    pub(crate) fn read(&self, sequence: u64) -> Option<(Holder, u64)> {
        if self.sequence() != sequence || sequence.is_multiple_of(2) {
            return None;
        }
        let (number, since_ns) = (self.kind.load(Ordering::Relaxed), self.since_ns.load(Ordering::Relaxed));
        let (task, group) = (self.task.load(Ordering::Relaxed), self.group.load(Ordering::Relaxed));
        let location = self.location.load();
        let names = self.names().clone();
        // Ordering: pairs with the fence in `begin`: if one of the loads above has seen what a later poll shows, the one below
        // sees that this poll is over. (Or, of names, the lock says so.)
        fence(Ordering::Acquire);
        let kind = match number & !IN_GROUP {
            TASK => PollKind::Task,
            DROP => PollKind::Drop,
            _ => PollKind::Main,
        };
        let (is_task, in_group) = (kind != PollKind::Main, number & IN_GROUP != 0);
        let read = Holder {
            kind,
            queue: is_task.then_some(names.queue),
            group: in_group.then_some(group),
            group_name: names.group.filter(|_| is_task),
            task: Id::from_u64(task),
            task_name: names.task.filter(|_| is_task),
            spawned_at: location,
        };
        (self.sequence.load(Ordering::Relaxed) == sequence).then_some((read, since_ns))
    }

    /// Shows that a poll has begun at that time, in nanoseconds. Owner thread only.
    pub(crate) fn begin(
        &self,
        (kind, since_ns): (PollKind, u64),
        (task, group, location): (Option<Id>, Option<u64>, Option<&'static Location<'static>>),
    ) -> Lit<'_> {
        // Ordering: Relaxed, only this thread writes it.
        let sequence = self.sequence.load(Ordering::Relaxed);
        // Ordering: pairs with the fence in `read`; the end of the last poll goes before what is shown of this one.
        fence(Ordering::Release);
        let number = match kind {
            PollKind::Drop => DROP,
            PollKind::Main => MAIN,
            _ => TASK,
        };
        let in_group = if group.is_some() { IN_GROUP } else { 0 };
        self.kind.store(number | in_group, Ordering::Relaxed);
        self.since_ns.store(since_ns, Ordering::Relaxed);
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
    /// Whether a detector watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.beacon.watchers.load(Ordering::Relaxed) > 0
    }

    /// Shows a poll until the result is dropped, if it is watched, or activity is asked for. That has it begin at a reading of this clock.
    /// On the executor's thread.
    #[inline]
    pub(crate) fn show(&self, poll: &Poll<'_>, clock: Option<&ExecutorClock>) -> Option<Lit<'_>> {
        (clock.is_some() || self.is_watched()).then(|| self.show_watched(poll, clock))
    }

    #[cold]
    fn show_watched(&self, poll: &Poll<'_>, clock: Option<&ExecutorClock>) -> Lit<'_> {
        let begins = (poll.kind(), clock.map_or(poll.now_ns(), ExecutorClock::now_ns));
        let Some(task) = poll.task() else { return self.beacon.begin(begins, (None, None, None)) };
        let group = task.group();
        let key = group.as_ref().map(|group| group.key);
        let names = (task.name().cloned(), group.and_then(|group| group.name));
        self.show_names(task.queue_name().unwrap_or_default(), names);
        self.beacon.begin(begins, (Some(task.id()), key, Some(task.location())))
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
        self.beacon.set_turn(None);
    }
}

#[cfg(all(test, not(clockworker_loom)))]
mod tests;
