//! The arrivals list: tasks woken on the owner thread, on their way to their scheduler.
//!
//! A wake must not run a user's scheduler (it may panic, or be in the middle of something), so it leaves the task here:
//! one push, no lock, no atomic read-modify-write. The run loop hands the tasks on between polls, in order.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::header::Link;
use super::live::{Arrival, arrived};

/// See the [module docs](self). Not `Sync`, so whoever has a reference is on the owner thread.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    list: RefCell<VecDeque<Link>>,
    /// Whether there is anybody in it. Looked at after each poll, where a look into the list costs more.
    any: Cell<bool>,
}

impl Arrivals {
    /// Adds a task whose phase the caller has set to `Arriving`.
    #[inline]
    pub(super) fn push(&self, link: Link) {
        self.list.borrow_mut().push_back(link);
        self.any.set(true);
    }

    /// Whether there are more than so many.
    #[inline]
    pub(crate) fn are_more_than(&self, tasks: usize) -> bool {
        self.list.borrow().len() > tasks
    }

    /// Takes out the first.
    #[inline]
    pub(crate) fn next(&self) -> Option<Arrival> {
        let popped = self.list.borrow_mut().pop_front();
        self.any.set(popped.is_some());
        let link = popped?;
        // SAFETY: the list is private, and filled by `push` only, with tasks whose phase was set to `Arriving`. Whoever
        // has `&self` is on the owner thread.
        Some(unsafe { arrived(link) })
    }

    /// Whether somebody waits here. (Also after the last was taken out, until [`next`](Arrivals::next) finds nobody.)
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.get()
    }

    /// Has the run loop look here, and at what else it looks at then, although nobody came.
    pub(crate) fn look(&self) {
        self.any.set(true);
    }

    /// Whether somebody of another queue waits here.
    pub(crate) fn any_of_other_queue(&self, queue: u32) -> bool {
        self.list.borrow().iter().any(|link| {
            // SAFETY: the record's reference keeps the cell alive while the list points at it.
            let task = unsafe { link.header().as_ref() };
            task.owned.place.get().queue != queue
        })
    }
}
