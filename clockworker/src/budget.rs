//! The host's cooperative budget.
//!
//! tokio gives each poll of one of its own tasks 128 units for the use of its resources. Once they are gone, every tokio
//! resource says that it is not ready, and has the task woken later, so that a task whose channel is always full lets
//! others run. To tokio an executor is one task, with one such budget for all that it runs: without care, the first task
//! that drains a channel would stall all others until the host polls the executor again.
//!
//! So a turn of the executor **keeps the budget** it began with ([`TurnBudget`]), and renews it from that for each task, as a
//! `LocalSet` does: after each poll at whose end the task waits or has ended. A task that yields may have used no tokio
//! resource at all, so nothing is done after its poll unless the budget is spent.
//!
//! A task that has spent the budget was cut short. If it began with what a yielder had left, it is polled again at once, with
//! a whole one. Otherwise it had its due, and is ready again behind the others: its wake may be long in coming, since tokio
//! delivers it when its scheduler comes round.
//!
//! This takes tokio's `poll_proceed`, whose result puts the budget back when it is dropped without progress.

#[cfg(feature = "tokio")]
use std::cell::Cell;
#[cfg(feature = "tokio")]
use std::task::{Context, Poll, Waker};

#[cfg(feature = "tokio")]
use tokio::task::coop::{RestoreOnPending, has_budget_remaining, poll_proceed};

/// The budget of a turn. Dropping it puts back what the host has given.
#[derive(Default)]
pub(crate) struct TurnBudget {
    /// None if there was none to begin with.
    #[cfg(feature = "tokio")]
    kept: Cell<Option<RestoreOnPending>>,
    /// How many polls its queue had when it was renewed last.
    #[cfg(feature = "tokio")]
    renewed_at: Cell<u64>,
}

#[cfg(feature = "tokio")]
impl TurnBudget {
    /// Keeps the budget that the host has given for this turn.
    pub(crate) fn keep(&self) {
        // Without budget tokio has the waker woken. That is for whoever is polled in vain.
        self.kept.set(match poll_proceed(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(kept) => Some(kept),
            Poll::Pending => None,
        });
    }

    /// Ends the turn: the host has what it had.
    pub(crate) fn give_back(&self) {
        drop(self.kept.take());
    }

    /// Whether the last poll has spent the budget.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        !has_budget_remaining()
    }

    /// Renews it. False if there was none to begin with: then only the host can help.
    pub(crate) fn renew(&self) -> bool {
        self.give_back();
        self.keep();
        has_budget_remaining()
    }

    /// Renews it after a poll, which was the queue's so-and-so-manieth.
    #[inline]
    pub(crate) fn renew_at(&self, polls: u64) {
        self.give_back();
        self.keep();
        self.renewed_at.set(polls);
    }

    /// Whether it was renewed after the queue's poll of that number: the next poll began with all of it. (If it is another
    /// queue's poll of the same number, no harm is done: a task waits for its next turn.)
    pub(crate) fn was_whole(&self, polls: u64) -> bool {
        self.renewed_at.get() == polls
    }
}

#[cfg(not(feature = "tokio"))]
impl TurnBudget {
    pub(crate) fn keep(&self) {}

    pub(crate) fn give_back(&self) {}

    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        false
    }

    pub(crate) fn renew(&self) -> bool {
        true
    }

    #[inline]
    pub(crate) fn renew_at(&self, _polls: u64) {}

    pub(crate) fn was_whole(&self, _polls: u64) -> bool {
        true
    }
}
