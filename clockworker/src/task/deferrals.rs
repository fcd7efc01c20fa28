//! Which tasks yield by the host's means.

/// How many of a task's last polls the host's next visit answered with a wake, in a row; and the turn of the last poll. A
/// byte.
///
/// tokio's own `yield_now` has the task woken by the host, once the host has seen to its I/O. Nothing tells such a wake from
/// that of a socket, except that it always comes with the very first visit after the poll. A request seldom does, if visits
/// are frequent; a few in a row do by chance only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deferrals(u8);

/// So many in a row, and the next wakes of that kind count as yields.
const MANY: u8 = 3;

const TURN_BITS: u32 = 5;
const TURN: u8 = (1 << TURN_BITS) - 1;
const MOST: u8 = u8::MAX >> TURN_BITS;

impl Deferrals {
    /// The task was polled in this turn, and waits.
    #[inline]
    pub(super) fn polled(self, turn: u8) -> Self {
        Self(self.0 & !TURN | turn & TURN)
    }

    /// The task was woken by the host's visit before this turn; whether that is a yield.
    ///
    /// Turns are told apart modulo 32: one wake in 32 of others is counted, which ends nothing and begins little.
    #[inline]
    pub(super) fn woken_by_visit(self, turn: u8) -> (Self, bool) {
        let in_a_row = self.0 >> TURN_BITS;
        if self.0 & TURN != turn.wrapping_sub(1) & TURN {
            return (self.woken(), false);
        }
        let next = (in_a_row + 1).min(MOST);
        (Self(self.0 & TURN | next << TURN_BITS), in_a_row >= MANY)
    }

    /// The task was woken in some other way.
    #[inline]
    pub(super) fn woken(self) -> Self {
        Self(self.0 & TURN)
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_each_next_visit_wakes_yields_from_the_fourth_time_on() {
        let mut deferrals = Deferrals::default();
        let mut seen = Vec::new();
        for turn in 30..=u8::MAX {
            deferrals = deferrals.polled(turn);
            let (next, yields) = deferrals.woken_by_visit(turn.wrapping_add(1));
            deferrals = next;
            seen.push(yields);
        }
        assert_eq!(seen[..5], [false, false, false, true, true]);
        assert!(seen[3..].iter().all(|&yields| yields));
    }

    #[test]
    fn one_other_wake_begins_the_count_anew() {
        let yielder = (0..8)
            .fold(Deferrals::default(), |deferrals, turn| deferrals.polled(turn).woken_by_visit(turn + 1).0);
        assert!(yielder.polled(8).woken_by_visit(9).1);
        assert!(!yielder.polled(8).woken_by_visit(10).1, "it waited for longer than a visit");
        let after = yielder.polled(8).woken_by_visit(10).0;
        assert!(!after.polled(10).woken_by_visit(11).1);
        assert!(!yielder.woken().polled(8).woken_by_visit(9).1, "something else woke it before");
    }
}
