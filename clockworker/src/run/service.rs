//! [`Service`]: the scheduler that a queue has, and the one that it is to have next.
//!
//! A queue whose scheduler was never changed pays one look at a flag per call, none per poll.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use clockworker_schedulers::{RunnableFifo, Scheduler};

use super::any_policy::AnyPolicy;
use crate::base::drop_quietly;
use crate::queue::Policy;

/// See the [module docs](self).
pub(super) struct Service {
    /// The one that the queue began with. Its seat is empty once another has come.
    first: Box<dyn AnyPolicy>,
    /// Whether another has come.
    is_changed: Cell<bool>,
    /// The one that came last.
    latest: RefCell<Option<Rc<dyn AnyPolicy>>>,
    /// The one that is to come.
    next: RefCell<Option<Rc<dyn AnyPolicy>>>,
    /// Whether one is to come. Read after each slice.
    has_next: Cell<bool>,
}

impl Service {
    pub(super) fn new<S: Scheduler + 'static>(scheduler: S) -> Self {
        Self {
            first: Box::new(Policy::new(scheduler)),
            is_changed: Cell::new(false),
            latest: RefCell::new(None),
            next: RefCell::new(None),
            has_next: Cell::new(false),
        }
    }

    /// Calls the scheduler in service, with nothing of this borrowed.
    #[inline]
    pub(super) fn call<T>(&self, call: impl FnOnce(&dyn AnyPolicy) -> T) -> T {
        if self.is_changed.get() {
            return self.call_latest(call);
        }
        call(&*self.first)
    }

    #[cold]
    #[inline(never)]
    fn call_latest<T>(&self, call: impl FnOnce(&dyn AnyPolicy) -> T) -> T {
        // Held, as the call may have it changed.
        let latest = self.latest.borrow().clone();
        call(latest.as_deref().unwrap_or(&*self.first))
    }

    /// Notes the scheduler that is to come, in place of one that was noted before.
    pub(super) fn set_next<S: Scheduler + 'static>(&self, scheduler: S) {
        let unused = self.next.replace(Some(Rc::new(Policy::new(scheduler))));
        self.has_next.set(true);
        drop_quietly(unused);
    }

    /// Whether a scheduler is to come.
    #[inline]
    pub(super) fn has_next(&self) -> bool {
        self.has_next.get()
    }

    /// Takes the scheduler that is to come.
    pub(super) fn take_next(&self) -> Option<Rc<dyn AnyPolicy>> {
        self.has_next.set(false);
        self.next.take()
    }

    /// Puts a scheduler in the place of the last one. Returns that, for the caller to drop.
    #[must_use = "its drop is user code"]
    pub(super) fn put(&self, next: Rc<dyn AnyPolicy>) -> impl Sized {
        let old = self.call(|policy| policy.take());
        self.is_changed.set(true);
        (old, self.latest.replace(Some(next)))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The schedulers' own drops are user code, and this may be inside the run loop.
        drop_quietly(std::mem::replace(&mut self.first, Box::new(Policy::new(RunnableFifo::new()))));
        drop_quietly(self.latest.take());
        drop_quietly(self.next.take());
    }
}
