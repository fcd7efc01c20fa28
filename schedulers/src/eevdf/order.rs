//! The order among the runnable queues: who is eligible by virtual deadline, and the others by virtual runtime.

use super::QueueId;
use super::entry::Entry;
use crate::parts::tournament::Tournament;

/// [`Order::compact`] runs when fewer than one seat in so many is occupied, and there are more than a few.
pub(super) const SPARSE: usize = 4;

/// The runnable queues, and the one that rests, each on a seat of its own in one of two tournaments.
#[derive(Clone, Default)]
pub(super) struct Order {
    /// By virtual deadline: queues that were eligible when they were put here. One that was charged since may not be.
    pub(super) eligible: Tournament,
    /// By v, as it was when they were put here: the others.
    pub(super) waiting: Tournament,
    /// How many are in either.
    runnable: usize,
    /// The seats in use, in both: those of the runnable queues, and `free_seats`.
    seats: usize,
    free_seats: Vec<u32>,
}

impl Order {
    /// How many queues are runnable.
    #[inline]
    pub(super) fn runnable(&self) -> usize {
        self.runnable
    }

    /// The seats in use.
    #[cfg(test)]
    pub(super) fn seats(&self) -> usize {
        self.seats
    }

    /// Reserves so many seats, so that no wake or sleep allocates.
    pub(super) fn reserve(&mut self, seats: usize) {
        self.eligible.reserve(seats);
        self.waiting.reserve(seats);
        self.free_seats.reserve(seats - self.free_seats.len());
    }

    /// Seats a queue that became runnable.
    pub(super) fn enter(&mut self, id: QueueId, entry: &mut Entry, is_eligible: bool) {
        let seat = self.take_seat();
        entry.seat = seat as u32;
        self.runnable += 1;
        self.put(id, entry, is_eligible);
    }

    /// Puts a seated queue under its key, in the tournament it belongs to.
    #[inline]
    pub(super) fn put(&mut self, id: QueueId, entry: &Entry, is_eligible: bool) {
        if is_eligible {
            self.eligible.put(entry.seat(), entry.deadline, id.index);
        } else {
            self.waiting.put(entry.seat(), entry.v, id.index);
        }
    }

    /// Takes a seated queue out of its tournament. It keeps its seat.
    pub(super) fn lift(&mut self, entry: &Entry) {
        let seat = entry.seat();
        let tournament = if self.eligible.is_taken(seat) { &mut self.eligible } else { &mut self.waiting };
        tournament.clear(seat);
    }

    /// Frees the seat of a queue that is not runnable any more.
    pub(super) fn leave(&mut self, id: QueueId, entries: &mut [Entry]) {
        let entry = &entries[id.index()];
        self.lift(entry);
        self.free_seats.push(entry.seat);
        self.runnable -= 1;
        if self.seats > SPARSE * self.runnable.max(SPARSE) {
            self.compact(entries);
        }
    }

    /// The index of the one that may be picked while only one queue is runnable.
    #[inline]
    pub(super) fn only(&self) -> Option<u32> {
        let (_, index) = self.eligible.peek().or_else(|| self.waiting.peek())?;
        Some(index)
    }

    fn take_seat(&mut self) -> usize {
        if let Some(seat) = self.free_seats.pop() {
            return seat as usize;
        }
        self.seats += 1;
        self.eligible.resize(self.seats);
        self.waiting.resize(self.seats);
        self.seats - 1
    }

    /// Moves all queues to the first seats. So many have left since the last time that it is nothing for each.
    #[cold]
    fn compact(&mut self, entries: &mut [Entry]) {
        let mut seats = 0;
        for seat in 0..self.seats {
            for tournament in [&mut self.eligible, &mut self.waiting] {
                if let Some(id) = tournament.shift(seat, seats) {
                    entries[id as usize].seat = seats as u32;
                    seats += 1;
                }
            }
        }
        self.seats = seats;
        self.free_seats.clear();
        self.eligible.resize(seats);
        self.waiting.resize(seats);
    }

    /// Gives all queues their keys anew.
    pub(super) fn rekey(&mut self, entries: &[Entry]) {
        self.eligible.rekey(|id| entries[id as usize].deadline);
        self.waiting.rekey(|id| entries[id as usize].v);
    }
}
