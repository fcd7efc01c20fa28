//! The end of a busy period, and the queue that rests: the only runnable one, which fell asleep and is often the next to wake.

use super::entry::State;
use super::{Eevdf, QueueId};

impl Eevdf {
    /// Nothing is runnable any more: all is forgiven.
    pub(super) fn end_busy_period(&mut self) {
        self.clock.rest(self.furthest);
        self.busy_period += 1;
        self.longest_turn_ns = 0;
    }

    /// Makes the only runnable queue sleep. As [`leave`](Self::leave), but for what [`end_rest`](Self::end_rest) does: V goes on
    /// to v at least, so the queue's part of the sums does not show.
    pub(super) fn rest(&mut self, id: QueueId) {
        let entry = &mut self.entries[id.index()];
        entry.state = State::Asleep;
        self.furthest = self.furthest.max(entry.v);
        self.end_busy_period();
        self.resting = Some(id);
    }

    /// Wakes the queue that rests: at V, as nothing is owed to it and it is not ahead.
    pub(super) fn resume(&mut self, id: QueueId) {
        self.resting = None;
        let entry = &mut self.entries[id.index()];
        let now = self.clock.reached();
        if now > entry.v {
            self.clock.advance(entry.w(), now - entry.v);
            entry.v = now;
        }
        entry.state = State::Runnable;
        entry.start_request();
        if !self.order.eligible.is_taken(entry.seat()) {
            self.order.lift(entry);
        }
        self.order.put(id, entry, true);
    }

    /// Counts out the queue that rests, if one does.
    pub(super) fn end_rest(&mut self) {
        if let Some(id) = self.resting.take() {
            let entry = &self.entries[id.index()];
            self.clock.leave(entry.share.get(), entry.v);
            self.order.leave(id, &mut self.entries);
        }
    }
}
