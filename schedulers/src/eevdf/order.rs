//! The order among the runnable queues: who is eligible by virtual deadline, and the others by virtual runtime.

use super::QueueId;
use super::entry::{Entry, NO_SEAT};
use super::tournament::Tournament;

/// [`Order::compact`] runs when fewer than one seat in so many is occupied, and there are more than a few.
pub(super) const SPARSE: usize = 4;

/// The runnable queues, and some that are drained, each on a seat of its own in one of two tournaments.
#[derive(Clone, Default)]
pub(super) struct Order {
    /// By virtual deadline: queues that were eligible when they were put here. One that was charged since may not be.
    pub(super) eligible: Tournament,
    /// By v, as it was when they were put here: the others.
    pub(super) waiting: Tournament,
    /// How many are in either.
    seated: usize,
    /// The seats in use, in both: those of the queues, and `free_seats`.
    seats: usize,
    free_seats: Vec<u32>,
}

impl Order {
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

    /// Seats a queue.
    pub(super) fn enter(&mut self, id: QueueId, entry: &mut Entry, is_eligible: bool) {
        let seat = self.take_seat();
        entry.seat = seat as u32;
        self.seated += 1;
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

    /// Frees the seat of a queue, if it has one.
    pub(super) fn leave(&mut self, index: u32, entries: &mut [Entry]) {
        let entry = &mut entries[index as usize];
        if !entry.is_seated() {
            return;
        }
        self.lift(entry);
        self.free_seats.push(entry.seat);
        entry.seat = NO_SEAT;
        self.seated -= 1;
        if self.seats > SPARSE * self.seated.max(SPARSE) {
            self.compact(entries);
        }
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
