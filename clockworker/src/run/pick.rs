//! Slice by slice: which queue gets one, until when, and what it is charged; and the one way by which the tree of queues is changed.

use std::cell::Cell;
use std::rc::Rc;

use clockworker_schedulers::{Effect, Grant, Left, QueueTree};

use super::Core;
use super::meter::Account;
use super::queue::RunQueue;
use super::timing::SliceEnd;
use crate::queue::{GroupIndex, NO_GROUP};
use crate::task::{Id, RecordKey};

/// The slice under way.
pub(super) struct Slice {
    /// The place of the queue that is served.
    queue: Cell<u32>,
    /// The group of the task that is being polled,
    group: Cell<GroupIndex>,
    /// and its slot; [`RecordKey::NO_SLOT`] if none is.
    slot: Cell<u32>,
    /// What the slice is to look at after the poll under way.
    signal: Cell<Signal>,
    /// When it is to end: a clock reading, or `u64::MAX` while no other queue waits.
    until: Cell<u64>,
    /// Whether the clock is to be read after each poll.
    exact: Cell<bool>,
    /// Whether that is so in each slice of the turn.
    pub(super) always_exact: Cell<bool>,
    /// Whether its queue is to drop futures only.
    drops_only: Cell<bool>,
}

/// What a slice is to look at after a poll: each of these includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Nothing,
    /// The clock was read, or tasks were admitted, maybe of a queue that is to be served first.
    Time,
    /// Another queue has become runnable, and waits from now on.
    Contended,
    /// The slice is to end: user code ran between two polls, or there is more to receive than fits there.
    Interrupted,
    /// The slice is to end: a queue woke up that is to be served before the running one, or futures of the running one are to be
    /// dropped.
    Preempted,
}

/// What a task passes on to the tasks it spawns: its queue and group, and by its slot its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) queue: u32,
    pub(super) group: GroupIndex,
    pub(super) slot: u32,
}

impl Default for Slice {
    fn default() -> Self {
        Self {
            queue: Cell::new(0),
            group: Cell::new(NO_GROUP),
            slot: Cell::new(RecordKey::NO_SLOT),
            signal: Cell::new(Signal::Nothing),
            until: Cell::new(u64::MAX),
            exact: Cell::new(false),
            always_exact: Cell::new(false),
            drops_only: Cell::new(false),
        }
    }
}

impl Slice {
    /// Begins.
    #[inline]
    fn begin(&self, grant: &Grant) {
        self.queue.set(grant.queue.index() as u32);
        self.until.set(grant.until);
        self.exact.set(grant.exact | self.always_exact.get());
        self.drops_only.set(grant.drops_only);
        self.signal.set(Signal::Nothing);
    }

    /// Is to end by then, unless it was to end sooner; `u64::MAX` if no other queue waits any more.
    fn limit(&self, until: u64, exact: bool) {
        let exact = exact | self.always_exact.get();
        let sooner = exact && !self.exact.get() || !self.is_limited();
        self.exact.set(exact);
        self.until.set(if until < u64::MAX { until.min(self.until.get()) } else { until });
        if sooner && self.is_limited() {
            self.signal.set(self.signal.get().max(Signal::Contended));
        }
    }

    /// Whether it is to end by a time: another queue waits, or its own is capped or idle.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.until.get() < u64::MAX
    }

    /// Whether the clock is to be read after each poll.
    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.exact.get()
    }

    /// Whether its queue is to drop futures only, and to poll no task.
    pub(super) fn drops_only(&self) -> bool {
        self.drops_only.get()
    }

    /// The task that is being polled.
    #[inline]
    pub(super) fn current(&self) -> Option<Current> {
        let slot = self.slot.get();
        let current = || Current { queue: self.queue.get(), group: self.group.get(), slot };
        (slot != RecordKey::NO_SLOT).then(current)
    }

    /// Has the slice end after the poll under way.
    pub(super) fn preempt(&self) {
        self.signal.set(Signal::Preempted);
    }

    /// Has the slice end after the poll under way, though no queue is preferred to its queue.
    pub(super) fn interrupt(&self) {
        self.signal.set(self.signal.get().max(Signal::Interrupted));
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

    /// Moves the end by `ns` of the slice that were not the queue's.
    pub(super) fn prolong(&self, ns: u64) {
        self.until.set(self.until.get().saturating_add(ns));
    }
}

impl Core {
    /// Calls what is part of no task of this executor, although one was polled last.
    pub(super) fn outside_tasks<T>(&self, call: impl FnOnce() -> T) -> T {
        let (slot, id) = (self.slice.slot.replace(RecordKey::NO_SLOT), Id::current());
        Id::make_current(self.turn.outer_task(id));
        let result = call();
        self.slice.slot.set(slot);
        Id::make_current(id);
        result
    }

    /// Gives the queue that EEVDF picks a slice. None if no queue is runnable.
    pub(crate) fn run_slice(&self) -> Option<SliceEnd> {
        let queue = self.pick()?;
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
        self.leave_task();
        if self.moves.any() {
            self.move_polled(queue);
        }
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

    /// Picks the queue to serve next, and begins its slice.
    #[cfg_attr(clockworker_profiling, inline(never))]
    pub(super) fn pick(&self) -> Option<Rc<RunQueue>> {
        let grant = self.queues.tree.borrow_mut().pick(self.meter.now())?;
        self.slice.begin(&grant);
        self.queue_at(grant.queue.index() as u32)
    }

    /// Charges the queue what the slice took, and counts how it ended.
    pub(super) fn end_slice(&self, queue: &RunQueue, end: SliceEnd) {
        let is_limited = self.slice.is_limited();
        // Else the last poll was timed, and what came after it is paid for by the next account.
        if !is_limited || queue.stride.is_unread() || self.meter.is_stale() {
            let before = self.meter.now();
            queue.stride.shorten(self.meter.read() - before);
        }
        queue.slice_is_over();
        // Also `Preempted`, but not by a queue: a slice in which the queue's own tasks were aborted.
        if end == SliceEnd::Preempted && !queue.has_aborted() {
            queue.counters.preemptions.add(1);
        }
        let mut tree = self.queues.tree.borrow_mut();
        // Whatever ended it: the other queues waited for as long.
        let (now, until) = (self.meter.now(), self.slice.until.get());
        if now > until && tree.are_others_waiting(until) {
            queue.counters.overruns.add(1);
            queue.counters.overrun_ns.add(now - until);
        }
        self.charge(&mut tree, queue);
        // Before this queue may be left without work: whether it counts on depends on who has any.
        if self.arrivals().any_news() {
            self.wake_queues(|queue| tree.wake_between_slices(queue, now));
        }
        let left = queue.left();
        tree.end_slice(queue.id, left, now);
        self.meter.end_slice();
        if left == Left::Nothing {
            queue.runnable.set(false);
            if tree.has_work(now) {
                self.pacer.queue_drained();
            }
        }
        drop(tree);
        self.after_finish(queue);
    }

    /// Charges the running queue for the time since it was last charged.
    pub(super) fn charge_up_to_now(&self) {
        let running = self.queues.tree.borrow().running();
        if let Some(running) = running
            && let Some(queue) = self.queue_at(running.index() as u32)
        {
            self.meter.read();
            self.charge(&mut self.queues.tree.borrow_mut(), &queue);
        }
    }

    /// Charges a queue up to the last clock reading.
    #[inline(always)] // 20 instructions a slice
    pub(super) fn charge(&self, tree: &mut QueueTree, queue: &RunQueue) {
        let service = self.meter.take();
        queue.counters.busy_ns.add(service);
        tree.charge(queue.id, service, self.meter.now());
    }

    /// Whether the queue's slice is under way.
    pub(super) fn runs(&self, queue: &RunQueue) -> bool {
        self.queues.tree.borrow().running() == Some(queue.id)
    }

    /// Changes the tree of queues, after the running queue has paid for the time up to now, and does what that asks.
    pub(super) fn change_tree(&self, change: impl FnOnce(&mut QueueTree, u64) -> Effect) {
        let effect = self.changed_tree(change);
        self.heed(effect);
    }

    fn changed_tree(&self, change: impl FnOnce(&mut QueueTree, u64) -> Effect) -> Effect {
        self.charge_up_to_now();
        let now = self.meter.fresh();
        change(&mut self.queues.tree.borrow_mut(), now)
    }

    /// Does what a change of the tree of queues asks.
    pub(super) fn heed(&self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Until { until, exact } => self.slice.limit(until, exact),
            Effect::Preempt => self.slice.preempt(),
            // The host's waker is foreign code, so callers do this last.
            Effect::Turn => self.shared.inbox.wake_parked_host(),
        }
    }

    /// Gives waiters the room that was made. Cleans up if the last task of the queue, or of the executor, has finished.
    #[inline(always)] // 17 instructions a slice where it is called
    pub(super) fn after_finish(&self, queue: &RunQueue) {
        if queue.is_awaited.get() {
            self.give_room(queue);
        }
        if queue.live.get() == 0 {
            self.after_last_of_queue(queue);
        }
    }

    /// Cleans up: the last task of the queue, and maybe of the executor, has finished.
    #[inline(never)]
    fn after_last_of_queue(&self, queue: &RunQueue) {
        queue.shrink();
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
        now >= self.slice.until.get()
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
        // It counts as a poll, of what this one has done since it asked last.
        let now = self.meter.read_after(true);
        self.pacer.is_visit_due(now) || self.is_slice_spent(now)
    }

    /// Whether the host must run, between slices.
    pub(crate) fn is_host_due(&self) -> bool {
        self.pace.polls_left() == 0 || self.is_turn_over(self.meter.now(), 0)
    }

    /// Notes which task of the queue is polled next.
    #[inline]
    pub(crate) fn enter_task(&self, group: GroupIndex, slot: usize) {
        self.slice.group.set(group);
        self.slice.slot.set(slot as u32);
    }

    /// Notes that no task is being polled any more.
    #[inline]
    pub(crate) fn leave_task(&self) {
        self.slice.slot.set(RecordKey::NO_SLOT);
    }

    /// Makes a queue runnable, as a task of it becomes ready.
    ///
    /// Called before the task is among its arrivals. (If its own scheduler is the caller, adding the task panics, and the queue has a slice
    /// for nothing.)
    #[inline]
    pub(super) fn make_runnable(&self, queue: &RunQueue) {
        if !queue.runnable.replace(true) {
            self.add_runnable(queue);
        }
    }

    #[inline(never)]
    fn add_runnable(&self, queue: &RunQueue) {
        match self.changed_tree(|tree, now| tree.wake(queue.id, now)) {
            // A parked host is woken by what made the task ready, or as soon as the queue has it.
            Effect::Turn => {}
            effect => self.heed(effect),
        }
    }

    /// Makes a queue runnable, as it has futures to drop, and has it served soon, unless it is in debt to the others.
    pub(super) fn hasten(&self, queue: &RunQueue) {
        queue.runnable.set(true);
        self.change_tree(|tree, now| tree.hasten(queue.id, now));
    }
}
