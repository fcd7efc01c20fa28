//! The host's cooperative budget.
//!
//! tokio gives each poll of one of its own tasks 128 units for the use of its resources. Once they are gone, every tokio
//! resource says that it is not ready, and has the task woken later, so that a task whose channel is always full lets
//! others run. To tokio an executor is one task, with one such budget for all that it runs: without care, the first task
//! that drains a channel would stall all others until the host polls the executor again.
//!
//! So a turn of the executor **keeps the budget** it began with ([`TurnBudget`]), and renews it whenever it is found spent. A
//! task that waits then was cut short. If others had spent some of the budget before its poll, it is polled again at once,
//! with all of it: so each task has a budget of its own, as in a `LocalSet`, and tasks that use no tokio resource pay nothing
//! for that. If it has spent all of it itself, it gives way: it is ready again behind the others, as if it had awaited tokio's
//! own `yield_now`. (Its wake may be long in coming: tokio delivers it when its scheduler comes round.)
//!
//! A poll that is cut short is a poll in vain, and costs more than ten renewals: what it awaits is registered anew, and its
//! wake changes the order of the tasks. So an executor that has seen one renews the budget in time: every [`IN_TIME`] polls, or if
//! one did not last for so many, after as many as that one lasted for.
//!
//! This takes tokio's `poll_proceed`, whose result puts the budget back when it is dropped without progress.

#[cfg(feature = "tokio")]
use std::cell::Cell;
#[cfg(feature = "tokio")]
use std::task::{Context, Poll, Waker};

#[cfg(feature = "tokio")]
use tokio::task::coop::{RestoreOnPending, has_budget_remaining, poll_proceed};

/// So many polls spend tokio's 128 units, where each uses sixteen.
#[cfg(feature = "tokio")]
const IN_TIME: u64 = 8;

/// After so many renewals in time it is taken to last twice as long.
#[cfg(feature = "tokio")]
const TRIED_AGAIN: u32 = 64;

/// The budget of a turn. Dropping it puts back what the host has given.
#[derive(Default)]
pub(crate) struct TurnBudget {
    /// None if there was none to begin with.
    #[cfg(feature = "tokio")]
    kept: Cell<Option<RestoreOnPending>>,
    /// How many polls the queue had had when it was renewed for the next.
    #[cfg(feature = "tokio")]
    renewed_at: Cell<u64>,
    /// For how many polls it is taken to last. None while no task was cut short because of what others had spent.
    #[cfg(feature = "tokio")]
    lasts: Cell<Option<u64>>,
    /// How often it was renewed in time since that was last changed.
    #[cfg(feature = "tokio")]
    renewals: Cell<u32>,
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

    /// Renews it, for the poll of a queue that comes after so many.
    pub(crate) fn renew(&self, polls: u64) {
        self.give_back();
        self.keep();
        self.renewed_at.set(polls);
    }

    /// Renews it before it is spent, where it has run short before. For the poll of a queue that comes after so many.
    #[inline]
    pub(crate) fn renew_in_time(&self, polls: u64) {
        // The last renewal may have been for another queue's poll, and then this one comes too early or too late.
        if let Some(lasts) = self.lasts.get()
            && polls.wrapping_sub(self.renewed_at.get()) >= lasts
        {
            self.renew(polls);
            self.renewals.set(self.renewals.get() + 1);
            if self.renewals.get() == TRIED_AGAIN {
                self.expect(2 * lasts);
            }
        }
    }

    /// From now on it is taken to last for so many polls.
    fn expect(&self, polls: u64) {
        self.lasts.set(Some(polls.clamp(1, IN_TIME)));
        self.renewals.set(0);
    }

    /// Whether the poll of the queue that came after so many began with all of it. (Another queue may have had as many when it
    /// was renewed. Then a task that was cut short gives way, and no harm is done.)
    pub(crate) fn was_whole(&self, polls: u64) -> bool {
        let lasted = polls.wrapping_sub(self.renewed_at.get());
        if lasted > 0 {
            self.expect(lasted.min(self.lasts.get().unwrap_or(IN_TIME)));
        }
        lasted == 0
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

    pub(crate) fn renew(&self, _polls: u64) {}

    #[inline]
    pub(crate) fn renew_in_time(&self, _polls: u64) {}

    pub(crate) fn was_whole(&self, _polls: u64) -> bool {
        true
    }
}
