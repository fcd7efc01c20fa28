//! Ready awaits: how many of the executor's own a poll may have, so that one that never has to wait lets others run.
//!
//! tokio's resources take part in tokio's cooperative budget, which is 128 for a poll. The executor's own awaits (join handles, sets,
//! room, drains, runs) have a count of their own, which also works without tokio: the 129th in a poll that is ready at once returns `Pending`
//! and wakes its task.

use std::cell::Cell;
use std::task::{Context, Poll};

/// As many as tokio has.
const IN_A_POLL: u32 = 128;

/// What is left outside of the executor's polls: no end of it.
const UNLIMITED: u32 = u32::MAX;

thread_local! {
    /// How many the poll under way may still have.
    static LEFT: Cell<u32> = const { Cell::new(UNLIMITED) };
}

/// Begins a poll of a task, or of the future given to `run_until`.
#[inline]
pub(crate) fn begin_poll() {
    LEFT.set(IN_A_POLL);
}

/// What is left of the poll under way, which is interrupted by a turn.
pub(crate) fn left() -> u32 {
    LEFT.get()
}

/// Goes on with a poll that was interrupted, or ends the last poll of a turn.
pub(crate) fn go_on(left: u32) {
    LEFT.set(left);
}

/// Ready if the await, which is ready at once, may say so. If not, it has woken the task.
#[inline]
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    match LEFT.get() {
        0 => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        UNLIMITED => Poll::Ready(()),
        left => {
            LEFT.set(left - 1);
            Poll::Ready(())
        }
    }
}

/// As [`poll_proceed`], for a run that is over. Outside of the executor's polls the host awaits it, with tokio's budget.
pub(crate) fn poll_end_of_run(cx: &mut Context<'_>) -> Poll<()> {
    #[cfg(feature = "tokio")]
    if LEFT.get() == UNLIMITED {
        if !tokio::task::coop::has_budget_remaining() {
            // tokio itself would defer the waker, and another crate's `block_on` inside the task would wait for that for ever.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        return tokio::task::coop::poll_proceed(cx).map(|budget| budget.made_progress());
    }
    poll_proceed(cx)
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use std::task::Waker;

    use super::*;

    /// A thread that joins a task each 100 µs would be through 2^32 awaits within five days.
    #[test]
    fn outside_of_polls_nothing_is_used_up() {
        let before = left();
        let is_ready = poll_proceed(&mut Context::from_waker(Waker::noop())).is_ready();
        assert_eq!((is_ready, left()), (true, before));
    }
}
