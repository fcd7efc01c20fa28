//! The tasks of a set that have finished.

use std::mem::swap;
use std::task::Waker;

use crate::base::{Process, drop_quietly, wake_quietly};
use crate::sync::{Arc, Mutex, MutexGuard};

/// The places of a set's tasks that have finished, in that order, and who waits for the next one. The set and each of its tasks
/// that has not finished hold it.
pub(crate) struct FinishedList {
    /// The process that made it.
    process: Process,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    places: Vec<usize>,
    waiting: Option<Waker>,
}

impl FinishedList {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { process: Process::current(), inner: Mutex::new(Inner::default()) })
    }

    /// Whether this is a child process's copy, in which tasks of the parent never finish.
    pub(crate) fn is_copy(&self) -> bool {
        !self.process.is_current()
    }

    /// None in a child process: if another thread held the lock at the fork, no thread releases it there.
    fn lock(&self) -> Option<MutexGuard<'_, Inner>> {
        // Nothing that could panic runs under this lock, and its data are whole at every step.
        let lock = || self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.process.is_current().then(lock)
    }

    /// Adds the task at that place, and wakes who waits. On any thread.
    pub(crate) fn push(&self, place: usize) {
        let Some(mut inner) = self.lock() else { return };
        inner.places.push(place);
        let waiting = inner.waiting.take();
        drop(inner);
        if let Some(waiting) = waiting {
            wake_quietly(waiting);
        }
    }

    /// Takes the places of all tasks that have finished, and gives an empty list in exchange, whose memory is used again.
    pub(crate) fn exchange(&self, empty: &mut Vec<usize>) {
        debug_assert!(empty.is_empty());
        if let Some(mut inner) = self.lock() {
            swap(&mut inner.places, empty);
        }
    }

    /// Has `waker` woken for the next task, in place of the waker of the last call. False if there is a task already.
    ///
    /// # Panics
    ///
    /// If cloning the waker panics, which is foreign code. Then the last one stays.
    pub(crate) fn wait(&self, waker: &Waker) -> bool {
        let mut waiting = Some(waker.clone());
        let must_wait = self.lock().is_some_and(|mut inner| {
            let must_wait = inner.places.is_empty();
            if must_wait {
                swap(&mut inner.waiting, &mut waiting);
            }
            must_wait
        });
        drop_quietly(waiting);
        must_wait
    }

    /// Takes the waker of the last [`wait`](Self::wait), if it was not woken.
    pub(crate) fn take_waiting(&self) -> Option<Waker> {
        self.lock()?.waiting.take()
    }
}
