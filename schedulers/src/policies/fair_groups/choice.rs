//! The choice between groups: whose turn it is, where groups are placed, what they are charged.

use super::debts::Debt;
use super::place::{Place, burst};
use super::turn::Turn;
use super::{FairGroups, GRACE_NS};
use crate::parts::KEPT;
use crate::parts::by_index;
use crate::{GroupId, Share, TaskId};

impl FairGroups {
    /// V.
    #[inline]
    pub(super) fn virtual_time(&self) -> u128 {
        self.virtual_time.max(self.turn.virtual_time())
    }

    /// A group that owes no more stands at V. Nanoseconds.
    #[inline]
    pub(super) fn grace_ns(&self) -> u64 {
        GRACE_NS.min(self.quantum_ns.saturating_sub(1))
    }

    /// Has a group wait that has ready tasks.
    #[cold]
    pub(super) fn wait(&mut self, index: u32) {
        let (now, grace_ns) = (self.virtual_time(), self.grace_ns());
        let stands_at = self.places.of_mut(index).come(now, grace_ns, self.burst_ns);
        self.waiting.put(stands_at, index);
    }

    /// Ends the turn under way, and charges its group.
    #[inline(always)] // a call takes 25 instructions
    pub(super) fn end_turn(&mut self) {
        let start = self.turn.virtual_time();
        let spent_ns = self.turn.end();
        if spent_ns == 0 {
            return; // and V is where it was
        }
        self.virtual_time = self.virtual_time.max(start);
        if let Some(index) = self.turn.group() {
            self.charge(index, spent_ns);
        }
    }

    #[inline]
    fn charge(&mut self, index: u32, service_ns: u64) {
        let place = self.places.of_mut(index);
        place.charge(service_ns);
        self.furthest = self.furthest.max(place.v);
    }

    /// Takes the turn from the group that has it, which waits like others.
    #[inline]
    pub(super) fn leave_turn(&mut self, index: u32) {
        self.end_turn();
        self.turn.leave();
        if self.places.get(index).is_some_and(|place| !place.tasks.is_empty()) {
            self.wait(index);
        }
    }

    /// Ends the turn under way, gives the next one, and pops from the group that has it.
    #[inline]
    fn next_turn(&mut self) -> Option<TaskId> {
        self.end_turn();
        let next = match self.turn.group() {
            Some(index) => self.next_after(index)?,
            None => self.waiting.pop()?,
        };
        let (now, grace_ns) = (self.virtual_time, self.grace_ns());
        let place = self.places.get_mut(next)?;
        self.turn = match place.owes_at_most(grace_ns, now) {
            Some(owes_ns) => Turn::new(next, now, self.quantum_ns - owes_ns),
            None => Turn::new(next, place.v, self.quantum_ns),
        };
        self.tasks.pop_front(&mut place.tasks)
    }

    /// The group that is served after `index`, which had the turn.
    #[inline]
    fn next_after(&mut self, index: u32) -> Option<u32> {
        match self.places.get(index) {
            // It stays where no other stands as far in front.
            Some(place) if !place.tasks.is_empty() => {
                let stands_at = place.stands_at(self.virtual_time);
                match self.waiting.least() {
                    Some(least) if least <= stands_at => Some(self.waiting.put_and_pop(stands_at, index)),
                    _ => Some(index),
                }
            }
            _ => self.waiting.pop(),
        }
    }

    /// Takes the first task of a group.
    #[inline]
    pub(super) fn take(&mut self, index: u32) -> Option<TaskId> {
        let place = self.places.get_mut(index)?;
        self.tasks.pop_front(&mut place.tasks)
    }

    /// Nothing is ready, so no group is kept from its due, and nothing is owed. (A `pop` that gives nothing does not say as much:
    /// an executor may take all tasks out and push them again.) All have their burst again.
    pub(super) fn forgive(&mut self) {
        self.end_turn();
        self.turn = Turn::OPEN;
        self.virtual_time =
            self.virtual_time.max(self.furthest).saturating_add(burst(self.burst_ns, Share::MIN));
        self.debts.clear();
    }

    /// Pops from the group whose turn is next.
    pub(super) fn pop_next(&mut self) -> Option<TaskId> {
        let next = self.next_turn();
        if next.is_none() {
            self.turn = Turn::OPEN;
        }
        next
    }

    /// Changes the weight of a group that may wait. What it owes stays.
    pub(super) fn reweigh(&mut self, index: u32, weight: Share) {
        let now = self.virtual_time();
        let place = self.places.of_mut(index);
        place.reweigh(weight, now);
        self.replace(index);
    }

    /// Moves a group that waits to where its virtual runtime has come.
    pub(super) fn replace(&mut self, index: u32) {
        let now = self.virtual_time();
        let place = self.places.of_mut(index);
        self.furthest = self.furthest.max(place.v);
        if self.waiting.contains(index) {
            self.waiting.put(place.stands_at(now), index);
        }
    }

    /// Remembers under which key a group was opened.
    pub(super) fn remember_key(&mut self, group: GroupId, key: u64) {
        if group.index() >= self.keys.len() {
            by_index::grow(&mut self.keys, group.index(), || 0);
        }
        self.keys[group.index()] = key;
    }

    /// Remembers what a group owes that was opened and closes.
    pub(super) fn remember_debt(&mut self, index: u32) {
        let now = self.virtual_time();
        let &mut Place { v, weight, .. } = self.places.of_mut(index);
        if v > now
            && let Some(&key) = self.keys.get(index as usize)
        {
            self.debts.put(key, Debt { v, weight }, now);
        }
    }

    /// Service of a group that has no turn: the future of an aborted task was dropped.
    #[cold]
    pub(super) fn served_outside(&mut self, index: u32, service_ns: u64) {
        let now = self.virtual_time();
        self.virtual_time = now;
        let place = self.places.of_mut(index);
        place.rest(now, self.burst_ns);
        self.charge(index, service_ns);
        self.replace(index);
    }

    /// Gives memory back. No group owes anything.
    pub(super) fn give_back(&mut self) {
        let burst = if self.places.capacity() > KEPT { self.places.len() } else { 0 };
        let kept = KEPT.max(burst.min(core::mem::replace(&mut self.last_burst, burst)));
        self.tasks.shrink_to(kept);
        self.waiting.shrink_to(kept);
        if burst > 0 {
            self.places.forget(kept);
            self.keys.truncate(self.places.len());
            self.keys.shrink_to(kept);
        }
    }
}
