//! Queues without work that still count: they are often the next to wake up. And the end of a busy period.

use super::entry::{State, most_credit};
use super::{Eevdf, QueueId};

impl Eevdf {
    /// Makes a runnable queue sleep, but not at once: so long as it is *drained* it counts as before, and one that wakes up has not
    /// been away. It falls [asleep](Eevdf::sleep) when another has had a request served, when no queue with work is eligible, or when
    /// another wakes up that was asleep, or is given another share.
    #[inline]
    pub fn drain(&mut self, id: QueueId) {
        if self.state(id) != State::Runnable {
            return;
        }
        self.stop(id);
        let entry = &mut self.entries[id.index()];
        if !entry.is_listed {
            entry.is_listed = true;
            self.drained.push(id.index);
        }
        if self.runnable == 0 {
            self.end_busy_period(id.index);
        }
    }

    /// Notes that a runnable queue has no work.
    #[inline]
    pub(super) fn stop(&mut self, id: QueueId) {
        let entry = &mut self.entries[id.index()];
        entry.state = State::Drained;
        self.furthest = self.furthest.max(entry.v);
        self.runnable -= 1;
    }

    /// Nothing is runnable any more: all is forgiven. The queue that was drained last keeps its seat and its part of the sums, which do
    /// not show, as V goes on to its v at least.
    fn end_busy_period(&mut self, last: u32) {
        self.clock.rest(self.furthest);
        self.busy_period += 1;
        self.longest_turn_ns = 0;
        if self.drained.len() > 1 {
            self.drained.retain(|&index| index != last);
            self.settle_all();
            self.drained.push(last);
        }
    }

    /// Wakes a queue that is drained: it goes on where it was.
    #[inline]
    pub(super) fn resume(&mut self, id: QueueId) {
        let entry = &mut self.entries[id.index()];
        entry.state = State::Runnable;
        self.runnable += 1;
        self.give_key();
        self.woken_last = id.index;
        let entry = &mut self.entries[id.index()];
        if !entry.is_seated() {
            let is_eligible = self.clock.has_reached(entry.v);
            self.order.enter(id, entry, is_eligible);
        }
    }

    /// Wakes the queue that was drained last, where nothing is runnable: at V, as nothing is owed to it and it is not ahead.
    pub(super) fn resume_alone(&mut self, id: QueueId) {
        let entry = &mut self.entries[id.index()];
        let now = self.clock.reached();
        if now > entry.v {
            self.clock.advance(entry.w(), now - entry.v);
            entry.v = now;
        }
        entry.state = State::Runnable;
        entry.start_request();
        entry.is_listed = false;
        self.drained.clear();
        (self.runnable, self.woken_last, self.woken_alone) = (1, id.index, true);
    }

    /// Gives the queue that woke up alone its seat and its key, as others are to be compared with it.
    #[inline]
    pub(super) fn give_key(&mut self) {
        if std::mem::take(&mut self.woken_alone) {
            self.seat_the_last();
        }
    }

    #[cold]
    fn seat_the_last(&mut self) {
        let id = self.id_at(self.woken_last);
        let entry = &mut self.entries[id.index()];
        if entry.counts() {
            self.order.leave(id.index, &mut self.entries);
            let entry = &mut self.entries[id.index()];
            let is_eligible = self.clock.has_reached(entry.v);
            self.order.enter(id, entry, is_eligible);
        }
    }

    /// Has the queues that are drained fall asleep.
    #[inline]
    pub(super) fn settle(&mut self) {
        if !self.drained.is_empty() {
            self.settle_all();
        }
    }

    #[cold]
    fn settle_all(&mut self) {
        let mut drained = std::mem::take(&mut self.drained);
        drained.drain(..).for_each(|index| self.unlist(index));
        self.drained = drained;
    }

    /// Has a queue that was listed fall asleep, if it is still drained.
    fn unlist(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.is_listed = false;
        if entry.state == State::Drained {
            self.fall_asleep(index);
        }
    }

    /// Makes a drained queue sleep, with what it may keep of what it is owed: nothing where no queue is runnable.
    pub(super) fn fall_asleep(&mut self, index: u32) {
        let now = self.clock.note();
        let entry = &mut self.entries[index as usize];
        if self.runnable > 0 {
            let most = most_credit(entry.request_ns, self.longest_turn_ns) - self.clock.reserved();
            let credit = entry.keep_credit(now, most.max(0), self.busy_period);
            self.clock.reserve(credit);
        }
        self.leave(index);
    }

    /// Counts out a drained queue, once V was noted.
    pub(super) fn leave(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.state = State::Asleep;
        self.clock.leave(entry.share.get(), entry.v);
        self.order.leave(index, &mut self.entries);
    }
}
