//! The zero point of virtual time, which is moved now and then.

use super::clock::{is_near, is_near_zero};
use super::{Eevdf, QueueId};

// # The numbers stay inside an i128
//
// Symbols as in the documentation of `Eevdf`; units of virtual time throughout; z is the zero point.
//
// - A service or request is cut to 2^60 ns (`MAX_NS`), and inverse_i · w_i ≤ 2^40, so one charge moves v_i by at most
//   2^100 and w_i·v_i by at most 2^100. Credits and requests are below 2^102 times w_i in the same way.
// - `confine` keeps |w_i·(v_i − z)| ≤ 2^101 (`REACH`). Time on one thread cannot get there: 2^64 ns is 584 years. It
//   takes a caller who charges what was not served, and is then merely treated as one who charged less.
// - There are at most 2^24 queues (`MAX_QUEUES`), hence |S| ≤ 2^125, and 2^126 with a charge in flight; W ≤ 2^44.
// - Eligibility needs (v_i − z)·W. If |v_i − z| < 2^80 (`NEAR`), this is below 2^124. Otherwise the product is checked,
//   and where it overflows it is beyond any S, so its sign decides: still exact.
// - `VirtualClock::reached` is within `NEAR` while anything is runnable, so S − reached·W is below 2^127.
// - V − z is kept below 2^79 by `rebase`, which moves z to V. At share 1 alone that is due after 2^39 ns, 9 minutes, of
//   service, so its O(n) is nothing per charge. Only a queue far from V is outside `NEAR`.

impl Eevdf {
    /// V. Zero is near it afterwards.
    pub(super) fn note_v(&mut self) -> i128 {
        let now = self.clock.note();
        if is_near_zero(now) {
            return now;
        }
        self.rebase(now);
        0
    }

    /// Moves zero, where a runnable queue is far from it because V is, or out of reach.
    #[inline]
    pub(super) fn draw_near(&mut self, id: QueueId) {
        if !is_near(self.entries[id.index()].v) {
            self.draw_near_far(id);
        }
    }

    #[cold]
    fn draw_near_far(&mut self, id: QueueId) {
        let now = self.clock.note();
        let entry = &self.entries[id.index()];
        if !is_near_zero(now) || entry.confine(entry.v) != entry.v {
            self.rebase(now);
        }
    }

    /// Moves zero to `zero`, for all queues: order and lags stay.
    fn rebase(&mut self, zero: i128) {
        self.clock.rebase(zero);
        self.furthest -= zero;
        for entry in &mut self.entries {
            entry.rebase(zero);
            if entry.counts() {
                self.clock.advance(entry.w(), entry.v);
            }
        }
        self.order.rekey(&self.entries);
    }
}
