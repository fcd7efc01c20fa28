//! Admission: hands tasks that were woken, aborted, or spawned on other threads to their queues, between polls.
//!
//! Any number may come at once, so they are admitted in batches: one batch between two polls, and between two slices as many
//! as fit into half of the turn. What is left comes in the next gap.

use std::cell::Cell;
use std::rc::Rc;

use clockworker_schedulers::{Attributes, Ready, Task};

use super::Core;
use super::asked::QUESTION;
use super::meter::Account;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{BATCH, Batch, Cause, Incoming, LiveTask, Placement, RecordKey, Refused, WokenList};

/// The most links of the inbox's stack to turn round in one gap. Some 5 µs, as each may be a cache miss.
const TURNED: usize = 128;

/// The most tasks from other threads that are admitted on the running queue's account, without a reading of the clock.
const FEW: usize = 8;

/// What admission has taken out of the inbox and not admitted yet, and when it pauses.
pub(super) struct Admission {
    /// The tasks taken out of the inbox.
    mail: Cell<Batch>,
    /// Whether `mail` holds a task.
    has_mail_left: Cell<bool>,
    /// Whether the last batch was not all there was.
    is_flooded: Cell<bool>,
    /// Whether the running queue was charged for its polls in this batch.
    is_charged: Cell<bool>,
    /// When admission between slices ends, to leave the rest of the turn to slices. A clock reading.
    deadline: Cell<u64>,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            mail: Cell::default(),
            has_mail_left: Cell::new(false),
            is_flooded: Cell::new(false),
            is_charged: Cell::new(false),
            deadline: Cell::new(u64::MAX),
        }
    }
}

impl Admission {
    /// Has admission between slices end at `deadline`, a clock reading.
    pub(super) fn end_at(&self, deadline: u64) {
        self.deadline.set(deadline);
    }
}

impl Core {
    /// Whether tasks were woken on this thread and are not admitted yet.
    #[inline]
    pub(super) fn has_woken(&self) -> bool {
        self.shared.woken_list().is_some_and(WokenList::any)
    }

    /// Whether tasks from other threads are still to be admitted.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.admission.has_mail_left.get() || self.shared.inbox.has_mail()
    }

    /// Whether the last batch was not all there was.
    pub(crate) fn is_flooded(&self) -> bool {
        self.admission.is_flooded.get()
    }

    /// Whether there is anything to admit.
    #[inline]
    pub(crate) fn has_incoming(&self) -> bool {
        self.has_woken() || self.has_mail()
    }

    /// Admits one batch. True if that was all.
    pub(crate) fn admit_incoming(&self) -> bool {
        let Some(woken) = self.shared.woken_list() else { return true };
        if self.admission.is_flooded.get() || woken.are_many() || self.has_mail() {
            return self.admit_batch();
        }
        self.admit_woken(usize::MAX);
        true
    }

    fn admit_batch(&self) -> bool {
        self.admission.is_charged.set(false);
        if self.admission.is_flooded.get() || self.shared.woken_list().is_some_and(WokenList::are_many) {
            self.charge_polls();
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

    /// Charges the running queue for the time up to now, before admission does what takes long. The clock may not have been read since
    /// the queue's last polls, whose time would be billed with that of the admission.
    #[cold]
    pub(super) fn charge_polls(&self) {
        if !self.admission.is_charged.replace(true) {
            self.charge_up_to_now();
        }
    }

    /// Bills the time that a large batch took to the executor itself, and has the run loop come back for the rest.
    #[cold]
    fn after_flood(&self, all: bool) {
        self.admission.is_flooded.set(!all);
        if !all {
            self.slice.preempt();
            self.come_again();
        }
        // Its last polls are never the executor's: if they were not charged before the batch, it is the queue that pays for all.
        self.charge_polls();
        // In the middle of a slice the queue has paid up to the last reading. Its grant goes on where it was.
        let before = self.meter.now();
        self.meter.bill_own();
        let took = self.meter.now() - before;
        self.slice.prolong(took);
    }

    /// Has the run loop admit more after the next poll.
    fn come_again(&self) {
        self.shared.woken_list().into_iter().filter(|woken| !woken.any()).for_each(WokenList::request_look);
    }

    /// Admits the woken list. What came through the inbox and was too much for one batch comes later.
    pub(super) fn admit_woken_before_spawn(&self) {
        self.admit_woken(usize::MAX);
        if self.admission.is_flooded.get() {
            self.come_again();
        }
    }

    /// Admits batches until half of the turn is over. True if nothing is left.
    pub(crate) fn admit_between_slices(&self) -> bool {
        self.meter.begin(Account::Own);
        loop {
            let all = self.admit_incoming();
            if all || self.meter.now() >= self.admission.deadline.get() {
                return all;
            }
        }
    }

    /// Admits all there is, however long it takes.
    pub(super) fn admit_all(&self) {
        while !self.admit_incoming() {}
    }

    /// Hands up to `most` tasks of the woken list to their schedulers; how many.
    fn admit_woken(&self, most: usize) -> usize {
        let Some((undeferred, turn)) = self.turn.deferred() else { return self.hand_over(most, None) };
        let admitted = self.hand_over(most.min(undeferred), None);
        self.turn.admitted_undeferred(admitted);
        if admitted < undeferred {
            return admitted;
        }
        admitted + self.hand_over(most - admitted, Some(turn))
    }

    /// The same with tasks that the host had deferred until the turn `deferred`, or, if that is `None`, any others.
    fn hand_over(&self, most: usize, deferred: Option<u8>) -> usize {
        let Some(woken) = self.shared.woken_list() else { return 0 };
        // As a rule all are of one queue.
        if let Some(queue) = woken.only_queue().and_then(|queue| self.queue_at(queue)) {
            let admitted = queue.admit_woken(woken, deferred, most);
            if deferred.is_some() {
                queue.yielded(admitted);
            }
            self.after_policy_call(&queue);
            return admitted;
        }
        let mut queue: Option<Rc<RunQueue>> = None;
        for admitted in 0..most {
            let Some(arrival) = woken.next() else { return admitted };
            match (arrival, &queue) {
                (Incoming::Ready(key), Some(queue)) if queue.index() == key.queue => {
                    self.admit_ready(queue, key, deferred);
                }
                (Incoming::Ready(key), _) => {
                    queue = self.queue_at(key.queue);
                    if let Some(queue) = &queue {
                        self.admit_ready(queue, key, deferred);
                    }
                }
                (arrival, _) => self.admit(arrival),
            }
        }
        most
    }

    /// False if the task is ready already, or has finished.
    fn admit_ready(&self, queue: &RunQueue, key: RecordKey, deferred: Option<u8>) -> bool {
        let Some((task, why)) = queue.make_ready(key, deferred) else { return false };
        if deferred.is_some() {
            queue.yielded(1);
        }
        self.make_runnable(queue);
        queue.push(task, why);
        true
    }

    /// Admits a batch of what other threads sent, and of aborts. True if that was all.
    fn admit_mail(&self) -> bool {
        let mut left = BATCH;
        while self.turn_mail() {
            while let Some(arrival) = self.next_mail() {
                self.admit(arrival);
                left -= 1;
                // Where a future was dropped, that may have taken long.
                if left == 0 || self.meter.is_stale() {
                    return false;
                }
            }
            // The last of an earlier batch: what has come since may be the abort of a task that was woken by now.
            if !self.shared.inbox.has_mail() {
                return true;
            }
        }
        false
    }

    /// Has the mail ready to be admitted in order: what is left of an earlier batch, or else what has come. False if that
    /// takes another gap.
    fn turn_mail(&self) -> bool {
        let Some(woken) = self.shared.woken_list() else { return false };
        let mut mail = self.admission.mail.take();
        if mail.is_empty() {
            mail = self.shared.inbox.take_all(woken);
        }
        let are_few = mail.turn_round(FEW);
        self.put_back(mail);
        are_few || self.turn_many()
    }

    fn next_mail(&self) -> Option<Incoming> {
        let mut mail = self.admission.mail.take();
        let next = mail.next();
        // User code may run when it is admitted.
        self.put_back(mail);
        next
    }

    /// Turns more of the mail round. True once all is turned.
    #[cold]
    fn turn_many(&self) -> bool {
        self.charge_polls();
        let mut mail = self.admission.mail.take();
        let is_turned = mail.turn_round(TURNED);
        self.put_back(mail);
        is_turned
    }

    fn put_back(&self, mail: Batch) {
        self.admission.has_mail_left.set(!mail.is_empty());
        self.admission.mail.set(mail);
    }

    pub(super) fn admit(&self, arrival: Incoming) {
        match arrival {
            Incoming::Nothing => {}
            Incoming::Ready(key) => {
                if let Some(queue) = self.queue_at(key.queue)
                    && self.admit_ready(&queue, key, None)
                {
                    self.tell_remote_wake(&queue, key);
                }
            }
            Incoming::Aborted(key) => {
                if let Some(queue) = self.queue_at(key.queue)
                    && queue.take_aborted(key)
                {
                    self.hasten(&queue);
                }
            }
            // What it calls, probes and schedulers, is part of no task.
            Incoming::New(task, key) => self.outside_tasks(|| self.admit_new(task, key)),
        }
    }

    /// Gives a task that another thread spawned its record, or cancels it if its queue does not take it.
    pub(super) fn admit_new(&self, task: LiveTask, key: RecordKey) {
        let placement =
            if key.slot == RecordKey::PLACED { self.shared.take_placement(task.id()) } else { None };
        let queue = self.queue_at(key.queue).filter(|queue| queue.id.generation() == key.generation);
        let Some(queue) = &queue else {
            if key == QUESTION {
                return self.answer(task);
            }
            return self.refuse_new(task, None, Cause::Refused(Refused::QueueClosed));
        };
        // A group that is not open has no task yet.
        let group_key = placement.as_ref().and_then(|placement| placement.group);
        let group = group_key.map_or(NO_GROUP, |key| queue.records.borrow().group_index(key));
        if let Err(why) = self.may_spawn(queue, group) {
            return self.refuse_new(task, Some(queue), Cause::Refused(why));
        }
        if task.is_aborted() {
            return self.refuse_new(task, Some(queue), Cause::Aborted);
        }
        self.make_runnable(queue);
        match placement {
            None => {
                let task = self.insert_new(queue, NO_GROUP, task);
                queue.push(task, Ready::Spawned);
                self.tell_spawned(queue, task);
            }
            Some(placement) => self.admit_placed(queue, task, &placement),
        }
    }

    #[inline]
    fn insert_new(&self, queue: &RunQueue, group: GroupIndex, task: LiveTask) -> Task {
        let task = queue.insert(group, |key| {
            task.assign_record(key);
            task
        });
        queue.note_spawned(task, self.meter.now());
        task
    }

    /// Cancels a task that another thread spawned, as part of no task. Drops its future.
    #[cold]
    fn refuse_new(&self, task: LiveTask, queue: Option<&RunQueue>, cause: Cause) {
        self.charge_polls();
        let finish = task.cancel(cause);
        self.meter.mark_stale();
        // Counted afterwards: what the cancelling drops may close the queue.
        let counters = queue.filter(|queue| !queue.removed.get()).map(|queue| &queue.counters);
        let counters = counters.unwrap_or(&self.queues.removed_counters);
        counters.spawned.add(1);
        counters.finished(finish);
        if let Cause::Refused(why) = cause {
            counters.refused(why);
        }
    }

    /// Admits a task with what was said of it. Its deadline counts from now.
    #[cold]
    fn admit_placed(&self, queue: &RunQueue, task: LiveTask, placement: &Placement) {
        let foreseen = queue.records.borrow().next_id();
        let group = open_group(queue, placement).unwrap_or(NO_GROUP);
        let task = self.insert_new(queue, group, task);
        queue.correct_probe(foreseen, task.id);
        // From now on the task holds the group.
        queue.release_group(group);
        let attributes = placement.request.attributes(|| self.meter.look());
        self.note_tag(&attributes);
        queue.push_spawned(task, &attributes);
        self.tell_spawned(queue, task);
    }

    /// After a call of the queue's scheduler outside of its slice: makes the queue runnable if it has ready tasks. The call
    /// may have made some ready, or, if the scheduler called back into the executor and is out of service for that, others.
    #[inline]
    pub(crate) fn after_policy_call(&self, queue: &RunQueue) {
        if queue.ready.get() > 0 {
            self.make_runnable(queue);
        }
    }
}

/// Opens the group that the task is to be in, unless that is open, and holds it.
#[cold]
fn open_group(queue: &RunQueue, placement: &Placement) -> Option<GroupIndex> {
    placement.group.map(|key| queue.open_group(key, Attributes::new()))
}
