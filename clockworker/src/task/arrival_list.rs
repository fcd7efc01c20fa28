//! [`ArrivalList`]: the tasks that came to one queue, spawned or woken, until a slice of the queue hands them to its scheduler.

use std::cell::Cell;

use clockworker_schedulers::Ready;

use super::RecordKey;
use super::header::Link;
use super::live::take_off_arrivals;

/// See the [module docs](self). By coming, linked by the tasks themselves. Not `Sync`: owner thread only.
pub(crate) struct ArrivalList {
    /// The place of its queue.
    pub(super) queue: u32,
    first: Cell<Option<Link>>,
    last: Cell<Option<Link>>,
    len: Cell<usize>,
    /// How many were aborted since they came.
    aborted: Cell<usize>,
    /// How many of those are complete.
    complete: Cell<usize>,
    /// Whether the queue is among the news.
    pub(super) is_news: Cell<bool>,
}

/// Complete tasks that a list may hold beside as many others.
const COMPLETE: usize = 64;

impl ArrivalList {
    pub(super) fn new(queue: u32) -> Self {
        Self {
            queue,
            first: Cell::new(None),
            last: Cell::new(None),
            len: Cell::new(0),
            aborted: Cell::new(0),
            complete: Cell::new(0),
            is_news: Cell::new(false),
        }
    }

    /// Whether nothing is linked.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// How many tasks there are that are not aborted.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.len.get().saturating_sub(self.aborted.get())
    }

    /// Adds a task.
    ///
    /// # Safety
    ///
    /// The task is in no list, and its cell stays alive as long as it is in this one. This is its owner thread.
    #[inline]
    pub(super) unsafe fn push(&self, link: Link) {
        self.len.set(self.len.get() + 1);
        match self.last.replace(Some(link)) {
            // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
            Some(last) => unsafe { last.set_later(Some(link)) },
            None => self.first.set(Some(link)),
        }
    }

    #[inline]
    fn pop(&self) -> Option<Link> {
        let link = self.first.get()?;
        self.len.set(self.len.get() - 1);
        // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
        let later = unsafe { link.replace_later(None) };
        self.first.set(later);
        if later.is_none() {
            self.last.set(None);
        }
        Some(link)
    }

    /// Takes out the first task. Why it came, for its scheduler to be told, unless it is complete.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Option<(RecordKey, Ready)>> {
        let link = self.pop()?;
        // SAFETY: it has just come off the list. The list is not `Sync`, so this is the owner thread.
        let taken = unsafe { take_off_arrivals(link) };
        if taken.is_none() {
            self.forget_complete();
        }
        Some(taken)
    }

    /// Takes out all that is linked, once all tasks are complete.
    pub(crate) fn clear(&self) {
        while let Some(left) = self.next() {
            debug_assert!(left.is_none(), "{left:?} is not complete");
        }
        self.aborted.set(0);
        self.complete.set(0);
    }

    /// Notes that a task that is linked was aborted.
    pub(crate) fn note_aborted(&self) {
        self.aborted.set(self.aborted.get() + 1);
    }

    /// Notes that all tasks that are linked are aborted.
    pub(crate) fn note_all_aborted(&self) {
        self.aborted.set(self.len.get());
    }

    /// Notes that an aborted task was taken out whose future is still to be dropped.
    pub(crate) fn forget_aborted(&self) {
        self.aborted.set(self.aborted.get().saturating_sub(1));
    }

    #[cold]
    fn forget_complete(&self) {
        self.forget_aborted();
        self.complete.set(self.complete.get().saturating_sub(1));
    }

    /// Notes that an aborted task that is linked is complete. Takes out all of these once they are more than the others, and more than a
    /// few, as the queue may not have a slice for long that hands tasks over.
    pub(crate) fn note_complete(&self) {
        let (len, complete) = (self.len.get(), self.complete.get() + 1);
        self.complete.set(complete);
        if 2 * complete > COMPLETE + len {
            (0..len).for_each(|_| self.keep_or_unlink());
        }
    }

    /// Takes a task out that is linked. O(tasks before it).
    ///
    /// # Safety
    ///
    /// This is its owner thread.
    pub(super) unsafe fn take_out(&self, link: Link) {
        let (mut before, mut next) = (None, self.first.get());
        while let Some(at) = next
            && at != link
        {
            before = Some(at);
            // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
            next = unsafe { at.later() };
        }
        debug_assert!(next.is_some(), "{link:?} is in the list");
        // SAFETY: as above.
        let later = next.and_then(|at| unsafe { at.replace_later(None) });
        match before {
            // SAFETY: as above.
            Some(before) => unsafe { before.set_later(later) },
            None => self.first.set(later),
        }
        if later.is_none() {
            self.last.set(before);
        }
        self.len.set(self.len.get() - 1);
    }

    /// Moves the first task to the end, unless it is complete.
    fn keep_or_unlink(&self) {
        let Some(link) = self.pop() else { return };
        // SAFETY: it has just come off the list. The list is not `Sync`, so this is the owner thread.
        if unsafe { link.is_complete() } {
            self.forget_complete();
            // SAFETY: as above.
            _ = unsafe { take_off_arrivals(link) };
        } else {
            // SAFETY: its phase says that it is in this list.
            unsafe { self.push(link) };
        }
    }
}
