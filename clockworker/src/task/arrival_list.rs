//! [`ArrivalList`]: the tasks that came to one queue, spawned or woken, until a slice of the queue hands them to its scheduler.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

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
    /// Whether `places` holds any.
    has_places: Cell<bool>,
    places: RefCell<Places>,
}

/// What came before each of the first tasks of a list: looked up when one is taken out from far behind, and forgotten before the first
/// task is.
#[derive(Default)]
struct Places {
    /// Of all up to `last`, but for the first one.
    before: HashMap<Link, Link>,
    last: Option<Link>,
}

/// So many tasks are passed without looking places up.
const NEAR: usize = 32;

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
            has_places: Cell::new(false),
            places: RefCell::default(),
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
        debug_assert!(!self.has_places.get(), "forgotten before");
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
        self.forget_places();
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
            self.forget_places();
            (0..len).for_each(|_| self.keep_or_unlink());
        }
    }

    /// Takes a task out that is linked. O(1), but that each task is passed once between two slices of the queue.
    ///
    /// # Safety
    ///
    /// This is its owner thread.
    pub(super) unsafe fn take_out(&self, link: Link) {
        // SAFETY: the caller's promise.
        let before = unsafe { self.before(link) };
        // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
        let later = unsafe { link.replace_later(None) };
        match before {
            // SAFETY: as above.
            Some(before) => unsafe { before.set_later(later) },
            None => self.first.set(later),
        }
        if later.is_none() {
            self.last.set(before);
        }
        self.len.set(self.len.get() - 1);
        if self.is_empty() {
            self.forget_places();
        } else if self.has_places.get() {
            self.places.borrow_mut().forget(link, before, later);
        }
    }

    /// What came before a task that is linked, unless it is the first.
    ///
    /// # Safety
    ///
    /// As for [`take_out`](ArrivalList::take_out).
    unsafe fn before(&self, link: Link) -> Option<Link> {
        let (mut before, mut next) = (None, self.first.get());
        for _ in 0..NEAR {
            let Some(at) = next.filter(|&at| at != link) else {
                debug_assert!(next.is_some(), "{link:?} is in the list");
                return before;
            };
            before = next;
            // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
            next = unsafe { at.later() };
        }
        self.has_places.set(true);
        let mut places = self.places.borrow_mut();
        // SAFETY: as above. What was looked up is linked still: places are forgotten before the first task is taken out by `pop`.
        unsafe { places.look_up(self.first.get()) };
        let before = places.before.get(&link).copied();
        debug_assert!(before.is_some(), "{link:?} is in the list");
        before
    }

    /// To be called before tasks are taken out by [`next`](ArrivalList::next).
    #[inline]
    pub(crate) fn forget_places(&self) {
        if self.has_places.get() {
            self.drop_places();
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_places(&self) {
        self.has_places.set(false);
        self.places.take();
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

impl Places {
    /// Looks up what came since, in the list that begins so.
    ///
    /// # Safety
    ///
    /// All that was looked up is in the list, and this is its owner thread.
    unsafe fn look_up(&mut self, first: Option<Link>) {
        // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
        let mut next = self.last.map_or(first, |last| unsafe { last.later() });
        while let Some(at) = next {
            if let Some(before) = self.last.replace(at) {
                self.before.insert(at, before);
            }
            // SAFETY: as above.
            next = unsafe { at.later() };
        }
    }

    /// Forgets a task that is taken out, which was between these.
    fn forget(&mut self, link: Link, before: Option<Link>, later: Option<Link>) {
        self.before.remove(&link);
        if self.last == Some(link) {
            self.last = before;
        } else if let Some(later) = later
            && self.before.remove(&later).is_some()
            && let Some(before) = before
        {
            self.before.insert(later, before);
        }
    }
}
