//! Finds out which tasks yield by the host's own means, such as tokio's `yield_now`.

/// Counts how many of a task's last polls in a row the host's next visit answered with a wake, and keeps the turn of the last
/// poll. One byte.
///
/// tokio's own `yield_now` has the host wake the task once the host has seen to its I/O. Only its time tells such a wake from
/// a socket's: it always comes with the very next visit after the poll. Under load a socket's wake does so half of the time,
/// and a connection that is taken for a yielding task waits for many polls of others. So a task yields after [`MANY`] such
/// wakes in a row, of polls that are not [short](SHORT_NS): a task whose polls are short does not hold others up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deferrals(u8);

const TURN_BITS: u32 = 5;
const TURN: u8 = (1 << TURN_BITS) - 1;

/// Wakes of this kind in a row after which the next ones are yields. The most that the count holds.
const MANY: u8 = u8::MAX >> TURN_BITS;

/// A poll that takes less is short. Nanoseconds.
const SHORT_NS: u64 = 16_000;

impl Deferrals {
    /// Notes a poll in `turn` that returned `Pending`. It took `took_ns` nanoseconds, or 0 if that was not measured.
    #[inline]
    pub(super) fn polled(self, turn: u8, took_ns: u64) -> Self {
        let is_short = (1..SHORT_NS).contains(&took_ns);
        let in_a_row = if is_short { 0 } else { self.0 & !TURN };
        Self(in_a_row | turn & TURN)
    }

    /// Notes a wake by the host's visit before `turn`. True if the wake is a yield.
    ///
    /// Turns are compared modulo 32: one in 32 other wakes is counted too, which breaks no row and begins a short one.
    #[inline]
    pub(super) fn woken_by_visit(self, turn: u8) -> (Self, bool) {
        let in_a_row = self.0 >> TURN_BITS;
        if self.0 & TURN != turn.wrapping_sub(1) & TURN {
            return (self.woken(), false);
        }
        let next = (in_a_row + 1).min(MANY);
        (Self(self.0 & TURN | next << TURN_BITS), in_a_row >= MANY)
    }

    /// Notes a wake of any other kind.
    #[inline]
    pub(super) fn woken(self) -> Self {
        Self(self.0 & TURN)
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    /// Which wakes are yields, of a task whose polls take `took_ns` and that each next visit wakes.
    fn yields(took_ns: u64) -> Vec<bool> {
        let mut deferrals = Deferrals::default();
        let mut seen = Vec::new();
        for turn in 30..=u8::MAX {
            let (next, yields) = deferrals.polled(turn, took_ns).woken_by_visit(turn.wrapping_add(1));
            deferrals = next;
            seen.push(yields);
        }
        seen
    }

    #[test]
    fn a_task_that_each_next_visit_wakes_yields_from_the_eighth_time_on() {
        for took_ns in [0, SHORT_NS, 1_000_000] {
            let seen = yields(took_ns);
            assert!(seen[..7].iter().all(|&yields| !yields) && seen[7..].iter().all(|&yields| yields));
        }
    }

    #[test]
    fn a_task_whose_polls_are_short_does_not_yield() {
        assert!(yields(1).into_iter().chain(yields(SHORT_NS - 1)).all(|yields| !yields));
    }

    #[test]
    fn one_other_wake_or_a_short_poll_begins_the_count_anew() {
        let yielder = (0..40).fold(Deferrals::default(), |deferrals, turn| {
            deferrals.polled(turn, 0).woken_by_visit(turn + 1).0
        });
        assert!(yielder.polled(8, 0).woken_by_visit(9).1);
        assert!(!yielder.polled(8, 0).woken_by_visit(10).1, "it waited for longer than a visit");
        let after = yielder.polled(8, 0).woken_by_visit(10).0;
        assert!(!after.polled(10, 0).woken_by_visit(11).1);
        assert!(!yielder.woken().polled(8, 0).woken_by_visit(9).1, "something else woke it before");
        assert!(!yielder.polled(8, 15_999).woken_by_visit(9).1, "it had little to do");
    }
}
