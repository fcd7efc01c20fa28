//! The end of an executor: refuses tasks, cancels those there are, drops everything.

use std::cell::Cell;

use super::Core;
use super::waiting::Waiting;
use crate::base::UnhandledPanic;
use crate::task::{Cause, Refuses, Stopped};

/// Whether and how an executor ends.
#[derive(Default)]
pub(crate) struct Ending {
    /// What the executor does when a task panics.
    unhandled_panic: Cell<UnhandledPanic>,
    /// Whether no task is polled any more: a task panicked and `unhandled_panic` says so.
    failed: Cell<bool>,
    /// Why no queue takes tasks any more.
    stopped: Cell<Option<Stopped>>,
    /// Whether children of the tasks there are let in all the same.
    drains: Cell<bool>,
    /// Those who wait until no task is left.
    pub(super) waiting: Waiting,
    /// Whether a future waits for the inbox, which may turn out to hold no task.
    awaits_mail: Cell<bool>,
    /// Whether a stop was requested.
    pub(super) stop_requested: Cell<bool>,
    /// Those who wait for that.
    pub(super) awaits_stop: Waiting,
}

impl Ending {
    /// Sets what a panic of a task does.
    pub(crate) fn set_unhandled_panic(&self, behavior: UnhandledPanic) {
        self.unhandled_panic.set(behavior);
    }

    /// Why no queue takes tasks any more, if none does.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.stopped.get()
    }

    /// Whether the executor takes children of its tasks, and no other task.
    pub(super) fn drains(&self) -> bool {
        self.drains.get()
    }

    /// Notes that a future waits until the inbox was admitted.
    pub(super) fn await_mail(&self) {
        self.awaits_mail.set(true);
    }

    /// Takes the note that a future waits until the inbox was admitted.
    pub(super) fn take_awaits_mail(&self) -> bool {
        self.awaits_mail.replace(false)
    }
}

impl Core {
    /// Tasks that have not finished. Does not count those from other threads that were not admitted yet.
    pub(crate) fn live(&self) -> usize {
        self.queues.sum(|queue| queue.live.get())
    }

    /// Wakes those who wait until no task is left, if none is.
    pub(super) fn after_last_finish(&self) {
        if !self.ending.waiting.is_empty() && self.live() == 0 {
            self.ending.waiting.wake_all();
        }
    }

    /// Looks whether that is all, for those who waited until the inbox was admitted.
    #[cold]
    #[inline(never)]
    pub(super) fn after_mail(&self) {
        self.after_last_finish();
        self.end_drains();
    }

    /// Has the run end after the poll under way, in which a task panicked, if `unhandled_panic` says so.
    pub(crate) fn task_panicked(&self) {
        if self.ending.unhandled_panic.get() == UnhandledPanic::ShutdownRuntime {
            self.ending.failed.set(true);
            self.slice.preempt();
        }
    }

    /// Whether the executor has failed, so that no task is to be polled any more: a task panicked and `unhandled_panic` says
    /// so. Cancels the tasks there are and refuses new ones.
    #[inline]
    pub(crate) fn end_if_failed(&self) -> bool {
        if self.ending.failed.get() && self.ending.stopped.get().is_none() {
            self.fail();
        }
        self.ending.failed.get()
    }

    #[cold]
    fn fail(&self) {
        self.refuse_tasks(Stopped::ShutDown, Refuses::All);
        self.cancel_all(Cause::ShutDown);
    }

    /// Panics with this message if the executor has failed.
    #[inline]
    pub(crate) fn assert_not_failed(&self, message: &str) {
        assert!(!self.ending.failed.get() || !self.end_if_failed(), "{message}");
    }

    /// Refuses all further tasks, or all but children, unless it refuses those already.
    pub(crate) fn refuse_tasks(&self, why: Stopped, refuses: Refuses) {
        let was_open = self.ending.stopped.get().is_none() || self.ending.drains.get();
        let refuses = if was_open { refuses } else { Refuses::All };
        self.ending.drains.set(refuses == Refuses::Outsiders);
        self.ending.stopped.set(Some(why));
        self.queues.refuse_all();
        let queues = self.all_queues();
        queues
            .iter()
            .filter(|queue| queue.closed.get())
            .for_each(|queue| self.collect_refused(&queue.name.borrow()));
        self.shared.refuse_tasks(why, refuses);
        queues.iter().for_each(|queue| self.dismiss_waiters(queue));
    }

    /// Tells those who wait for it that a stop was requested.
    pub(crate) fn request_stop(&self) {
        self.ending.stop_requested.set(true);
        self.ending.awaits_stop.wake_all();
    }

    /// Cancels every task there is.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        self.receive_all();
        for queue in self.all_queues() {
            queue.cancel_all(cause);
            queue.arrivals().clear();
            if queue.runnable.replace(false) {
                self.queues.tree.borrow_mut().sleep(queue.id, self.meter.look());
            }
            self.after_finish(&queue);
        }
        // Links to tasks that are complete now.
        self.receive_all();
    }

    /// Drops every future and scheduler, then closes the inbox. Nothing brings a future back afterwards: wakers can only
    /// wake, and waking a complete task does nothing.
    pub(crate) fn tear_down(&self) {
        self.refuse_tasks(Stopped::Dropped, Refuses::All);
        self.cancel_all(Cause::ExecutorDropped);
        self.release.silence();
        self.all_queues().iter().for_each(|queue| queue.drop_scheduler());
        // What other threads send meanwhile is completed first.
        while !self.shared.inbox.close(self.local()) {
            self.receive_all();
        }
        // Wakers and handles would keep it: it may hold some itself.
        self.set_probe(None);
    }
}
