//! Queues that do not always stand among those that share the thread: capped ones, which are throttled when their caps are used
//! up; idle ones, which run when no other queue has work; nested ones, which share what their parents get.
//!
//! All of it is off the way of queues without constraints: where there are no others, a pick asks one question more.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;

use clockworker_schedulers::{Branches, Eevdf, QueueId};

use super::Core;
use super::constraints::Place;
use super::idle::IdleQueues;
use super::queue::RunQueue;
use super::throttled::ThrottledQueues;
use crate::queue::{Cap, QueueError};

/// What an executor keeps of queues that are capped, idle or nested.
pub(super) struct Aside {
    /// How many there are.
    constrained: Cell<usize>,
    pub(super) idle: IdleQueues,
    pub(super) throttled: ThrottledQueues,
    pub(super) nested: RefCell<Branches>,
}

impl Aside {
    pub(super) fn new() -> Self {
        Self {
            constrained: Cell::new(0),
            idle: IdleQueues::default(),
            throttled: ThrottledQueues::new(),
            nested: RefCell::default(),
        }
    }

    /// Whether any queue is capped, idle or nested.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.constrained.get() > 0
    }

    /// Whether an idle queue has work.
    #[inline]
    pub(super) fn has_idle_work(&self) -> bool {
        self.is_used() && self.idle.runnable() > 0
    }
}

// ---- Constraints, given and taken away

impl Core {
    /// Makes a new queue an idle one.
    pub(crate) fn make_idle(&self, queue: &RunQueue) {
        let id = self.aside.idle.add(queue.key.index, queue.share.get(), queue.request_ns.get());
        let was_constrained = queue.is_constrained();
        queue.constraints.make_idle(id);
        self.count_constrained(was_constrained, true);
    }

    /// Changes a queue's cap, unless the queue was removed.
    pub(crate) fn set_cap(&self, queue: &RunQueue, cap: Option<Cap>) -> Result<(), QueueError> {
        self.exists(queue)?;
        if cap.is_some() {
            self.may_cap(queue)?;
        }
        if queue.constraints.cap() != cap {
            self.change_cap(queue, cap);
        }
        Ok(())
    }

    /// Changes the cap of a queue that there is.
    pub(crate) fn change_cap(&self, queue: &RunQueue, cap: Option<Cap>) {
        // The time up to now was served under the old cap.
        self.charge_up_to_now();
        let (was_constrained, works) = (queue.is_constrained(), queue.runnable.get());
        if !was_constrained {
            queue.constraints.stand(if works { Place::Thread } else { Place::Asleep });
        }
        let was_throttled = queue.constraints.place() == Place::Throttled;
        if was_throttled {
            self.leave_place(queue);
        }
        queue.constraints.set_cap(cap, self.meter.look(), works);
        self.count_constrained(was_constrained, queue.is_constrained());
        // The end of a slice of its own settles where it stands.
        if works && self.slice.running() != Some(queue.id) && (was_throttled || queue.is_constrained()) {
            self.settle_place(queue);
            self.preempt_for(queue);
        }
        self.note_constraints();
        if works {
            // Outside of a turn nothing else brings one, which goes on with the queue or sets the alarm anew. Last, as the
            // host's waker is foreign code.
            self.shared.inbox.wake_parked_host();
        }
    }

    pub(super) fn count_constrained(&self, before: bool, after: bool) {
        let others = self.aside.constrained.get() - usize::from(before);
        self.aside.constrained.set(others + usize::from(after));
    }

    /// Gives a constrained queue's share and request on to where it shares with others of its kind.
    #[cold]
    pub(super) fn reshare_constrained(&self, queue: &RunQueue) {
        if queue.constraints.is_nested() {
            self.reshare_nested(queue);
        }
        if let Some(id) = queue.constraints.idle() {
            self.aside.idle.set_share(id, queue.share.get(), queue.request_ns.get());
        }
    }

    /// Forgets a constrained queue that is removed.
    #[cold]
    pub(super) fn forget_constrained(&self, queue: &RunQueue) {
        self.leave_place(queue);
        if queue.constraints.is_nested() {
            self.forget_nested(queue);
        }
        if let Some(id) = queue.constraints.idle() {
            self.aside.idle.remove(id);
        }
        self.count_constrained(true, false);
        self.note_constraints();
    }

    /// Notes whether the clock is to be read after each poll, which it is while a constrained queue runs or one is throttled,
    /// and how long the slice under way may last now.
    pub(super) fn note_constraints(&self) {
        let running = self.slice.running().and_then(|id| self.queue_at(id.index() as u32));
        let strict = running.is_some_and(|queue| queue.constraints.are_strict());
        self.queues.be_strict(strict || !self.aside.throttled.is_empty());
        let contended = self.queues.note_runnable(&self.queues.eevdf.borrow());
        if contended { self.shorten_grant() } else { self.grant_rest() }
    }
}

// ---- Where a constrained queue stands

impl Core {
    /// Has a constrained queue stand where it belongs, as it has work now.
    #[cold]
    pub(super) fn take_place<'a>(&'a self, queue: &RunQueue, eevdf: RefMut<'a, Eevdf>) -> RefMut<'a, Eevdf> {
        drop(eevdf);
        queue.constraints.with_budget(|budget| budget.begin_work(self.meter.look()));
        self.enter_place(queue);
        self.queues.eevdf.borrow_mut()
    }

    /// Moves a constrained queue that has work to where it belongs.
    fn settle_place(&self, queue: &RunQueue) {
        match queue.constraints.place() {
            // Its time has come, or it is put there anew.
            Place::Throttled => self.leave_place(queue),
            _ => drop(queue.constraints.with_budget(|budget| budget.advance(self.meter.look()))),
        }
        if queue.constraints.place() != place_of(queue) {
            self.leave_place(queue);
            self.enter_place(queue);
        }
    }

    fn enter_place(&self, queue: &RunQueue) {
        let place = place_of(queue);
        match (place, queue.constraints.idle()) {
            (Place::Throttled, _) => {
                let now = self.meter.look();
                let release = queue.constraints.with_budget(|budget| budget.throttle(now));
                self.aside.throttled.add(release.unwrap_or(now), queue.key.index);
                self.queues.be_strict(true);
            }
            (Place::Idle, Some(id)) => self.aside.idle.wake(id),
            _ => self.share_thread(queue),
        }
        queue.constraints.stand(place);
    }

    /// Takes a constrained queue away from where it stands.
    fn leave_place(&self, queue: &RunQueue) {
        match (queue.constraints.place(), queue.constraints.idle()) {
            (Place::Asleep, _) => {}
            (Place::Throttled, _) => {
                let now = self.meter.look();
                let release = queue.constraints.with_budget(|budget| budget.end_throttle(now)).flatten();
                self.aside.throttled.remove(release.unwrap_or(now), queue.key.index);
            }
            (Place::Idle, Some(id)) => self.aside.idle.sleep(id),
            _ => self.leave_thread(queue),
        }
        queue.constraints.stand(Place::Asleep);
    }

    /// Has a constrained queue sleep, as it has no work any more.
    #[cold]
    pub(super) fn give_up_place(&self, queue: &RunQueue) {
        self.leave_place(queue);
        queue.constraints.with_budget(|budget| budget.end_work());
    }

    /// Brings a queue with futures to drop to where they are dropped soon.
    #[cold]
    pub(super) fn hasten_constrained(&self, queue: &RunQueue) {
        if self.slice.running() != Some(queue.id) {
            self.charge_up_to_now();
            self.settle_place(queue);
            self.note_constraints();
        }
        if queue.constraints.is_nested() {
            self.hasten_nested(queue);
        }
    }
}

/// Where a constrained queue with work belongs. It drops the futures of its aborted tasks among the others, as nothing else
/// would bound how long that takes: also if it is idle, or throttled, whose cap pays for the drops.
fn place_of(queue: &RunQueue) -> Place {
    match () {
        () if queue.has_aborted() => Place::Thread,
        () if queue.constraints.is_spent() => Place::Throttled,
        () if queue.constraints.idle().is_some() => Place::Idle,
        () => Place::Thread,
    }
}

/// The id among the idle queues of a queue that stands there.
fn idle_place(queue: &RunQueue) -> Option<QueueId> {
    let stands_there = queue.is_constrained() && queue.constraints.place() == Place::Idle;
    queue.constraints.idle().filter(|_| stands_there)
}

// ---- Slices

impl Core {
    /// Picks the queue to serve next where some are constrained: throttled ones whose time has come go on, and idle ones come
    /// after all others.
    #[cold]
    #[inline(never)]
    pub(super) fn pick_among_all(&self) -> Option<Rc<RunQueue>> {
        while let Some(index) = self.aside.throttled.due(self.meter.now()) {
            match self.queue_at(index) {
                Some(queue) => self.settle_place(&queue),
                None => unreachable!("a queue that is removed is no longer throttled"),
            }
        }
        let picked = self.aside.nested.borrow_mut().pick(&mut self.queues.eevdf.borrow_mut());
        let picked = picked.map(|id| id.index() as u32);
        let queue = self.queue_at(picked.or_else(|| self.aside.idle.pick())?)?;
        self.queues.be_strict(queue.constraints.are_strict() || !self.aside.throttled.is_empty());
        self.queues.note_runnable(&self.queues.eevdf.borrow());
        self.grant_strictly(&queue);
        Some(queue)
    }

    /// Grants a queue what is left of its request and of its cap, but not more than until a throttled queue goes on.
    pub(super) fn grant_strictly(&self, queue: &RunQueue) {
        let left_ns = match idle_place(queue) {
            Some(id) => self.aside.idle.left_ns(id),
            None => self.aside.nested.borrow().left_ns(&self.queues.eevdf.borrow(), queue.id),
        };
        let budget = queue.constraints.budget().filter(|_| !self.only_drops(queue));
        let left_of_cap = budget.map_or(u64::MAX, |budget| budget.left_ns());
        self.grant_until(left_ns.min(left_of_cap), self.aside.throttled.next());
    }

    /// Charges a constrained queue.
    #[cold]
    pub(super) fn charge_constrained(&self, queue: &RunQueue, service_ns: u64) {
        let now = self.meter.now();
        queue.constraints.with_budget(|budget| budget.charge(service_ns, now));
        match idle_place(queue) {
            Some(id) => self.aside.idle.charge(id, service_ns),
            None => self.charge_way_up(queue, service_ns),
        }
    }

    /// Settles where a constrained queue stands after its slice.
    #[cold]
    #[inline(never)]
    pub(super) fn after_constrained_slice(&self, queue: &RunQueue) {
        if queue.has_work() {
            self.settle_place(queue);
        } else {
            queue.runnable.set(false);
            self.give_up_place(queue);
            if self.queues.eevdf.borrow().runnable() > 0 || self.aside.has_idle_work() {
                self.pacer.queue_drained();
            }
        }
        self.note_constraints();
    }

    /// Whether a queue is to be served before one that is running, where either is idle or nested.
    #[cold]
    pub(super) fn preempts_aside(&self, queue: &RunQueue, running: QueueId) -> bool {
        let Some(running) = self.queue_at(running.index() as u32) else { return false };
        match (idle_place(&running), idle_place(queue)) {
            (None, None) => self.preempts_nested(queue, &running),
            (None, _) => false,
            (Some(running), Some(id)) => self.aside.idle.preempts(id, running),
            (Some(_), None) => !queue.is_constrained() || queue.constraints.place() == Place::Thread,
        }
    }

    /// Whether a slice that lasted until after what it was granted has kept others waiting: not if it was to end as a throttled
    /// queue goes on, nor where no other queue has work.
    #[cold]
    pub(super) fn has_overrun(&self, queue: &RunQueue) -> bool {
        let runnable = self.queues.eevdf.borrow().runnable();
        let others = match idle_place(queue) {
            Some(_) => runnable > 0 || self.aside.idle.runnable() > 1,
            None => runnable > 1 || self.aside.nested.borrow().are_contended(),
        };
        others && self.slice.deadline() != self.aside.throttled.next()
    }

    /// Whether the queue runs among the others to drop futures only.
    pub(super) fn only_drops(&self, queue: &RunQueue) -> bool {
        let is_aside = queue.constraints.idle().is_some() || queue.constraints.is_spent();
        is_aside && queue.constraints.place() == Place::Thread
    }
}
