//! tokio's cooperative budget, renewed so that no task spends it for the others.
//!
//! tokio gives each poll of one of its own tasks 128 units for the use of its resources. Once they are spent, every tokio
//! resource says that it is not ready, and has the task woken later, so that a task whose channel is always full lets others
//! run. To tokio an executor is one task, with one such budget for all that it runs: without care, the first task that drains
//! a channel would stall all others until the host polls the executor again.
//!
//! So [`CoopBudget`] **keeps the budget** that a turn of the executor began with, and renews it whenever a poll has spent it.
//! A task that returns `Pending` then was cut short. If others had spent some of the budget before its poll, it is polled
//! again at once, with all of it: so each task has a budget of its own, as in a `LocalSet`, and tasks that use no tokio
//! resource pay nothing for that. If the task has spent all of it itself, it is ready again behind the others, as if it had
//! awaited tokio's own `yield_now`. (Its wake may be long in coming: tokio delivers it when its scheduler comes round.)
//!
//! A poll that is cut short is in vain, and costs more than ten renewals: what it awaits is registered anew, and its wake
//! changes the order of the tasks. So an executor that has seen one renews the budget in time: every [`IN_TIME`] polls, or if
//! the budget once lasted for fewer, after as many as it lasted for.
//!
//! This takes tokio's `poll_proceed`, whose result puts the budget back when it is dropped without progress.

use std::cell::Cell;
use std::task::{Context, Poll, Waker};

#[cfg(feature = "tokio")]
use tokio::task::coop::{RestoreOnPending, has_budget_remaining, poll_proceed};
#[cfg(not(feature = "tokio"))]
use unlimited::{RestoreOnPending, has_budget_remaining, poll_proceed};

/// Polls of sixteen units each that spend tokio's 128.
const IN_TIME: u64 = 8;

/// Renewals in time after which the budget is expected to last twice as long.
const TRIED_AGAIN: u32 = 64;

/// The host's cooperative budget during a turn. Dropping it gives the host back what it had.
#[derive(Default)]
pub(crate) struct CoopBudget {
    /// None if the host had none left.
    kept: Cell<Option<RestoreOnPending>>,
    /// The running queue's number of polls when the budget was last renewed.
    renewed_at: Cell<u64>,
    /// For how many polls the budget is expected to last. None until a task was cut short because of what others had spent.
    lasts: Cell<Option<u64>>,
    /// Renewals in time since `lasts` was last set.
    renewals: Cell<u32>,
}

impl CoopBudget {
    /// Keeps the budget that the host has given for this turn.
    pub(crate) fn keep(&self) {
        // Without budget tokio has the waker woken: only a task that is polled in vain needs that.
        self.kept.set(match poll_proceed(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(kept) => Some(kept),
            Poll::Pending => None,
        });
    }

    /// Gives the host its budget back, as it was.
    pub(crate) fn give_back(&self) {
        self.kept.set(None);
    }

    /// Whether the last poll has spent the budget.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        !has_budget_remaining()
    }

    /// Renews the budget for the queue's poll number `polls`, from 0.
    pub(crate) fn renew(&self, polls: u64) {
        self.give_back();
        self.keep();
        self.renewed_at.set(polls);
    }

    /// Renews the budget before it is spent, if it has run short before. For the queue's poll number `polls`, from 0.
    #[inline]
    pub(crate) fn renew_in_time(&self, polls: u64) {
        // The last renewal may have been for another queue's poll: then this one comes too early or too late.
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

    /// Expects the budget to last for so many polls.
    fn expect(&self, polls: u64) {
        self.lasts.set(Some(polls.clamp(1, IN_TIME)));
        self.renewals.set(0);
    }

    /// Notes that the queue's poll number `polls` was cut short. True if it began with the whole budget. (Also true if
    /// another queue had as many polls when the budget was renewed. Then the task yields, and no harm is done.)
    pub(crate) fn note_cut(&self, polls: u64) -> bool {
        let lasted = polls.wrapping_sub(self.renewed_at.get());
        if lasted > 0 {
            self.expect(lasted.min(self.lasts.get().unwrap_or(IN_TIME)));
        }
        lasted == 0
    }
}

/// What a budget without tokio is: without end.
#[cfg(not(feature = "tokio"))]
mod unlimited {
    use super::{Context, Poll};

    pub(super) struct RestoreOnPending;

    pub(super) fn has_budget_remaining() -> bool {
        true
    }

    pub(super) fn poll_proceed(_: &mut Context<'_>) -> Poll<RestoreOnPending> {
        Poll::Ready(RestoreOnPending)
    }
}
