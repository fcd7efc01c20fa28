//! [`Rules`]: what a queue keeps to besides its share and request.

use super::budget::{Budget, CapCounts};
use super::cap::Cap;
use crate::eevdf::QueueId;

#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// Its id among the idle queues, if it is one.
    pub(super) idle: Option<QueueId>,
    /// What is left of its cap, if it has one. Boxed, as most queues have none.
    pub(super) budget: Option<Box<Budget>>,
    /// What caps have done that it has no more.
    past: CapCounts,
    /// Whether it has futures to drop. Noted while it is capped or idle: one that is capped now has its quota before it is throttled.
    pub(super) drops: bool,
}

impl Rules {
    /// Whether it is capped or idle, so that the clock is to be read after each of its polls.
    pub(super) fn are_exact(&self) -> bool {
        self.budget.is_some() || self.idle.is_some()
    }

    /// Whether its cap is used up.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.is_spent())
    }

    pub(super) fn is_throttled(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.is_throttled())
    }

    /// Notes that the queue has no work any more.
    pub(super) fn end_work(&mut self) {
        self.drops = false;
        if let Some(budget) = &mut self.budget {
            budget.end_work();
        }
    }

    /// Changes the cap of a queue that is not throttled. `works` if it has work.
    pub(super) fn set_cap(&mut self, cap: Option<Cap>, now: u64, works: bool) {
        self.budget = match (self.budget.take(), cap) {
            (Some(budget), Some(cap)) => Some(Box::new(budget.with_cap(cap, now))),
            (None, Some(cap)) => {
                let mut budget = Budget::new(cap, now);
                if works {
                    budget.begin_work(now);
                }
                Some(Box::new(budget))
            }
            (Some(budget), None) => {
                self.past = self.past.plus(budget.counts(now));
                None
            }
            (None, None) => None,
        };
    }

    /// What its caps have done up to now.
    pub(super) fn counts(&self, now: u64) -> CapCounts {
        self.budget.as_ref().map_or(self.past, |budget| self.past.plus(budget.counts(now)))
    }
}
