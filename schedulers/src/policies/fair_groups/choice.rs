//! The choice between groups: whose turn it is, where groups are placed, what they are charged.

use super::place::Place;
use super::turn::Turn;
use super::{FairGroups, KEPT};
use crate::{Share, TaskId};

impl FairGroups {
    /// V.
    #[inline]
    pub(super) fn virtual_time(&self) -> u128 {
        self.virtual_time.max(self.turn.virtual_time())
    }

    #[inline]
    pub(super) fn place_mut(&mut self, index: u32) -> &mut Place {
        let at = index as usize;
        if at >= self.places.len() {
            self.grow(at);
        }
        &mut self.places[at]
    }

    #[cold]
    pub(super) fn grow(&mut self, at: usize) {
        self.places.resize(at + 1, Place::EMPTY);
    }

    /// Has a group wait that has become ready: at V, but not before the point where it was.
    pub(super) fn wait(&mut self, index: u32) {
        let now = self.virtual_time();
        let place = self.place_mut(index);
        if place.key.is_none() && place.weight != Share::MIN {
            place.reweigh(Share::MIN, now); // a group with attributes had the index before
        }
        place.v = place.v.max(now);
        let v = place.v;
        self.waiting.put(v, index);
    }

    /// Ends the turn under way, and charges its group.
    pub(super) fn end_turn(&mut self) {
        let now = self.virtual_time();
        let spent_ns = self.turn.end();
        self.virtual_time = now;
        if let Some(index) = self.turn.group()
            && spent_ns > 0
        {
            self.charge(index, spent_ns);
        }
    }

    pub(super) fn charge(&mut self, index: u32, service_ns: u64) {
        let now = self.virtual_time;
        let place = self.place_mut(index);
        place.charge(service_ns);
        let (v, owed_ns) = (place.v, place.owes_ns(now));
        self.furthest = self.furthest.max(v);
        self.most_owed_ns = self.most_owed_ns.max(owed_ns);
    }

    /// Takes the turn from `index`, if it has it: the group waits like others.
    pub(super) fn leave_turn(&mut self, index: u32) {
        if !self.turn.is_of(index) {
            return;
        }
        self.end_turn();
        self.turn = Turn::OPEN;
        if !self.place_mut(index).tasks.is_empty() {
            self.wait(index);
        }
    }

    /// Ends the turn under way, and gives the next one.
    pub(super) fn next_turn(&mut self) -> Option<u32> {
        self.end_turn();
        let had =
            self.turn.group().and_then(|index| self.places.get(index as usize).map(|place| (index, place)));
        let next = match had {
            // It stays where no other has a v as small.
            Some((index, place)) if !place.tasks.is_empty() => match self.waiting.least() {
                Some(least) if least <= place.v => self.waiting.put_and_pop(place.v, index),
                _ => index,
            },
            _ => self.waiting.pop()?,
        };
        let start = self.places.get(next as usize)?.v;
        self.turn = Turn::new(next, start, self.quantum_ns);
        Some(next)
    }

    /// Takes the first task of a group.
    #[inline]
    pub(super) fn take(&mut self, index: u32) -> Option<TaskId> {
        let place = self.places.get_mut(index as usize)?;
        self.tasks.pop_front(&mut place.tasks)
    }

    /// Nothing is ready, so no group is kept from its due, and nothing is owed. (A `pop` that gives nothing does not say as much:
    /// an executor may take all tasks out and push them again.)
    pub(super) fn forgive(&mut self) {
        self.end_turn();
        self.turn = Turn::OPEN;
        self.virtual_time = self.virtual_time.max(self.furthest);
        self.debts.clear();
    }

    /// Pops from the group whose turn is next.
    pub(super) fn pop_next(&mut self) -> Option<TaskId> {
        let Some(next) = self.next_turn() else {
            self.turn = Turn::OPEN;
            return None;
        };
        self.take(next)
    }

    /// Changes the weight of a group that may wait. What it owes stays.
    pub(super) fn reweigh(&mut self, index: u32, weight: Share) {
        let now = self.virtual_time();
        self.greatest_weight = self.greatest_weight.max(weight);
        let place = self.place_mut(index);
        place.reweigh(weight, now);
        self.replace(index);
    }

    /// Moves a group that waits to where its virtual runtime has come.
    pub(super) fn replace(&mut self, index: u32) {
        let v = self.place_mut(index).v;
        self.furthest = self.furthest.max(v);
        if self.waiting.contains(index) {
            self.waiting.put(v, index);
        }
    }

    /// Service of a group that has no turn: the future of an aborted task was dropped.
    #[cold]
    pub(super) fn served_outside(&mut self, index: u32, service_ns: u64) {
        let now = self.virtual_time();
        self.virtual_time = now;
        let place = self.place_mut(index);
        place.v = place.v.max(now);
        self.charge(index, service_ns);
        self.replace(index);
    }

    /// Gives the memory of places back behind the last open group. No group owes anything.
    pub(super) fn forget_places(&mut self) {
        let open = self.places.iter().rposition(|place| place.key.is_some()).map_or(0, |last| last + 1);
        self.places.truncate(open);
        self.places.shrink_to(KEPT);
    }
}
