//! Admission: tasks woken, spawned on other threads or aborted are handed on, between polls.
//!
//! Any number may arrive at once, so it goes by batches: between two polls one batch, between two slices as many as fit into
//! half of the turn. What is left comes in the next gap.

use std::rc::Rc;

use super::{Account, Core, Current};
use crate::inbox::Batch;
use crate::lane::{Lane, NO_GROUP};
use crate::task::{Arrival, Arrivals, BATCH, Cause, LiveTask, Place, Refused};

/// The most links of the inbox's stack that are turned round in one gap. Some 5 µs, as each may be a cache miss.
const TURNED: usize = 128;

impl Core {
    /// Whether tasks were woken on this thread, or are left over from the last batch.
    #[inline]
    pub(super) fn has_woken(&self) -> bool {
        self.shared.arrivals().is_some_and(Arrivals::any)
    }

    /// Whether there is anything from other threads.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.has_mail_left.get() || self.shared.inbox.has_mail()
    }

    /// Whether the last batch was not all that had arrived.
    pub(crate) fn is_flooded(&self) -> bool {
        self.is_flooded.get()
    }

    /// Whether there is anything to admit.
    #[inline]
    pub(crate) fn has_arrivals(&self) -> bool {
        self.has_woken() || self.has_mail()
    }

    /// Admits a batch of what arrived. Whether that was all.
    pub(crate) fn admit_arrivals(&self) -> bool {
        let Some(arrivals) = self.shared.arrivals() else { return true };
        if self.is_flooded.get() || arrivals.are_many() || self.has_mail() {
            return self.admit_batch();
        }
        self.admit_woken(usize::MAX);
        true
    }

    fn admit_batch(&self) -> bool {
        if self.is_flooded.get() {
            // What comes before it is the running queue's.
            self.charge_up_to_now();
        }
        let woken = self.admit_woken(BATCH) < BATCH;
        let mailed = !self.has_mail() || self.admit_mail();
        if mailed && self.drained_awaits_mail.replace(false) {
            self.after_last_finish();
        }
        let all = woken && mailed;
        if !all || self.is_flooded.get() {
            self.after_flood(all);
        }
        all
    }

    /// The time that a large batch took is nobody's but the executor's.
    #[cold]
    fn after_flood(&self, all: bool) {
        self.is_flooded.set(!all);
        if !all {
            self.preempted.set(true);
            self.come_again();
        }
        // In the middle of a slice the queue has paid up to the last reading, which came after its last poll, and its grant
        // goes on where it was.
        let before = self.meter.now();
        self.charge_running();
        self.meter.bill_own();
        let took = self.meter.now() - before;
        self.slice_deadline.set(self.slice_deadline.get().saturating_add(took));
    }

    /// Has the run loop admit more after the next poll.
    fn come_again(&self) {
        self.shared.arrivals().into_iter().filter(|arrivals| !arrivals.any()).for_each(Arrivals::look);
    }

    /// Admits what was woken on this thread. What came through the inbox, and was too much for one batch, is still to come.
    pub(super) fn admit_woken_before_spawn(&self) {
        self.admit_woken(usize::MAX);
        if self.is_flooded.get() {
            self.come_again();
        }
    }

    /// Admits what arrived, until half of the turn is over. Whether that was all.
    pub(crate) fn admit_between_slices(&self) -> bool {
        self.meter.begin(Account::Own);
        loop {
            let all = self.admit_arrivals();
            if all || self.meter.now() >= self.admission_deadline.get() {
                return all;
            }
        }
    }

    /// Admits all there is, however long it takes.
    pub(super) fn admit_all(&self) {
        while !self.admit_arrivals() {}
    }

    /// Hands tasks woken on this thread to their schedulers, up to so many; how many.
    fn admit_woken(&self, most: usize) -> usize {
        let admitted = self.hand_over(most);
        if self.visited.get().is_some() {
            self.visits.woke(admitted);
        }
        admitted
    }

    fn hand_over(&self, most: usize) -> usize {
        let Some(arrivals) = self.shared.arrivals() else { return 0 };
        // As a rule all are of one queue.
        if let Some(lane) = arrivals.only_queue().and_then(|queue| self.lane(queue)) {
            let admitted = lane.admit_woken(arrivals, self.visited.get(), most);
            self.after_policy_call(&lane);
            return admitted;
        }
        let mut lane: Option<Rc<Lane>> = None;
        for admitted in 0..most {
            let Some(arrival) = arrivals.next() else { return admitted };
            match (arrival, &lane) {
                (Arrival::Ready(place), Some(lane)) if lane.key.index == place.queue => {
                    self.admit_ready(lane, place, self.visited.get());
                }
                (Arrival::Ready(place), _) => {
                    lane = self.lane(place.queue);
                    lane.iter().for_each(|lane| self.admit_ready(lane, place, self.visited.get()));
                }
                (arrival, _) => self.admit(arrival),
            }
        }
        most
    }

    fn admit_ready(&self, lane: &Lane, place: Place, visited: Option<u8>) {
        if let Some((task, why)) = lane.make_ready(place, visited) {
            self.make_runnable(lane);
            lane.push(task, why);
        }
    }

    /// Admits a batch of what other threads sent. Whether that was all.
    fn admit_mail(&self) -> bool {
        let Some(arrivals) = self.shared.arrivals() else { return true };
        let mut mail = self.mail.take();
        if mail.is_empty() {
            mail = self.shared.inbox.take_all(arrivals);
        }
        let is_turned = mail.turn_round(TURNED);
        self.put_back(mail);
        if !is_turned {
            return false;
        }
        for _ in 0..BATCH {
            // User code may run in each, so the rest is put back first.
            let mut mail = self.mail.take();
            let next = mail.next();
            self.put_back(mail);
            let Some(arrival) = next else { return true };
            self.admit(arrival);
            if self.meter.is_stale() {
                // It took as long as a drop takes.
                return false;
            }
        }
        false
    }

    fn put_back(&self, mail: Batch) {
        self.has_mail_left.set(!mail.is_empty());
        self.mail.set(mail);
    }

    pub(super) fn admit(&self, arrival: Arrival) {
        match arrival {
            Arrival::Nothing => {}
            Arrival::Ready(place) => {
                if let Some(lane) = self.lane(place.queue) {
                    self.admit_ready(&lane, place, None);
                }
            }
            Arrival::Aborted(place) => {
                if let Some(lane) = self.lane(place.queue)
                    && lane.take_aborted(place)
                {
                    self.make_runnable(&lane);
                    self.hasten(&lane);
                }
            }
            Arrival::New(task, place) => self.admit_new(task, place),
        }
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
            // It is dropped here, and belongs to no task.
            let outer = self.current.replace(Current::NONE);
            let finish = task.cancel(cause.unwrap_or(Cause::Aborted));
            self.current.set(outer);
            self.meter.mark_stale();
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

    /// A task of the queue becomes ready, or is to be dropped: if it is the first, the queue joins the others.
    ///
    /// Before its scheduler hears of it, which may be where this is called from: that panics, and the queue must be runnable
    /// then, as it has a task.
    #[inline]
    pub(super) fn make_runnable(&self, lane: &Lane) {
        if !lane.runnable.replace(true) {
            self.join(lane);
        }
    }

    /// Has the queue served soon, unless it is in debt, as it has futures to drop: cuts its present request down to next to
    /// nothing, which brings its virtual deadline near.
    fn hasten(&self, lane: &Lane) {
        let mut eevdf = self.eevdf.borrow_mut();
        eevdf.set_request(lane.id, 1);
        eevdf.set_request(lane.id, lane.request_ns.get());
        drop(eevdf);
        if self.running.get() == Some(lane.id) {
            self.preempted.set(true);
        }
        self.preempt_for(lane);
    }

    /// A scheduler was told something, outside of its queue's slice, and tasks may have become ready: those it was told of, or,
    /// if it called back into the executor and is out of service for that, others.
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
        self.preempt_for(lane);
    }

    /// Ends the slice under way if the queue is to be served before the running one.
    fn preempt_for(&self, lane: &Lane) {
        if let Some(running) = self.running.get()
            && self.eevdf.borrow().preempts(lane.id, running)
        {
            self.preempted.set(true);
        }
    }
}
