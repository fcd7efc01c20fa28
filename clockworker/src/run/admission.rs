//! Admission: takes in what other threads sent, and has the queues served to which tasks came.
//!
//! Any number may come at once, so this is done in portions: a small one between two polls, and between two slices as many as
//! fit into half of the turn. What is left comes in the next gap.

use std::cell::Cell;
use std::future::ready;
use std::rc::Rc;

use clockworker_schedulers::{Attributes, QueueId, Task, TaskId};

use super::meter::Account;
use super::queue::RunQueue;
use super::{Core, context};
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{
    Arrivals, Batch, Cause, Incoming, JoinHandle, Label, LiveTask, Placement, RecordKey, Refused, SharedRef,
    spawn_remote,
};

/// The most links of the inbox to turn round and take in one gap. Some 5 µs, as each may be a cache miss.
const LINKS: usize = 128;

/// The most queues to wake in one gap.
const QUEUES: usize = 64;

/// What was taken out of the inbox and is not admitted yet, and when admission pauses.
pub(super) struct Admission {
    /// The tasks taken out of the inbox.
    mail: Cell<Batch>,
    /// Whether `mail` holds a task.
    has_mail_left: Cell<bool>,
    /// When admission between slices ends, to leave the rest of the turn to slices. A clock reading.
    deadline: Cell<u64>,
}

impl Default for Admission {
    fn default() -> Self {
        Self { mail: Cell::default(), has_mail_left: Cell::new(false), deadline: Cell::new(u64::MAX) }
    }
}

impl Admission {
    /// Has admission between slices end at `deadline`, a clock reading.
    pub(super) fn end_at(&self, deadline: u64) {
        self.deadline.set(deadline);
    }

    /// Whether some of the mail taken out of the inbox is left.
    pub(super) fn has_mail_left(&self) -> bool {
        self.has_mail_left.get()
    }
}

impl Core {
    /// The tasks that came to each queue.
    #[inline]
    pub(super) fn arrivals(&self) -> &Arrivals {
        &self.local().arrivals
    }

    /// Whether tasks from other threads are still to be admitted.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.admission.has_mail_left.get() || self.shared.inbox.has_mail()
    }

    /// Whether there is anything to admit.
    #[inline]
    pub(crate) fn has_incoming(&self) -> bool {
        self.arrivals().any_news() || self.has_mail()
    }

    /// Receives a small portion between two polls, on the account of the queue that is served. More than that ends the slice.
    pub(super) fn receive_between_polls(&self) {
        let all = self.receive(LINKS);
        if self.meter.is_stale() {
            self.bill_admission();
        }
        if !all {
            self.slice.interrupt();
        }
    }

    /// Bills user code that ran in the middle of a slice, but as part of no task, to the executor itself. The queue has paid for the
    /// time up to then, and its grant goes on where it was; but the slice ends, as its last reading of the clock was before.
    #[cold]
    fn bill_admission(&self) {
        let before = self.meter.now();
        self.meter.bill_own();
        self.slice.prolong(self.meter.now() - before);
        self.slice.interrupt();
    }

    /// Receives portions, and wakes the queues to which tasks came, until half of the turn is over. True if nothing is left.
    pub(crate) fn receive_between_slices(&self) -> bool {
        self.meter.begin(Account::Own);
        if !self.has_mail() && self.wake_queues_between_slices() {
            return true;
        }
        loop {
            let received = self.receive(LINKS);
            let all = self.wake_queues_between_slices() && received;
            if !all || self.meter.is_stale() {
                self.meter.bill_own();
            }
            if all || self.meter.now() >= self.admission.deadline.get() {
                return all;
            }
        }
    }

    /// Receives a portion, for those who wait for that.
    pub(crate) fn receive_some(&self) {
        self.receive(LINKS);
    }

    /// Receives all there is, however long it takes.
    pub(crate) fn receive_all(&self) {
        while self.has_mail() {
            self.receive(LINKS);
            if self.meter.is_stale() {
                self.meter.bill_own();
            }
        }
    }

    /// Wakes queues to which tasks came, where no slice is under way. True if none is left.
    #[inline]
    fn wake_queues_between_slices(&self) -> bool {
        let now = self.meter.now();
        let mut tree = self.queues.tree.borrow_mut();
        self.wake_queues(|queue| tree.wake_between_slices(queue, now))
    }

    /// The same in a slice of `served`, which pays for the time up to now, and may end by that.
    pub(super) fn wake_queues_in_slice(&self, served: &RunQueue) {
        self.slice.look_at_time();
        let mut tree = self.queues.tree.borrow_mut();
        let mut paid_until = None;
        self.wake_queues(|queue| {
            let now = *paid_until.get_or_insert_with(|| {
                self.meter.read();
                self.charge(&mut tree, served);
                self.meter.now()
            });
            self.heed(tree.wake(queue, now));
        });
    }

    /// Has `wake` wake the next of the queues to which tasks came. True if none is left.
    #[inline]
    pub(super) fn wake_queues(&self, mut wake: impl FnMut(QueueId)) -> bool {
        let arrivals = self.arrivals();
        let queues = self.queues.borrow();
        for _ in 0..QUEUES {
            let Some(index) = arrivals.next_news() else { return true };
            if let Some(Some(queue)) = queues.get(index as usize)
                // Not if they are complete or aborted by now: its scheduler may hold ids of tasks that went with the executor.
                && queue.has_arrivals()
                && !queue.runnable.replace(true)
            {
                wake(queue.id);
            }
        }
        !arrivals.any_news()
    }

    /// Takes in what other threads sent: turns round and takes so many links at most. Pauses after user code, which may have taken
    /// long. True if nothing is left of what it took out of the inbox.
    fn receive(&self, links: usize) -> bool {
        let (mut left, was_stale) = (links, self.meter.is_stale());
        while left > 0 && self.has_mail() && self.meter.is_stale() == was_stale {
            left -= self.turn_mail(left);
            while left > 0
                && let Some(incoming) = self.next_mail()
            {
                self.take_in(incoming);
                left = if self.meter.is_stale() == was_stale { left - 1 } else { 0 };
            }
        }
        if !self.has_mail() && self.ending.take_awaits_mail() {
            self.after_mail();
        }
        !self.admission.has_mail_left.get()
    }

    /// Turns round up to `most` links of what is left of the mail, or else of what has come; how many.
    fn turn_mail(&self, most: usize) -> usize {
        let mut mail = self.admission.mail.take();
        if mail.is_empty() {
            mail = self.shared.inbox.take_all(self.local());
        }
        let turned = mail.turn_round(most);
        self.put_back(mail);
        turned
    }

    fn next_mail(&self) -> Option<Incoming> {
        let mut mail = self.admission.mail.take();
        let next = mail.next();
        // User code may run when it is admitted.
        self.put_back(mail);
        next
    }

    fn put_back(&self, mail: Batch) {
        self.admission.has_mail_left.set(!mail.is_empty());
        self.admission.mail.set(mail);
    }

    fn take_in(&self, incoming: Incoming) {
        match incoming {
            Incoming::Nothing => {}
            Incoming::Woken(key) => self.tell_remote_wake(key),
            Incoming::Aborted(key) => {
                if let Some(queue) = self.queue_at(key.queue)
                    && queue.take_aborted(TaskId::new(key.slot, key.generation))
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
        let placement = if key.is_placed() { self.shared.take_placement(task.id()) } else { None };
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
        if let Err(why) = self.may_come(queue, group, || self.parents_queue(key)) {
            return self.refuse_new(task, Some(queue), Cause::Refused(why));
        }
        if task.is_aborted() {
            return self.refuse_new(task, Some(queue), Cause::Aborted);
        }
        match placement {
            None => {
                let task = self.insert_new(queue, NO_GROUP, task);
                self.tell_spawned(queue, task);
            }
            Some(placement) => self.admit_placed(queue, task, &placement),
        }
    }

    /// The queue of the parent of a task from another thread, if it has one.
    #[cold]
    #[inline(never)]
    fn parents_queue(&self, key: RecordKey) -> Option<Rc<RunQueue>> {
        self.all_queues().into_iter().find(|queue| key.is_child_of(queue.id))
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
        self.charge_up_to_now();
        let finish = task.cancel(cause);
        self.meter.mark_stale();
        // Counted afterwards: what the cancelling drops may close the queue.
        let counters = queue.filter(|queue| !queue.removed.get()).map(|queue| &queue.counters);
        let counters = counters.unwrap_or(&self.queues.removed_counters);
        counters.spawned.add(1);
        counters.finished(finish);
        if matches!(cause, Cause::Refused(_)) {
            counters.refused.add(1);
        }
    }

    /// Admits a task with what was said of it. Its deadline counts from now.
    #[cold]
    fn admit_placed(&self, queue: &RunQueue, task: LiveTask, placement: &Placement) {
        let group = open_group(queue, placement).unwrap_or(NO_GROUP);
        let task = self.insert_new(queue, group, task);
        // From now on the task holds the group.
        queue.release_group(group);
        let attributes = placement.request.attributes(|| self.meter.look());
        self.note_tag(&attributes);
        queue.set_attributes(task, &attributes);
        self.tell_spawned(queue, task);
    }
}

/// Opens the group that the task is to be in, unless that is open, and holds it.
#[cold]
fn open_group(queue: &RunQueue, placement: &Placement) -> Option<GroupIndex> {
    placement.group.map(|key| queue.open_group(key, Attributes::new()))
}

/// No queue has this index.
const NOWHERE: u32 = u32::MAX - 1;

/// The key of a question of another thread. A question comes the way of tasks: as a cell in the inbox, which wakes the host. But it names
/// no queue, so it gets no record, no scheduler hears of it, and it is counted nowhere. Tasks pay nothing for that: only what finds no
/// queue is asked whether it is a question.
const QUESTION: RecordKey = RecordKey { queue: NOWHERE, slot: RecordKey::NO_SLOT, generation: 0 };

/// Asks the executor from any thread. The handle gives the answer, or an error if the executor is dropped first.
pub(crate) fn ask<T: Send + 'static>(
    shared: &SharedRef,
    question: impl FnOnce(&Core) -> T + Send + 'static,
) -> JoinHandle<Option<T>> {
    let answer = || ready(context::current().map(|core| question(&core)));
    spawn_remote(shared, QUESTION, None, Label::here(), answer)
}

impl Core {
    /// Answers a question, which came as a task.
    #[cold]
    fn answer(&self, task: LiveTask) {
        if let Some(core) = self.this.upgrade() {
            self.charge_up_to_now();
            let _entered = context::enter(&core);
            // Wakes who asked, which is foreign code.
            task.poll_and_drop();
            self.meter.mark_stale();
        }
    }
}
