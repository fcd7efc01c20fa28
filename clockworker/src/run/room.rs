//! Room: whether a queue takes one more task, and who is next where it does not.
//!
//! A spawn asks one question: whether the queue has fewer live tasks than `takes_below`. That is 0 where more is to be asked,
//! because of another limit or of waiters, and where the answer is always no; then [`Core::look_for_room`] asks the rest.
//!
//! Places become free in slices; a waiter is given one at the end of the slice, when nothing is borrowed, as waking it is
//! foreign code. Until then the places are kept for the waiters: no other spawn overtakes them.

use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker_schedulers::QueueId;

use super::Core;
use super::queue::RunQueue;
use crate::queue::{GroupIndex, Limits, Line, NO_GROUP, QueueError, Waiter, WaiterState, Waiters};
use crate::task::{Refused, Stopped};

impl RunQueue {
    /// Why it takes no more tasks of that group for now, if it is so.
    fn full(&self, group: GroupIndex) -> Option<Refused> {
        let waiters = self.waiters.borrow();
        if group != NO_GROUP && self.limits.get().live_per_group.is_some() {
            let places = self.places_in(group, self.records.borrow().live_in(group), &waiters);
            if places == 0 || waiters.any_in(Line::Group(group)) {
                return Some(Refused::GroupFull);
            }
        }
        let is_full = !self.has_place(&waiters) || waiters.any_in(Line::Queue);
        is_full.then_some(Refused::QueueFull)
    }

    /// Whether one more task may come, or one more place be reserved.
    fn has_place(&self, waiters: &Waiters) -> bool {
        self.live.get() + waiters.reserved() < self.limits.get().max_live()
    }

    /// How many more tasks may come into a group with `live` tasks, as far as the group's own limit goes.
    fn places_in(&self, group: GroupIndex, live: usize, waiters: &Waiters) -> usize {
        let taken = live + waiters.reserved_in(group);
        self.limits.get().live_per_group.map_or(usize::MAX, |most| most.saturating_sub(taken))
    }

    /// Moves waiters whose groups have places for them to the queue's line.
    fn call_up_groups(&self) {
        // If a scheduler drops a waiter, the records are borrowed. The groups stay noted until the end of the slice.
        let Ok(mut records) = self.records.try_borrow_mut() else { return };
        let mut waiters = self.waiters.borrow_mut();
        waiters.note_freed(records.take_freed_groups());
        while let Some(group) = waiters.next_freed() {
            let places = self.places_in(group, records.live_in(group), &waiters);
            if waiters.call_up(group, places) {
                records.await_place(group);
            }
        }
    }

    /// Reserves a place for the waiter that is next, if there is one.
    fn call_next(&self) -> Option<Rc<Waiter>> {
        let mut waiters = self.waiters.borrow_mut();
        if self.has_place(&waiters) { waiters.call_next() } else { None }
    }

    /// Adds a waiter to a line.
    fn enter_line(
        &self,
        line: Line,
        (group, from): (GroupIndex, Option<QueueId>),
        waker: Waker,
    ) -> Rc<Waiter> {
        if line != Line::Queue {
            self.records.borrow_mut().await_place(group);
        }
        self.waiters.borrow_mut().enter(line, (group, from), waker)
    }
}

impl Core {
    /// Whether a queue takes one more task of that group, or why not.
    #[inline]
    pub(super) fn may_spawn(&self, queue: &RunQueue, group: GroupIndex) -> Result<(), Refused> {
        if queue.live.get() < queue.takes_below.get() {
            return Ok(());
        }
        self.look_for_room(queue, group)
    }

    #[cold]
    fn look_for_room(&self, queue: &RunQueue, group: GroupIndex) -> Result<(), Refused> {
        self.look_for_room_from(queue, group, self.current_queue())
    }

    /// Whether a queue takes a task that comes `from` another queue, or whose parent is there.
    #[inline]
    pub(super) fn may_come(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        from: impl FnOnce() -> Option<Rc<RunQueue>>,
    ) -> Result<(), Refused> {
        if queue.live.get() < queue.takes_below.get() {
            return Ok(());
        }
        self.look_for_room_from(queue, group, from())
    }

    #[cold]
    fn look_for_room_from(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        from: Option<Rc<RunQueue>>,
    ) -> Result<(), Refused> {
        self.refusal(queue, from.as_deref()).or_else(|| queue.full(group)).map_or(Ok(()), Err)
    }

    /// Whether a queue takes no more tasks for good from the task that is being polled; from an outsider, if none is.
    pub(crate) fn refuses(&self, queue: &RunQueue) -> bool {
        self.refusal(queue, self.current_queue().as_deref()).is_some()
    }

    /// Why a queue takes no more tasks for good from there, if it is so.
    fn refusal(&self, queue: &RunQueue, from: Option<&RunQueue>) -> Option<Refused> {
        self.refusal_of_outsiders(queue).filter(|_| !from.is_some_and(|from| self.admits_child(queue, from)))
    }

    /// Whether a queue takes tasks from another, though from no outsider: both drain.
    fn admits_child(&self, queue: &RunQueue, from: &RunQueue) -> bool {
        let all_drain = self.ending.drains();
        if queue.removed.get() || self.ending.stopped().is_some() && !all_drain {
            return false;
        }
        queue.drains.get() && (all_drain || from.drains.get()) || all_drain && !queue.closed.get()
    }

    fn refusal_of_outsiders(&self, queue: &RunQueue) -> Option<Refused> {
        match self.ending.stopped() {
            Some(Stopped::ShutDown) => Some(Refused::ShutDown),
            Some(Stopped::Dropped) => Some(Refused::ExecutorDropped),
            None => queue.closed.get().then_some(Refused::QueueClosed),
        }
    }

    /// Counts a refused spawn.
    #[cold]
    pub(crate) fn count_refused(&self, queue: &RunQueue) {
        queue.counters.refused.add(1);
        if queue.removed.get() {
            self.queues.removed_counters.refused.add(1);
        }
    }

    /// Ready once there is a place for a task of that group, or it is refused. If there was none at first, `waiter` stands in
    /// line until [`leave_line`](Core::leave_line), which comes after the spawn.
    pub(crate) fn poll_room(
        &self,
        queue: &RunQueue,
        group: GroupIndex,
        waiter: &mut Option<Rc<Waiter>>,
        waker: &Waker,
    ) -> Poll<Result<(), Refused>> {
        let waiter = match waiter {
            Some(waiter) => {
                if matches!(waiter.state(), WaiterState::Waits(_)) {
                    waiter.register(waker);
                }
                waiter
            }
            None => match self.may_spawn(queue, group) {
                Err(full) if full.is_full() => waiter.insert(self.enter_line(queue, group, waker.clone())),
                looked => return Poll::Ready(looked),
            },
        };
        // Cloning the waker was foreign code.
        let refusal = self.refusal(queue, self.current_queue().as_deref());
        match (refusal, waiter.state()) {
            (Some(refused), _) => Poll::Ready(Err(refused)),
            (None, WaiterState::Waits(_)) => Poll::Pending,
            (None, WaiterState::Called) => Poll::Ready(Ok(())),
            // Dismissed, as no child stood in line then.
            (None, WaiterState::Gone) => Poll::Ready(Err(Refused::QueueClosed)),
        }
    }

    /// Adds a waiter to the line that it must begin with. It is called at once if there is room by now.
    fn enter_line(&self, queue: &RunQueue, group: GroupIndex, waker: Waker) -> Rc<Waiter> {
        let line = match queue.full(group) {
            Some(Refused::GroupFull) => Line::Group(group),
            _ => Line::Queue,
        };
        let from = self.current_queue().map(|from| from.id);
        let waiter = queue.enter_line(line, (group, from), waker);
        self.give_room(queue);
        waiter
    }

    /// Takes a waiter out of its line, with what is reserved for it, which goes to the next.
    pub(crate) fn leave_line(&self, queue: &RunQueue, waiter: &Waiter) {
        queue.waiters.borrow_mut().leave(waiter);
        self.give_room(queue);
        // Called by a destructor.
        waiter.forget_waker();
    }

    /// Changes a queue's limits. Waiters get the room that this makes.
    pub(crate) fn change_limits(
        &self,
        queue: &RunQueue,
        change: impl FnOnce(&mut Limits),
    ) -> Result<(), QueueError> {
        let mut limits = queue.limits.get();
        change(&mut limits);
        let limits = limits.checked()?;
        self.exists(queue)?;
        self.set_limits(queue, limits);
        Ok(())
    }

    /// Gives a queue limits that were checked.
    pub(crate) fn set_limits(&self, queue: &RunQueue, limits: Limits) {
        if queue.limits.replace(limits).live_per_group != limits.live_per_group {
            queue.waiters.borrow_mut().note_all_freed();
        }
        self.give_room(queue);
    }

    /// Reserves the free places for the waiters that are next, and wakes these.
    #[cold]
    pub(super) fn give_room(&self, queue: &RunQueue) {
        loop {
            queue.call_up_groups();
            let Some(waiter) = queue.call_next() else { break };
            // Foreign code: nothing is borrowed.
            waiter.wake();
        }
        self.note_room(queue);
    }

    /// Tells those that wait, and of whom it takes no more tasks.
    pub(super) fn dismiss_waiters(&self, queue: &RunQueue) {
        let is_refused = |from: Option<QueueId>| {
            let from = from.and_then(|from| self.queue(from));
            self.refusal(queue, from.as_deref()).is_some()
        };
        let waiting = queue.waiters.borrow_mut().dismiss(is_refused);
        self.note_room(queue);
        waiting.iter().for_each(|waiter| waiter.wake());
    }

    /// Brings up to date what spawns and slices ask of the limits and waiters.
    fn note_room(&self, queue: &RunQueue) {
        let waiters = queue.waiters.borrow();
        let limits = queue.limits.get();
        let waits = waiters.len() > 0;
        let asks_more = waits || waiters.reserved() > 0 || !limits.only_count_live();
        queue.is_awaited.set(waits);
        queue.takes_below.set(if asks_more || self.refusal_of_outsiders(queue).is_some() {
            0
        } else {
            limits.max_live()
        });
    }
}
