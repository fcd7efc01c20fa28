//! Slice by slice: which queue gets one, until when, what it is charged, and which queue may preempt it.

use std::cell::Cell;
use std::rc::Rc;

use clockworker_schedulers::{Eevdf, QueueId};

use super::Core;
use super::meter::Account;
use super::queue::RunQueue;
use super::timing::SliceEnd;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::Id;

/// The slice under way.
pub(super) struct Slice {
    /// The queue whose slice it is.
    running: Cell<Option<QueueId>>,
    /// The task that is being polled, for what it spawns.
    current: Cell<Current>,
    /// What the slice is to look at after the poll under way.
    signal: Cell<Signal>,
    /// When the running slice's grant ends, while queues contend. A clock reading.
    deadline: Cell<u64>,
}

/// What a slice is to look at after a poll: each of these includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Nothing,
    /// The clock was read, or tasks were admitted, maybe of a queue that is to be served first.
    Time,
    /// Another queue has become runnable, and waits from now on.
    Contended,
    /// The slice is to end: a queue woke up that is to be served before the running one, futures of the running one are to be
    /// dropped, or there is more to admit than fits between two polls.
    Preempted,
}

/// What a task passes on to the tasks it spawns: its queue and group, and by its slot its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) queue: u32,
    pub(super) group: GroupIndex,
    pub(super) slot: u32,
}

impl Current {
    /// No task is being polled.
    pub(super) const NONE: Current = Current { queue: u32::MAX, group: NO_GROUP, slot: u32::MAX };
}

impl Default for Slice {
    fn default() -> Self {
        Self {
            running: Cell::new(None),
            current: Cell::new(Current::NONE),
            signal: Cell::new(Signal::Nothing),
            deadline: Cell::new(u64::MAX),
        }
    }
}

impl Slice {
    /// The queue that has the slice.
    #[inline]
    pub(super) fn running(&self) -> Option<QueueId> {
        self.running.get()
    }

    /// The task that is being polled.
    #[inline]
    pub(super) fn current(&self) -> Current {
        self.current.get()
    }

    /// Whether a task is being polled.
    #[inline]
    pub(super) fn is_in_task(&self) -> bool {
        self.current.get().queue != Current::NONE.queue
    }

    /// Has the slice end after the poll under way.
    pub(super) fn preempt(&self) {
        self.signal.set(Signal::Preempted);
    }

    /// Has the slice look, after the poll under way, at what it may do while another queue waits.
    fn contend(&self) {
        self.signal.set(self.signal.get().max(Signal::Contended));
    }

    /// Has the slice look at the time after the poll under way.
    #[inline]
    pub(super) fn look_at_time(&self) {
        self.signal.set(self.signal.get().max(Signal::Time));
    }

    /// Whether there is anything to look at.
    #[inline]
    pub(super) fn is_signalled(&self) -> bool {
        self.signal.get() != Signal::Nothing
    }

    /// Takes what is to be looked at.
    #[inline]
    pub(super) fn take_signal(&self) -> Signal {
        self.signal.replace(Signal::Nothing)
    }

    /// When the grant ends.
    pub(super) fn deadline(&self) -> u64 {
        self.deadline.get()
    }

    /// Moves the end of the grant by `ns` of the slice that were not the queue's.
    pub(super) fn prolong(&self, ns: u64) {
        self.deadline.set(self.deadline.get().saturating_add(ns));
    }
}

impl Core {
    /// Calls what is part of no task of this executor, although one was polled last.
    pub(super) fn outside_tasks<T>(&self, call: impl FnOnce() -> T) -> T {
        let (current, id) = (self.slice.current.replace(Current::NONE), Id::current());
        Id::make_current(self.turn.outer_task(id));
        let result = call();
        self.slice.current.set(current);
        Id::make_current(id);
        result
    }

    /// Gives the queue that EEVDF picks a slice. None if no queue is runnable.
    pub(crate) fn run_slice(&self) -> Option<SliceEnd> {
        let queue = self.pick()?;
        self.end_visit();
        self.slice.running.set(Some(queue.id));
        self.slice.take_signal();
        self.meter.begin(Account::Queue);
        let end = match self.shared.probe() {
            None => self.serve(&queue),
            Some(probe) => self.serve_probed(&*probe, &queue),
        };
        Some(end)
    }

    /// Gives the queue the slice that it was granted. Why it has ended.
    #[inline(always)] // as its caller was before it
    pub(super) fn serve(&self, queue: &RunQueue) -> SliceEnd {
        let end = queue.run_slice(self);
        self.slice.current.set(Current::NONE);
        let end = if queue.has_next_scheduler() { self.change_in_slice(queue, end) } else { end };
        self.end_slice(queue, end);
        end
    }

    /// Gives a queue another scheduler at the end of its slice, at the queue's cost. Why the slice has ended.
    #[cold]
    fn change_in_slice(&self, queue: &RunQueue, end: SliceEnd) -> SliceEnd {
        queue.change_scheduler();
        self.meter.mark_stale();
        if end == SliceEnd::Preempted { SliceEnd::SchedulerChanged } else { end }
    }

    /// Picks the queue to serve next, and grants it what is left of its request.
    #[cfg_attr(clockworker_profiling, inline(never))]
    pub(super) fn pick(&self) -> Option<Rc<RunQueue>> {
        if self.aside.is_used() {
            return self.pick_among_all();
        }
        let mut eevdf = self.queues.eevdf.borrow_mut();
        let picked = eevdf.pick()?;
        self.grant(eevdf.left_ns(picked));
        self.queue_at(picked.index() as u32)
    }

    /// Charges the queue what the slice took, and counts how it ended.
    pub(super) fn end_slice(&self, queue: &RunQueue, end: SliceEnd) {
        let contended = self.queues.are_contended();
        // Else the last poll was timed, and what came after it is paid for by the next account.
        if !contended || queue.stride.is_unread() || self.meter.is_stale() {
            let before = self.meter.now();
            queue.stride.shorten(self.meter.read() - before);
        }
        queue.slice_is_over();
        // Also `Preempted`, but not by a queue: a slice in which the queue's own tasks were aborted, or in which there was
        // more to admit than fits between two polls.
        if end == SliceEnd::Preempted && !queue.has_aborted() && !self.is_flooded() {
            queue.counters.preemptions.add(1);
        }
        // Whatever ended it: the other queues waited for as long.
        let (now, deadline) = (self.meter.now(), self.slice.deadline.get());
        if contended && now > deadline && (!self.aside.is_used() || self.has_overrun(queue)) {
            queue.counters.overruns.add(1);
            queue.counters.overrun_ns.add(now - deadline);
        }
        if queue.is_constrained() {
            return self.end_constrained_slice(queue);
        }
        let mut eevdf = self.queues.eevdf.borrow_mut();
        self.charge(&mut eevdf, queue);
        self.slice.running.set(None);
        self.meter.end_slice();
        if !queue.has_work() {
            queue.runnable.set(false);
            eevdf.sleep(queue.id);
            self.queues.note_runnable(&eevdf);
            if eevdf.runnable() > 0 || self.aside.has_idle_work() {
                self.pacer.queue_drained();
            }
        }
        drop(eevdf);
        self.after_finish(queue);
    }

    #[cold]
    fn end_constrained_slice(&self, queue: &RunQueue) {
        self.charge_running();
        self.slice.running.set(None);
        self.meter.end_slice();
        self.after_constrained_slice(queue);
        self.after_finish(queue);
    }

    /// Grants the running queue what is left of its request, from now on.
    pub(super) fn grant_rest(&self) {
        if let Some(running) = self.slice.running.get() {
            match self.aside.is_used().then(|| self.queue_at(running.index() as u32)).flatten() {
                Some(queue) => self.grant_strictly(&queue),
                None => self.grant(self.queues.eevdf.borrow().left_ns(running)),
            }
        }
    }

    fn grant(&self, ns: u64) {
        self.slice.deadline.set(self.meter.now().saturating_add(ns));
    }

    /// Grants so much, but not later than `end`.
    pub(super) fn grant_until(&self, ns: u64, end: u64) {
        self.slice.deadline.set(self.meter.now().saturating_add(ns).min(end));
    }

    /// Renews the grant after a charge in the middle of a slice, to the same or an earlier end. (A charge that serves the
    /// request begins the next one, which is not for this slice.)
    pub(super) fn shorten_grant(&self) {
        let granted = self.slice.deadline.get();
        self.grant_rest();
        self.slice.deadline.set(self.slice.deadline.get().min(granted));
    }

    /// Charges the running queue for the time since it was last charged.
    pub(super) fn charge_up_to_now(&self) {
        if self.slice.running.get().is_some() {
            self.meter.read();
            self.charge_running();
        }
    }

    /// Charges the running queue up to the last clock reading.
    pub(super) fn charge_running(&self) {
        if let Some(running) = self.slice.running.get()
            && let Some(queue) = self.queue_at(running.index() as u32)
        {
            if queue.is_constrained() {
                let service = self.meter.take();
                queue.counters.busy_ns.add(service);
                return self.charge_constrained(&queue, service);
            }
            self.charge(&mut self.queues.eevdf.borrow_mut(), &queue);
        }
    }

    /// Charges a queue up to the last clock reading.
    #[inline]
    fn charge(&self, eevdf: &mut Eevdf, queue: &RunQueue) {
        let service = self.meter.take();
        queue.counters.busy_ns.add(service);
        eevdf.charge(queue.id, service);
    }

    /// Gives waiters the room that was made. Cleans up if the last task of the queue, or of the executor, has finished.
    #[inline(always)] // 17 instructions a slice where it is called
    pub(super) fn after_finish(&self, queue: &RunQueue) {
        if queue.is_awaited.get() {
            self.look_after_slice(queue);
        }
        if queue.live.get() == 0 {
            self.after_last_of_queue(queue);
        }
    }

    /// Cleans up: the last task of the queue, and maybe of the executor, has finished.
    #[inline(never)]
    fn after_last_of_queue(&self, queue: &RunQueue) {
        queue.shrink();
        self.shared.collect_memory();
        self.remove_if_done(queue);
        self.after_last_finish();
    }

    #[inline]
    pub(crate) fn is_preempted(&self) -> bool {
        self.slice.signal.get() == Signal::Preempted
    }

    /// Whether the host or another queue is due at `now`, after so many polls in this slice.
    #[inline]
    pub(crate) fn time_is_up(&self, now: u64, polls: u32) -> Option<SliceEnd> {
        if self.is_turn_over(now, polls) {
            return Some(SliceEnd::HostDue);
        }
        self.is_slice_spent(now).then_some(SliceEnd::Spent)
    }

    #[inline]
    fn is_slice_spent(&self, now: u64) -> bool {
        self.queues.are_contended() && now >= self.slice.deadline.get()
    }

    #[inline]
    fn is_turn_over(&self, now: u64, polls: u32) -> bool {
        self.pacer.is_visit_due(now) && self.is_round_over(now, polls)
    }

    #[cold]
    #[inline(never)] // the hot loop needs its registers
    fn is_round_over(&self, now: u64, polls: u32) -> bool {
        self.pacer.is_round_over(now, self.turn.polls(&self.pace) + polls, || self.queues.round())
    }

    /// Whether the task that is being polled is to let others run: the time of its slice is up, or the host is due.
    pub(crate) fn is_poll_to_end(&self) -> bool {
        let now = self.meter.read();
        self.pacer.is_visit_due(now) || self.is_slice_spent(now)
    }

    /// Whether the host must run, between slices.
    pub(crate) fn is_host_due(&self) -> bool {
        self.pace.polls_left() == 0 || self.is_turn_over(self.meter.now(), 0)
    }

    /// Notes which task is polled next.
    #[inline]
    pub(crate) fn enter_task(&self, queue: &RunQueue, group: GroupIndex, slot: usize) {
        self.slice.current.set(Current { queue: queue.key.index, group, slot: slot as u32 });
    }

    /// Notes that no task is being polled any more.
    #[inline]
    pub(crate) fn leave_task(&self) {
        self.slice.current.set(Current::NONE);
    }

    /// Makes a queue runnable, as a task of it becomes ready or is to be dropped.
    ///
    /// Called before its scheduler is told of the task. (The scheduler may be the caller: then telling it panics, and the
    /// queue must be runnable, as it has a task.)
    #[inline]
    pub(super) fn make_runnable(&self, queue: &RunQueue) {
        if !queue.runnable.replace(true) {
            self.add_runnable(queue);
        }
    }

    /// Has the queue served soon, as it has futures to drop, unless it is in debt to the others.
    pub(super) fn hasten(&self, queue: &RunQueue) {
        if queue.is_constrained() {
            self.hasten_constrained(queue);
        }
        self.queues.eevdf.borrow_mut().hasten(queue.id);
        if self.slice.running.get() == Some(queue.id) {
            self.slice.preempt();
        }
        self.preempt_for(queue);
    }

    /// Adds a queue to those that EEVDF picks from, and preempts the running one if the new one is to be served first.
    pub(super) fn add_runnable(&self, queue: &RunQueue) {
        self.charge_up_to_now();
        let mut eevdf = self.queues.eevdf.borrow_mut();
        if queue.is_constrained() {
            eevdf = self.take_place(queue, eevdf);
        } else {
            eevdf.wake(queue.id);
        }
        let contended = self.queues.note_runnable(&eevdf);
        drop(eevdf);
        if contended {
            self.shorten_grant();
        } else {
            // The running queue was alone until now: its request begins here.
            self.grant_rest();
            self.slice.contend();
        }
        self.preempt_for(queue);
    }

    /// Ends the slice under way if the queue is to be served before the running one.
    pub(super) fn preempt_for(&self, queue: &RunQueue) {
        if let Some(running) = self.slice.running.get()
            && (self.queues.eevdf.borrow().preempts(queue.id, running)
                || self.aside.is_used() && self.preempts_aside(queue, running))
        {
            self.slice.preempt();
        }
    }
}
