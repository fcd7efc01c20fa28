//! The end: taking no more tasks, cancelling what there is, dropping it all.

use std::task::Waker;

use super::Core;
use crate::panics::wake_quietly;
use crate::shared::Refusal;
use crate::task::Cause;
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
            self.failed.set(true);
            self.preempted.set(true);
        }
    }

    /// Whether a task panicked where that ends everything. Then there are no tasks left, and no new ones.
    pub(crate) fn has_failed(&self) -> bool {
        if self.failed.get() && self.refused.get().is_none() {
            self.refuse(Refusal::ShutDown);
            self.cancel_all(Cause::ShutDown);
        }
        self.failed.get()
    }

    /// Takes no more tasks.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.refused.set(Some(refusal));
        self.shared.refuse(refusal);
    }

    /// Cancels every task there is.
    pub(crate) fn cancel_all(&self, cause: Cause) {
        self.admit_arrivals();
        for lane in self.lanes() {
            lane.cancel_all(cause);
            if lane.runnable.replace(false) {
                self.eevdf.borrow_mut().sleep(lane.id);
            }
            self.after_finish(&lane);
        }
        // Links to tasks that are complete now.
        self.admit_arrivals();
    }

    /// Drops every future, then closes the inbox. Nothing can bring a future back afterwards: wakers can only notify,
    /// and a notification of a complete task does nothing.
    pub(crate) fn tear_down(&self) {
        self.refuse(Refusal::Dropped);
        self.cancel_all(Cause::ExecutorDropped);
        let Some(arrivals) = self.shared.arrivals() else { return };
        for arrival in self.shared.inbox.close(arrivals) {
            self.admit(arrival);
        }
    }
}
