//! Admission: tasks woken, spawned on other threads or aborted are handed on, between polls.

use std::rc::Rc;

use clockworker_schedulers::Ready;

use super::{Core, Current};
use crate::lane::{Lane, NO_GROUP};
use crate::task::{Arrival, Arrivals, Cause, LiveTask, Place, Refused};

impl Core {
    /// Whether tasks were woken on this thread.
    #[inline]
    pub(super) fn has_woken(&self) -> bool {
        self.shared.arrivals().is_some_and(Arrivals::any)
    }

    /// Whether tasks were woken, or spawned on other threads.
    #[inline]
    pub(crate) fn has_arrivals(&self) -> bool {
        self.has_woken() || self.shared.inbox.has_mail()
    }

    /// Hands the tasks woken on this thread to their schedulers.
    pub(super) fn admit_woken(&self) {
        let Some(arrivals) = self.shared.arrivals() else { return };
        // As a rule many of one queue come together, from the host's driver.
        let mut lane: Option<Rc<Lane>> = None;
        while let Some(arrival) = arrivals.next() {
            match (arrival, &lane) {
                (Arrival::Ready(place), Some(lane)) if lane.key.index == place.queue => {
                    self.admit_ready(lane, place);
                }
                (Arrival::Ready(place), _) => {
                    lane = self.lane(place.queue);
                    lane.iter().for_each(|lane| self.admit_ready(lane, place));
                }
                (arrival, _) => self.admit(arrival),
            }
        }
    }

    fn admit_ready(&self, lane: &Lane, place: Place) {
        if let Some(task) = lane.make_ready(place) {
            self.make_runnable(lane);
            lane.push(task, Ready::Woken);
        }
    }

    /// Hands the tasks that arrived to their schedulers, and drops the futures of those that were aborted.
    ///
    /// Bounded: what is aborted here may wake and spawn, but what it aborts comes in the next batch.
    pub(crate) fn admit_arrivals(&self) {
        self.admit_woken();
        let Some(arrivals) = self.shared.arrivals() else { return };
        for arrival in self.shared.inbox.take_all(arrivals) {
            self.admit(arrival);
        }
        if self.drained_awaits_mail.get() {
            self.drained_awaits_mail.set(false);
            self.after_last_finish();
        }
    }

    pub(super) fn admit(&self, arrival: Arrival) {
        match arrival {
            Arrival::Nothing => {}
            Arrival::Ready(place) => {
                if let Some(lane) = self.lane(place.queue) {
                    self.admit_ready(&lane, place);
                }
            }
            Arrival::Aborted(place) => {
                if let Some(lane) = self.lane(place.queue) {
                    self.abort(&lane, place);
                }
            }
            Arrival::New(task, place) => self.admit_new(task, place),
        }
    }

    /// Drops an aborted task's future. What that spawns belongs where the task did.
    pub(super) fn abort(&self, lane: &Lane, place: Place) {
        let Some(aborted) = lane.take_aborted(place) else { return };
        let outer = self.current.replace(Current { queue: place.queue, group: aborted.group });
        lane.cancel_aborted(aborted, Cause::Aborted);
        self.now_is_stale.set(true);
        self.current.set(outer);
        self.after_policy_call(lane);
        self.after_finish(lane);
    }

    /// A task that another thread spawned.
    pub(super) fn admit_new(&self, task: LiveTask, place: Place) {
        let lane = self.lane(place.queue).filter(|lane| lane.key.generation == place.generation);
        let cause = match &lane {
            None => Some(Cause::Refused(Refused::QueueClosed)),
            Some(lane) if self.takes(lane) => None,
            Some(lane) => Some(Cause::Refused(self.refusal(lane))),
        };
        let cause = cause.or_else(|| task.is_aborted().then_some(Cause::Aborted));
        let (Some(lane), None) = (&lane, cause) else {
            let finish = task.cancel(cause.unwrap_or(Cause::Aborted));
            self.now_is_stale.set(true);
            // Booked afterwards: what the cancelling drops may close the queue.
            let counters = lane.as_ref().filter(|lane| !lane.retired.get()).map(|lane| &lane.counters);
            let counters = counters.unwrap_or(&self.retired);
            counters.spawned.add(1);
            counters.finished(finish);
            return;
        };
        self.make_runnable(lane);
        lane.spawn(NO_GROUP, |place| {
            task.settle_in(place);
            task
        });
    }

    /// A task of the queue becomes ready: if it is the first, the queue joins the others.
    ///
    /// Before its scheduler hears of it, which may be where this is called from: that panics, and the queue must be runnable
    /// then, as it has a task.
    #[inline]
    pub(super) fn make_runnable(&self, lane: &Lane) {
        if !lane.runnable.replace(true) {
            self.join(lane);
        }
    }

    /// A scheduler was told something, outside of its queue's slice. If it called back into the executor, and is out of
    /// service for that, tasks may have become ready.
    #[inline]
    pub(crate) fn after_policy_call(&self, lane: &Lane) {
        if lane.ready.get() > 0 {
            self.make_runnable(lane);
        }
    }

    /// A queue became runnable: places it between the others, and decides whether it is to be served first.
    pub(super) fn join(&self, lane: &Lane) {
        self.charge_up_to_now();
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.wake(lane.id);
        let contended = self.contended.replace(eevdf.runnable() > 1);
        drop(eevdf);
        if contended {
            self.shorten_grant();
        } else {
            // The running queue was alone until now: its turn begins here.
            self.grant_rest();
        }
        let Some(running) = self.running.get() else { return };
        if self.eevdf.borrow().preempts(lane.id, running) {
            self.preempted.set(true);
        }
    }
}
