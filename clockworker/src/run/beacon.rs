//! [`Beacon`]: shows other threads which poll an executor is in, and for which task.
//!
//! The owner thread writes it around each poll, while somebody watches; the lookout of [`stalls`](crate::stalls) reads it. It is a
//! sequence lock whose number also says what the lock is for: it is odd while a poll runs, and no two polls have the same. What
//! is shown of a poll is written while the number is even, before the poll begins. A reader that finds the same odd number
//! before and after has read what belongs to that poll. The owner thread waits for no reader, but for one that copies names
//! when those are to change: at a poll of another queue, or of a task that has a name or whose group has one.

use std::cell::{Cell, OnceCell};
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::Core;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::sync::{self, AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Mutex, MutexGuard, fence};
use crate::task::{AtomicLocation, Id, LiveTask, QueueKey};

/// See the [module docs](self).
pub(crate) struct Beacon {
    /// How many watch it. Nothing is shown while nobody does.
    watchers: AtomicUsize,
    /// Whether the executor is gone.
    is_gone: AtomicBool,
    /// Odd while a poll runs.
    sequence: AtomicU64,
    activity: AtomicU8,
    /// The task's id, or 0.
    task: AtomicU64,
    /// The group's key, where `activity` says that there is a group.
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

/// What runs. The numbers are those of [`Beacon::activity`]; a task in a group has [`IN_GROUP`] added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Main = 0,
    Poll = 1,
    Drop = 2,
}

const IN_GROUP: u8 = 4;

/// A poll as its executor shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownPoll {
    pub(crate) activity: Activity,
    /// None for the future given to `run_until`, which is in no queue.
    pub(crate) queue: Option<Arc<str>>,
    pub(crate) group: Option<u64>,
    pub(crate) group_name: Option<Arc<str>>,
    pub(crate) task: Option<Id>,
    pub(crate) task_name: Option<Arc<str>>,
    pub(crate) location: Option<&'static Location<'static>>,
}

impl Default for Beacon {
    fn default() -> Self {
        Self {
            watchers: AtomicUsize::new(0),
            is_gone: AtomicBool::new(false),
            sequence: AtomicU64::new(0),
            activity: AtomicU8::new(0),
            task: AtomicU64::new(0),
            group: AtomicU64::new(0),
            location: AtomicLocation::default(),
            names: Mutex::new(Names::default()),
        }
    }
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

    fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
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
        let activity = self.activity.load(Ordering::Relaxed);
        let (task, group) = (self.task.load(Ordering::Relaxed), self.group.load(Ordering::Relaxed));
        let location = self.location.load();
        let names = self.names().clone();
        // Ordering: pairs with the fence in `begin`: if one of the loads above has seen what a later poll shows, the one below
        // sees that this poll is over. (Or, of names, the lock says so.)
        fence(Ordering::Acquire);
        let shown = match activity & !IN_GROUP {
            0 => Activity::Main,
            1 => Activity::Poll,
            _ => Activity::Drop,
        };
        let (is_task, in_group) = (shown != Activity::Main, activity & IN_GROUP != 0);
        let read = ShownPoll {
            activity: shown,
            queue: is_task.then_some(names.queue),
            group: in_group.then_some(group),
            group_name: names.group.filter(|_| is_task),
            task: Id::from_number(task),
            task_name: names.task.filter(|_| is_task),
            location,
        };
        (self.sequence.load(Ordering::Relaxed) == sequence).then_some(read)
    }

    /// Shows that a poll begins. Owner thread only.
    pub(crate) fn begin(
        &self,
        activity: Activity,
        (task, group, location): (Option<Id>, Option<u64>, Option<&'static Location<'static>>),
    ) -> Lit<'_> {
        // Ordering: Relaxed, only this thread writes it.
        let sequence = self.sequence.load(Ordering::Relaxed);
        // Ordering: pairs with the fence in `read`; the end of the last poll goes before what is shown of this one.
        fence(Ordering::Release);
        let in_group = if group.is_some() { IN_GROUP } else { 0 };
        self.activity.store(activity as u8 | in_group, Ordering::Relaxed);
        self.task.store(task.map_or(0, Id::number), Ordering::Relaxed);
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

/// The beacon of an executor, once somebody has watched it.
#[derive(Default)]
pub(crate) struct BeaconSlot {
    beacon: OnceCell<sync::Arc<Beacon>>,
    /// The queue whose name is shown.
    queue: Cell<Option<QueueKey>>,
    /// Whether the name of a task or group is shown.
    has_names: Cell<bool>,
}

impl BeaconSlot {
    /// The beacon, made if there is none yet.
    pub(crate) fn get(&self) -> &sync::Arc<Beacon> {
        self.beacon.get_or_init(|| sync::Arc::new(Beacon::default()))
    }

    /// The beacon if somebody watches.
    #[inline]
    fn watched(&self) -> Option<&Beacon> {
        self.beacon.get().map(|beacon| &**beacon).filter(|beacon| beacon.is_watched())
    }

    /// Has the queue's name shown anew, as it may have changed.
    pub(super) fn forget_queue(&self) {
        self.queue.set(None);
    }

    fn show_names(&self, beacon: &Beacon, queue: &RunQueue, task: Option<Arc<str>>, group: Option<Arc<str>>) {
        let is_other = self.queue.replace(Some(queue.key)) != Some(queue.key);
        let has_names = task.is_some() || group.is_some();
        let had_names = self.has_names.replace(has_names);
        if is_other || has_names || had_names {
            let other = is_other.then(|| Arc::from(&**queue.name.borrow()));
            let mut names = beacon.names();
            let queue = other.unwrap_or_else(|| Arc::clone(&names.queue));
            *names = Names { queue, task, group };
        }
    }
}

impl Drop for BeaconSlot {
    fn drop(&mut self) {
        if let Some(beacon) = self.beacon.get() {
            beacon.is_gone.store(true, Ordering::Relaxed);
        }
    }
}

impl Core {
    /// Shows the poll of a task, or the drop of its future, until the result is dropped.
    #[inline]
    pub(super) fn show_poll(
        &self,
        activity: Activity,
        queue: &RunQueue,
        (live, group): (&LiveTask, GroupIndex),
    ) -> Option<Lit<'_>> {
        let beacon = self.beacon.watched()?;
        Some(self.show_watched_poll(beacon, activity, (queue, live, group)))
    }

    #[cold]
    fn show_watched_poll<'a>(
        &'a self,
        beacon: &'a Beacon,
        activity: Activity,
        (queue, live, group): (&RunQueue, &LiveTask, GroupIndex),
    ) -> Lit<'a> {
        let records = queue.records.borrow();
        let (key, name) = match group {
            NO_GROUP => (None, None),
            group => (records.group_key(group), records.group_name(group)),
        };
        drop(records);
        self.beacon.show_names(beacon, queue, live.name().cloned(), name);
        beacon.begin(activity, (Some(live.id()), key, Some(live.location())))
    }

    /// Shows a poll of the future given to `run_until`, until the result is dropped.
    #[inline]
    pub(super) fn show_main(&self) -> Option<Lit<'_>> {
        let beacon = self.beacon.watched()?;
        Some(beacon.begin(Activity::Main, (None, None, None)))
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests;
