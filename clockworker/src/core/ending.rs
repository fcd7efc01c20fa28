//! The end: taking no more tasks, cancelling what there is, dropping it all.

use std::task::Waker;

use super::Core;
use crate::fork::FORKED;
use crate::panics::wake_quietly;
use crate::shared::Refusal;
use crate::task::{Arrivals, Cause};
use crate::unhandled_panic::UnhandledPanic;

impl Core {
    /// Tasks that have not finished. Those from other threads that were not admitted yet are not counted.
    pub(crate) fn live(&self) -> usize {
        self.lanes.borrow().iter().flatten().map(|lane| lane.live.get()).sum()
    }

    /// Wakes whoever waits for the last task to finish, if it has.
    pub(super) fn after_last_finish(&self) {
        if self.waiting_drained.borrow().is_empty() || self.live() > 0 {
            return;
        }
        // Taken, not cloned: that would be foreign code under the borrow. Whoever waits on puts its waker there again.
        let take = |(_, waker): (usize, &mut Waker)| std::mem::replace(waker, Waker::noop().clone());
        let waiting: Vec<Waker> = self.waiting_drained.borrow_mut().iter_mut().map(take).collect();
        waiting.into_iter().for_each(wake_quietly);
    }

    /// A task panicked in a poll: if that is to end everything, no other is polled.
    pub(crate) fn task_panicked(&self) {
        if self.unhandled_panic.get() == UnhandledPanic::ShutdownRuntime {
            self.interrupt();
        }
    }

    /// Ends the run after the poll under way: a task panicked in it where that ends everything, or the process was forked in
    /// it and this is the child's copy.
    ///
    /// May be called where little is allowed (see [`fork`](crate::fork)), so it only leaves word. What the run loop looks
    /// at seldom it looks at after an arrival, so it is made to look for those.
    pub(crate) fn interrupt(&self) {
        self.failed.set(true);
        self.preempted.set(true);
        self.shared.arrivals().into_iter().for_each(Arrivals::look);
    }

    /// Whether no task is to be polled any more: one panicked where that ends everything, and then there are none left and
    /// no new ones; or the process was forked.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        if self.failed.get() && self.refused.get().is_none() {
            self.fail();
        }
        self.failed.get()
    }

    #[cold]
    fn fail(&self) {
        // In a child nothing of the parent's is done, and nothing undone.
        if self.process.is_current() {
            self.refuse(Refusal::ShutDown);
            self.cancel_all(Cause::ShutDown);
        }
    }

    /// Tells whoever runs the executor if it [has failed](Self::has_failed): panics, where a task did with that message.
    /// A future that forked and was done with it has nothing to hear: it is done in both processes.
    #[inline]
    pub(crate) fn assert_not_failed(&self, done: bool, after_a_panic: &str) {
        if self.failed.get() {
            self.report_failure(done, after_a_panic);
        }
    }

    #[cold]
    fn report_failure(&self, done: bool, after_a_panic: &str) {
        let forked = !self.process.is_current();
        assert!(done || !forked, "{FORKED}");
        assert!(forked || !self.has_failed(), "{after_a_panic}");
    }

    /// Takes no more tasks.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.refused.set(Some(refusal));
        self.lanes.borrow().iter().flatten().for_each(|lane| lane.room.set(0));
        self.shared.refuse(refusal);
    }

    /// Cancels every task there is.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        self.admit_all();
        for lane in self.lanes() {
            lane.cancel_all(cause);
            if lane.runnable.replace(false) {
                self.eevdf.borrow_mut().sleep(lane.id);
            }
            self.after_finish(&lane);
        }
        // Links to tasks that are complete now.
        self.admit_all();
    }

    /// Drops every future, then closes the inbox. Nothing can bring a future back afterwards: wakers can only notify,
    /// and a notification of a complete task does nothing.
    pub(crate) fn tear_down(&self) {
        self.refuse(Refusal::Dropped);
        self.cancel_all(Cause::ExecutorDropped);
        self.lanes().iter().for_each(|lane| lane.drop_scheduler());
        let Some(arrivals) = self.shared.arrivals() else { return };
        let mut left = self.shared.inbox.close(arrivals);
        left.turn_round(usize::MAX);
        for arrival in left {
            self.admit(arrival);
        }
    }
}
