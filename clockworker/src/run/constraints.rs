//! [`Constraints`]: that a queue is capped, idle or nested, and where it stands for that.

use std::cell::Cell;

use clockworker_schedulers::QueueId;

use crate::queue::{Budget, Cap, CapCounts};

/// Where a constrained queue stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// It has no work.
    #[default]
    Asleep,
    /// Among the queues that share the thread, or those that share what its parent gets.
    Thread,
    /// Among the idle queues.
    Idle,
    /// It has work, and its cap is used up.
    Throttled,
}

/// What a queue has been told to keep to. A queue that is not capped, idle or nested is not constrained, and pays
/// nothing.
#[derive(Default)]
pub(crate) struct Constraints {
    /// Whether it is capped, idle or nested. Read where nothing else of this is.
    any: Cell<bool>,
    /// Valid while it is constrained.
    place: Cell<Place>,
    /// Its id among the idle queues, if it is one.
    idle: Cell<Option<QueueId>>,
    /// Whether it has a parent, or has had children.
    nested: Cell<bool>,
    /// Boxed, as most queues have none.
    budget: Cell<Option<Box<Budget>>>,
    /// What caps have done that it has no more.
    past: Cell<CapCounts>,
}

impl Constraints {
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any.get()
    }

    pub(super) fn place(&self) -> Place {
        self.place.get()
    }

    pub(super) fn stand(&self, place: Place) {
        self.place.set(place);
    }

    /// Its id among the idle queues, if it is one.
    pub(crate) fn idle(&self) -> Option<QueueId> {
        self.idle.get()
    }

    /// Whether it has a parent, or has had children.
    pub(super) fn is_nested(&self) -> bool {
        self.nested.get()
    }

    /// Whether the clock is to be read after each of its polls: it is capped or idle.
    pub(super) fn are_strict(&self) -> bool {
        self.budget().is_some() || self.idle.get().is_some()
    }

    pub(super) fn make_nested(&self) {
        self.nested.set(true);
        self.any.set(true);
    }

    pub(super) fn make_idle(&self, id: QueueId) {
        self.idle.set(Some(id));
        self.any.set(true);
    }

    pub(crate) fn cap(&self) -> Option<Cap> {
        self.budget().map(|budget| budget.cap())
    }

    pub(super) fn budget(&self) -> Option<Budget> {
        self.with_budget(|budget| *budget)
    }

    /// Whether its cap is used up.
    pub(super) fn is_spent(&self) -> bool {
        self.budget().is_some_and(|budget| budget.is_spent())
    }

    /// Changes the budget, if there is a cap.
    pub(super) fn with_budget<T>(&self, change: impl FnOnce(&mut Budget) -> T) -> Option<T> {
        let mut budget = self.budget.take()?;
        let result = change(&mut budget);
        self.budget.set(Some(budget));
        Some(result)
    }

    /// Changes the cap of a queue that is not throttled. `works` if it has work.
    pub(super) fn set_cap(&self, cap: Option<Cap>, now: u64, works: bool) {
        let budget = match (self.budget(), cap) {
            (Some(budget), Some(cap)) => Some(budget.with_cap(cap, now)),
            (None, Some(cap)) => {
                let mut budget = Budget::new(cap, now);
                if works {
                    budget.begin_work(now);
                }
                Some(budget)
            }
            (Some(budget), None) => {
                self.past.set(self.past.get().plus(budget.counts(now)));
                None
            }
            (None, None) => None,
        };
        self.any.set(budget.is_some() || self.idle.get().is_some() || self.nested.get());
        self.budget.set(budget.map(Box::new));
    }

    /// What its caps have done up to now.
    pub(super) fn counts(&self, now: impl FnOnce() -> u64) -> CapCounts {
        let past = self.past.get();
        self.budget().map_or(past, |budget| past.plus(budget.counts(now())))
    }
}
