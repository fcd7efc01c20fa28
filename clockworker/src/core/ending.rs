//! The end: taking no more tasks, cancelling what there is, dropping it all.

use std::task::Waker;

use super::Core;
use crate::shared::Refusal;
use crate::task::Cause;

impl Core {
    /// Tasks that have not finished. Those from other threads that were not admitted yet are not counted.
    pub(crate) fn live(&self) -> usize {
        self.lanes.borrow().iter().flatten().map(|lane| lane.live.get()).sum()
    }

    /// Has `waker` woken once no task is left.
    pub(crate) fn on_drained(&self, waker: &Waker) {
        let waker = waker.clone();
        let old = self.drained.replace(Some(waker));
        drop(old);
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
