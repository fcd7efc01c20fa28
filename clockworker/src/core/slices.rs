//! Slice by slice: which queue, until when, and what it is charged.

use std::rc::Rc;
use std::task::Waker;

use clockworker_schedulers::Eevdf;

use super::meter::Account;
use super::{Core, Current};
use crate::lane::{GroupIndex, Lane};
use crate::slice::{self, SliceEnd};
use crate::task::Arrivals;

impl Core {
    /// Begins a turn of the executor on its host's thread.
    pub(crate) fn begin_turn(&self) {
        self.host_polls.add(1);
        let (now, took_ns) = self.meter.end_host();
        self.visits.end(took_ns, || !self.has_arrivals() && !self.main.is_woken());
        let budget_ns = self.visits.begin_turn(now);
        self.admission_deadline.set(now.saturating_add(budget_ns / 2));
        self.polls_left.set(self.poll_cap);
        self.turn.set(self.turn.get().wrapping_add(1));
        self.visited.set(Some(self.turn.get()));
    }

    /// Whether the last turn ended with work left, and has woken its host.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_visiting(&self) -> bool {
        self.visits.are_under_way()
    }

    /// Renews the host's cooperative budget, which a poll of the queue has spent. If that cannot be, it was the last before the
    /// host runs. True if others had spent some of it before that poll, and now there is all of it.
    pub(crate) fn renew_budget(&self, lane: &Lane) -> bool {
        let polls = lane.counters.polls.get();
        let by_others = !self.budget.was_whole(polls);
        // For the same task once more, or for the one after it.
        self.budget.renew(if by_others { polls } else { polls + 1 });
        let renewed = !self.budget.is_spent();
        if !renewed {
            self.visits.call_off();
            self.shared.arrivals().into_iter().for_each(Arrivals::look);
        }
        by_others && renewed
    }

    /// The number of the turn, modulo 256.
    #[inline]
    pub(crate) fn turn(&self) -> u8 {
        self.turn.get()
    }

    /// Something is about to be polled: what arrives from now on does not come from the host's visit.
    pub(crate) fn end_visit(&self) {
        self.visited.set(None);
    }

    /// Ends it: from now on the host pays.
    pub(crate) fn end_turn(&self) {
        self.meter.begin(Account::Host);
    }

    /// Gives the queue that EEVDF picks a slice. None if no queue is runnable.
    pub(crate) fn run_slice(&self) -> Option<SliceEnd> {
        let Some(lane) = self.pick() else {
            self.visits.has_drained();
            return None;
        };
        self.end_visit();
        self.running.set(Some(lane.id));
        self.preempted.set(false);
        self.meter.begin(Account::Queue);
        let end = lane.run_slice(self);
        self.current.set(Current::NONE);
        self.end_slice(&lane, end);
        Some(end)
    }

    /// The queue to serve next. It is granted what is left of its request.
    #[cfg_attr(clockworker_profiling, inline(never))]
    pub(super) fn pick(&self) -> Option<Rc<Lane>> {
        let mut eevdf = self.eevdf.borrow_mut();
        let picked = eevdf.pick()?;
        self.grant(eevdf.left_ns(picked));
        self.lane(picked.index() as u32)
    }

    /// Charges what the slice took, and books how it ended.
    pub(super) fn end_slice(&self, lane: &Lane, end: SliceEnd) {
        // While queues contend, the clock is read after every poll, and whenever one joins.
        let contended = self.contended.get();
        if !contended || self.meter.is_stale() {
            let before = self.meter.now();
            slice::shorten_stride(self, self.meter.read() - before);
        }
        lane.counters.slices.add(1);
        // Also ended in this way: a slice in which the queue's own tasks were aborted, or more arrived than could be admitted.
        if end == SliceEnd::Preempted && !lane.has_aborted() && !self.is_flooded() {
            lane.counters.preemptions.add(1);
        }
        // Whatever ended it: the others waited for as long.
        if contended && self.meter.now() > self.slice_deadline.get() {
            lane.counters.overruns.add(1);
            lane.counters.overrun_ns.add(self.meter.now() - self.slice_deadline.get());
        }
        let mut eevdf = self.eevdf.borrow_mut();
        self.charge(&mut eevdf, lane);
        self.running.set(None);
        self.meter.end_slice();
        if !lane.has_work() {
            lane.runnable.set(false);
            eevdf.sleep(lane.id);
            self.contended.set(eevdf.runnable() > 1);
            if eevdf.runnable() > 0 {
                self.visits.queue_drained();
            }
        }
        drop(eevdf);
        self.after_finish(lane);
    }

    /// Grants the running queue what is left of its request, from now on.
    pub(super) fn grant_rest(&self) {
        if let Some(running) = self.running.get() {
            self.grant(self.eevdf.borrow().left_ns(running));
        }
    }

    fn grant(&self, ns: u64) {
        self.slice_deadline.set(self.meter.now().saturating_add(ns));
    }

    /// After a charge in the middle of a slice: the grant may have become shorter, but not longer. (A charge that serves
    /// the request begins the next one, which is for the next turn.)
    pub(super) fn shorten_grant(&self) {
        let granted = self.slice_deadline.get();
        self.grant_rest();
        self.slice_deadline.set(self.slice_deadline.get().min(granted));
    }

    /// Charges the running queue for the time since it was last charged.
    pub(super) fn charge_up_to_now(&self) {
        if self.running.get().is_some() {
            self.meter.read();
            self.charge_running();
        }
    }

    /// Charges the running queue up to the last clock reading.
    pub(super) fn charge_running(&self) {
        if let Some(running) = self.running.get()
            && let Some(lane) = self.lane(running.index() as u32)
        {
            self.charge(&mut self.eevdf.borrow_mut(), &lane);
        }
    }

    /// Charges a queue up to the last clock reading.
    #[inline]
    fn charge(&self, eevdf: &mut Eevdf, lane: &Lane) {
        let service = self.meter.take();
        lane.counters.busy_ns.add(service);
        eevdf.charge(lane.id, service);
    }

    /// Some task of the queue may have finished: is the queue done, or the executor?
    #[inline]
    pub(super) fn after_finish(&self, lane: &Lane) {
        if lane.live.get() == 0 {
            lane.shrink();
            self.retire_if_done(lane);
            self.after_last_finish();
        }
    }

    #[inline]
    pub(crate) fn contended(&self) -> bool {
        self.contended.get()
    }

    #[inline]
    pub(crate) fn is_preempted(&self) -> bool {
        self.preempted.get()
    }

    /// Whether the host or another queue is due at `now`, after so many polls in this slice.
    #[inline]
    pub(crate) fn time_is_up(&self, now: u64, polls: u32) -> Option<SliceEnd> {
        if self.visits.is_due(now, polls) {
            return Some(SliceEnd::HostBudget);
        }
        (self.contended.get() && now >= self.slice_deadline.get()).then_some(SliceEnd::Spent)
    }

    /// Whether the host must run, between slices.
    pub(crate) fn is_host_due(&self) -> bool {
        self.polls_left.get() == 0 || self.visits.is_due(self.meter.now(), 0)
    }

    /// There were so many polls in a slice.
    #[inline]
    pub(crate) fn polled(&self, polls: u32) {
        self.visits.polled(polls);
    }

    /// Notes which task is polled next.
    #[inline]
    pub(crate) fn enter_task(&self, lane: &Lane, group: GroupIndex) {
        self.current.set(Current { queue: lane.key.index, group });
    }

    /// No task is being polled any more.
    #[inline]
    pub(crate) fn leave_task(&self) {
        self.current.set(Current::NONE);
    }

    /// Whether the task that is being polled should yield: its slice or the host's patience is over, or something came
    /// that may be to be served first. Looks, but does not admit: no other task's future is dropped inside a poll.
    pub(crate) fn should_yield(&self) -> bool {
        let current = self.current.get();
        if current == Current::NONE {
            return false;
        }
        if self.preempted.get() || self.main.is_woken() || self.has_mail() {
            return true;
        }
        let other_queue = |arrivals: &Arrivals| arrivals.any_of_other_queue(current.queue);
        self.shared.arrivals().is_some_and(other_queue)
            || self.time_is_up(self.meter.read(), u32::MAX).is_some()
    }

    /// Goes back to the host although there is work left.
    pub(crate) fn yield_to_host(&self, host: &Waker) {
        self.watch();
        self.host_yields.add(1);
        self.visits.begin();
        host.wake_by_ref();
    }
}
