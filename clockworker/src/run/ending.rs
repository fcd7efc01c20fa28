//! The end: taking no more tasks, cancelling what there is, dropping it all.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use super::Core;
use super::drained::Waiting;
use crate::base::{FORKED, UnhandledPanic, wake_quietly};
use crate::task::{Arrivals, Cause, Refusal};

/// Whether and how an executor ends.
#[derive(Default)]
pub(crate) struct Ending {
    /// What a panic of a task does.
    pub(crate) unhandled_panic: Cell<UnhandledPanic>,
    /// A task panicked where that ends everything; or this is a copy, made while it was run, in a child process.
    failed: Cell<bool>,
    /// Why no queue takes tasks any more.
    refused: Cell<Option<Refusal>>,
    /// Woken when no task is left.
    pub(super) waiting: RefCell<Waiting>,
    /// Some of them wait for what is in the inbox only, which may turn out to be no task.
    awaits_mail: Cell<bool>,
}

impl Ending {
    /// Why no queue takes tasks any more, if none does.
    pub(super) fn refused(&self) -> Option<Refusal> {
        self.refused.get()
    }

    /// Somebody waits until what is in the inbox was admitted.
    pub(super) fn await_mail(&self) {
        self.awaits_mail.set(true);
    }

    /// What is in the inbox was admitted: whether somebody waited for that.
    pub(super) fn take_awaits_mail(&self) -> bool {
        self.awaits_mail.replace(false)
    }
}

impl Core {
    /// Tasks that have not finished. Those from other threads that were not admitted yet are not counted.
    pub(crate) fn live(&self) -> usize {
        self.queues.sum(|queue| queue.live.get())
    }

    /// Wakes whoever waits for the last task to finish, if it has.
    pub(super) fn after_last_finish(&self) {
        if self.ending.waiting.borrow().is_empty() || self.live() > 0 {
            return;
        }
        // Taken, not cloned: that would be foreign code under the borrow. Whoever waits on puts its waker there again.
        let take = |(_, waker): (usize, &mut Waker)| std::mem::replace(waker, Waker::noop().clone());
        let waiting: Vec<Waker> = self.ending.waiting.borrow_mut().iter_mut().map(take).collect();
        waiting.into_iter().for_each(wake_quietly);
    }

    /// A task panicked in a poll: if that is to end everything, no other is polled.
    pub(crate) fn task_panicked(&self) {
        if self.ending.unhandled_panic.get() == UnhandledPanic::ShutdownRuntime {
            self.interrupt();
        }
    }

    /// Ends the run after the poll under way: a task panicked in it where that ends everything, or the process was forked in
    /// it and this is the child's copy.
    ///
    /// May be called where little is allowed (see `base/fork.rs`), so it only leaves word. What the run loop looks
    /// at seldom it looks at after an arrival, so it is made to look for those.
    pub(crate) fn interrupt(&self) {
        self.ending.failed.set(true);
        self.slice.preempt();
        self.shared.arrivals().into_iter().for_each(Arrivals::look);
    }

    /// Whether the executor has failed, so that no task is to be polled any more. It fails where the process was forked, and where
    /// a task panicked and that ends everything: then this call cancels the tasks there are and refuses new ones.
    #[inline]
    pub(crate) fn end_if_failed(&self) -> bool {
        if self.ending.failed.get() && self.ending.refused.get().is_none() {
            self.fail();
        }
        self.ending.failed.get()
    }

    #[cold]
    fn fail(&self) {
        // In a child nothing of the parent's is done, and nothing undone.
        if self.process.is_current() {
            self.refuse(Refusal::ShutDown);
            self.cancel_all(Cause::ShutDown);
        }
    }

    /// Tells whoever runs the executor if it has failed: panics, where a task did with that message.
    /// A future that forked and was done with it has nothing to hear: it is done in both processes.
    #[inline]
    pub(crate) fn assert_not_failed(&self, done: bool, after_a_panic: &str) {
        if self.ending.failed.get() {
            self.report_failure(done, after_a_panic);
        }
    }

    #[cold]
    fn report_failure(&self, done: bool, after_a_panic: &str) {
        let forked = !self.process.is_current();
        assert!(done || !forked, "{FORKED}");
        assert!(forked || !self.end_if_failed(), "{after_a_panic}");
    }

    /// Takes no more tasks.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.ending.refused.set(Some(refusal));
        self.queues.fill_all();
        self.shared.refuse(refusal);
    }

    /// Cancels every task there is.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        self.admit_all();
        for queue in self.all_queues() {
            queue.cancel_all(cause);
            if queue.runnable.replace(false) {
                self.queues.eevdf.borrow_mut().sleep(queue.id);
            }
            self.after_finish(&queue);
        }
        // Links to tasks that are complete now.
        self.admit_all();
    }

    /// Drops every future, then closes the inbox. Nothing can bring a future back afterwards: wakers can only notify,
    /// and a notification of a complete task does nothing.
    pub(crate) fn tear_down(&self) {
        self.refuse(Refusal::Dropped);
        self.cancel_all(Cause::ExecutorDropped);
        self.all_queues().iter().for_each(|queue| queue.drop_scheduler());
        let Some(arrivals) = self.shared.arrivals() else { return };
        let mut left = self.shared.inbox.close(arrivals);
        left.turn_round(usize::MAX);
        for arrival in left {
            self.admit(arrival);
        }
    }
}
