//! Admission: tasks woken, spawned on other threads or aborted are handed on, between polls.
//!
//! Any number may arrive at once, so it goes by batches: between two polls one batch, between two slices as many as fit into
//! half of the turn. What is left comes in the next gap.

use std::cell::Cell;
use std::rc::Rc;

use super::Core;
use super::meter::Account;
use super::pick::Current;
use super::queue::RunQueue;
use crate::queue::NO_GROUP;
use crate::task::{Arrival, Arrivals, BATCH, Batch, Cause, LiveTask, Place, Refused};

/// The most links of the inbox's stack that are turned round in one gap. Some 5 µs, as each may be a cache miss.
const TURNED: usize = 128;

/// What arrived and is still to be admitted.
pub(super) struct Admission {
    /// What was taken out of the inbox.
    mail: Cell<Batch>,
    /// Whether there is anything in it.
    has_mail_left: Cell<bool>,
    /// The last batch was not all that had arrived.
    is_flooded: Cell<bool>,
    /// When admission between slices leaves the rest of the turn to them.
    deadline: Cell<u64>,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            mail: Cell::default(),
            has_mail_left: Cell::new(false),
            is_flooded: Cell::new(false),
            deadline: Cell::new(u64::MAX),
        }
    }
}

impl Admission {
    /// From now on admission between slices ends at `deadline`.
    pub(super) fn end_at(&self, deadline: u64) {
        self.deadline.set(deadline);
    }
}

impl Core {
    /// Whether tasks were woken on this thread, or are left over from the last batch.
    #[inline]
    pub(super) fn has_woken(&self) -> bool {
        self.shared.arrivals().is_some_and(Arrivals::any)
    }

    /// Whether there is anything from other threads.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.admission.has_mail_left.get() || self.shared.inbox.has_mail()
    }

    /// Whether the last batch was not all that had arrived.
    pub(crate) fn is_flooded(&self) -> bool {
        self.admission.is_flooded.get()
    }

    /// Whether there is anything to admit.
    #[inline]
    pub(crate) fn has_arrivals(&self) -> bool {
        self.has_woken() || self.has_mail()
    }

    /// Admits a batch of what arrived. Whether that was all.
    pub(crate) fn admit_arrivals(&self) -> bool {
        let Some(arrivals) = self.shared.arrivals() else { return true };
        if self.admission.is_flooded.get() || arrivals.are_many() || self.has_mail() {
            return self.admit_batch();
        }
        self.admit_woken(usize::MAX);
        true
    }

    fn admit_batch(&self) -> bool {
        if self.admission.is_flooded.get() {
            // What comes before it is the running queue's.
            self.charge_up_to_now();
        }
        let woken = self.admit_woken(BATCH) < BATCH;
        let mailed = !self.has_mail() || self.admit_mail();
        if mailed && self.ending.take_awaits_mail() {
            self.after_last_finish();
        }
        let all = woken && mailed;
        if !all || self.admission.is_flooded.get() {
            self.after_flood(all);
        }
        all
    }

    /// The time that a large batch took is nobody's but the executor's.
    #[cold]
    fn after_flood(&self, all: bool) {
        self.admission.is_flooded.set(!all);
        if !all {
            self.slice.preempt();
            self.come_again();
        }
        // In the middle of a slice the queue has paid up to the last reading, which came after its last poll, and its grant
        // goes on where it was.
        let before = self.meter.now();
        self.charge_running();
        self.meter.bill_own();
        let took = self.meter.now() - before;
        self.slice.prolong(took);
    }

    /// Has the run loop admit more after the next poll.
    fn come_again(&self) {
        self.shared.arrivals().into_iter().filter(|arrivals| !arrivals.any()).for_each(Arrivals::look);
    }

    /// Admits what was woken on this thread. What came through the inbox, and was too much for one batch, is still to come.
    pub(super) fn admit_woken_before_spawn(&self) {
        self.admit_woken(usize::MAX);
        if self.admission.is_flooded.get() {
            self.come_again();
        }
    }

    /// Admits what arrived, until half of the turn is over. Whether that was all.
    pub(crate) fn admit_between_slices(&self) -> bool {
        self.meter.begin(Account::Own);
        loop {
            let all = self.admit_arrivals();
            if all || self.meter.now() >= self.admission.deadline.get() {
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
        if self.turn.visited().is_some() {
            self.visits.woke(admitted);
        }
        admitted
    }

    fn hand_over(&self, most: usize) -> usize {
        let Some(arrivals) = self.shared.arrivals() else { return 0 };
        // As a rule all are of one queue.
        if let Some(queue) = arrivals.only_queue().and_then(|queue| self.queue_at(queue)) {
            let admitted = queue.admit_woken(arrivals, self.turn.visited(), most);
            self.after_policy_call(&queue);
            return admitted;
        }
        let mut queue: Option<Rc<RunQueue>> = None;
        for admitted in 0..most {
            let Some(arrival) = arrivals.next() else { return admitted };
            match (arrival, &queue) {
                (Arrival::Ready(place), Some(queue)) if queue.key.index == place.queue => {
                    self.admit_ready(queue, place, self.turn.visited());
                }
                (Arrival::Ready(place), _) => {
                    queue = self.queue_at(place.queue);
                    queue.iter().for_each(|queue| self.admit_ready(queue, place, self.turn.visited()));
                }
                (arrival, _) => self.admit(arrival),
            }
        }
        most
    }

    fn admit_ready(&self, queue: &RunQueue, place: Place, visited: Option<u8>) {
        if let Some((task, why)) = queue.make_ready(place, visited) {
            self.make_runnable(queue);
            queue.push(task, why);
        }
    }

    /// Admits a batch of what other threads sent. Whether that was all.
    fn admit_mail(&self) -> bool {
        let Some(arrivals) = self.shared.arrivals() else { return true };
        let mut mail = self.admission.mail.take();
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
            let mut mail = self.admission.mail.take();
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
        self.admission.has_mail_left.set(!mail.is_empty());
        self.admission.mail.set(mail);
    }

    pub(super) fn admit(&self, arrival: Arrival) {
        match arrival {
            Arrival::Nothing => {}
            Arrival::Ready(place) => {
                if let Some(queue) = self.queue_at(place.queue) {
                    self.admit_ready(&queue, place, None);
                }
            }
            Arrival::Aborted(place) => {
                if let Some(queue) = self.queue_at(place.queue)
                    && queue.take_aborted(place)
                {
                    self.make_runnable(&queue);
                    self.hasten(&queue);
                }
            }
            Arrival::New(task, place) => self.admit_new(task, place),
        }
    }

    /// A task that another thread spawned.
    pub(super) fn admit_new(&self, task: LiveTask, place: Place) {
        let queue = self.queue_at(place.queue).filter(|queue| queue.key.generation == place.generation);
        let cause = match &queue {
            None => Some(Cause::Refused(Refused::QueueClosed)),
            Some(queue) if self.takes(queue) => None,
            Some(queue) => Some(Cause::Refused(self.refusal(queue))),
        };
        let cause = cause.or_else(|| task.is_aborted().then_some(Cause::Aborted));
        let (Some(queue), None) = (&queue, cause) else {
            // It is dropped here, and belongs to no task.
            let outer = self.slice.current.replace(Current::NONE);
            let finish = task.cancel(cause.unwrap_or(Cause::Aborted));
            self.slice.current.set(outer);
            self.meter.mark_stale();
            // Booked afterwards: what the cancelling drops may close the queue.
            let counters = queue.as_ref().filter(|queue| !queue.retired.get()).map(|queue| &queue.counters);
            let counters = counters.unwrap_or(&self.queues.gone);
            counters.spawned.add(1);
            counters.finished(finish);
            return;
        };
        self.make_runnable(queue);
        queue.spawn(NO_GROUP, |place| {
            task.settle_in(place);
            task
        });
    }

    /// A scheduler was told something, outside of its queue's slice, and tasks may have become ready: those it was told of, or,
    /// if it called back into the executor and is out of service for that, others.
    #[inline]
    pub(crate) fn after_policy_call(&self, queue: &RunQueue) {
        if queue.ready.get() > 0 {
            self.make_runnable(queue);
        }
    }
}
