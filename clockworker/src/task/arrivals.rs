//! [`Arrivals`]: the tasks that came to each queue, spawned or woken, until a slice of the queue hands them to its scheduler; and of
//! which of them the run loop does not know.
//!
//! A wake must not call a user's scheduler (which may panic, or be the caller), so it links the task here: no lock, no atomic
//! read-modify-write, no allocation. What other threads wake and spawn comes here too, once it is received.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;

use clockworker_schedulers::Ready;

use super::RecordKey;
use super::header::Link;
use super::live::take_off_arrivals;

/// See the [module docs](self). Not `Sync`: `&Arrivals` exists on the owner thread only.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// By queue. Nothing is called while a list is in use, so it is not moved then.
    lists: UnsafeCell<Vec<List>>,
    /// To which queues tasks came of which the run loop does not know.
    news: Cell<News>,
    /// If those are [`News::SEVERAL`]. Has room for all queues.
    several: RefCell<VecDeque<u32>>,
    /// How many tasks came so far, modulo 2³².
    came: Cell<u32>,
    /// The number of the turn under way, or of the last one, modulo 256.
    turn: Cell<u8>,
    /// Whether the host has deferred what is woken now.
    is_deferring: Cell<bool>,
}

/// The tasks of one queue, by coming, linked by the tasks themselves.
#[derive(Default)]
struct List {
    first: Cell<Option<Link>>,
    last: Cell<Option<Link>>,
    len: Cell<usize>,
    /// How many were aborted since they came.
    aborted: Cell<usize>,
    /// How many of those are complete.
    complete: Cell<usize>,
    /// Whether the queue is among the news.
    is_news: Cell<bool>,
}

/// The index of one queue, or one of two others, which no queue has: no memory holds so many. One word, as it is looked at after
/// each poll.
#[derive(Clone, Copy, PartialEq, Eq)]
struct News(u32);

impl News {
    const NONE: Self = Self(u32::MAX);
    const SEVERAL: Self = Self(u32::MAX - 1);
}

impl Default for News {
    fn default() -> Self {
        Self::NONE
    }
}

/// Complete tasks that a list may hold beside as many others.
const COMPLETE: usize = 64;

/// The lists.
impl Arrivals {
    /// Makes a list for a queue.
    pub(crate) fn add_queue(&self, index: usize) {
        // SAFETY: no list is in use.
        let lists = unsafe { &mut *self.lists.get() };
        if lists.len() <= index {
            lists.resize_with(index + 1, List::default);
        }
        let mut several = self.several.borrow_mut();
        let listed = several.len();
        several.reserve(lists.len() - listed);
    }

    /// The list of a queue. The caller calls nothing while it uses it.
    #[inline]
    fn list(&self, queue: u32) -> Option<&List> {
        // SAFETY: only `add_queue` moves a list, which is not called meanwhile.
        unsafe { &*self.lists.get() }.get(queue as usize)
    }

    /// Adds a task of `queue`.
    ///
    /// # Safety
    ///
    /// The caller has set the task's phase to one that is among arrivals, from one that is not.
    #[inline]
    pub(super) unsafe fn push(&self, link: Link, queue: u32) {
        let Some(list) = self.list(queue) else { unreachable!("a queue is added before its tasks") };
        let is_first = list.len.get() <= list.aborted.get();
        // SAFETY: by its phase the task was in no list, and as long as it is in this one its record keeps a reference.
        unsafe { list.push(link) };
        self.came.set(self.came.get().wrapping_add(1));
        // Also where aborted ones are linked still: with those alone the queue has no work.
        if is_first {
            self.note(queue);
        }
    }

    /// Whether nothing is linked for that queue.
    #[inline]
    pub(crate) fn is_empty(&self, queue: u32) -> bool {
        self.list(queue).is_none_or(|list| list.first.get().is_none())
    }

    /// How many tasks there are of that queue that are not aborted.
    #[inline]
    pub(crate) fn count(&self, queue: u32) -> usize {
        self.list(queue).map_or(0, |list| list.len.get().saturating_sub(list.aborted.get()))
    }

    /// Takes out the first task of that queue. Why it came, for its scheduler to be told, unless it is complete.
    #[inline(always)]
    pub(crate) fn next(&self, queue: u32) -> Option<Option<(RecordKey, Ready)>> {
        let list = self.list(queue)?;
        let link = list.pop()?;
        // SAFETY: it has just come off the list. `Arrivals` is not `Sync`, so this is the owner thread.
        let taken = unsafe { take_off_arrivals(link) };
        if taken.is_none() {
            list.forget_complete();
        }
        Some(taken)
    }

    /// Notes that a task that is linked for that queue was aborted.
    pub(crate) fn note_aborted(&self, queue: u32) {
        self.list(queue).into_iter().for_each(|list| list.aborted.set(list.aborted.get() + 1));
    }

    /// Notes that all tasks that are linked for that queue are aborted.
    pub(crate) fn note_all_aborted(&self, queue: u32) {
        self.list(queue).into_iter().for_each(|list| list.aborted.set(list.len.get()));
    }

    /// Notes that an aborted task was taken out whose future is still to be dropped.
    pub(crate) fn forget_aborted(&self, queue: u32) {
        self.list(queue).into_iter().for_each(|list| list.aborted.set(list.aborted.get().saturating_sub(1)));
    }

    /// Notes that an aborted task that is linked for that queue is complete. Takes out all of these once they are more than the others,
    /// and more than a few, as the queue may not have a slice for long that hands tasks over.
    pub(crate) fn note_complete(&self, queue: u32) {
        let Some(list) = self.list(queue) else { return };
        let (len, complete) = (list.len.get(), list.complete.get() + 1);
        list.complete.set(complete);
        if 2 * complete > COMPLETE + len {
            // SAFETY: `Arrivals` is not `Sync`, so this is the owner thread.
            (0..len).for_each(|_| unsafe { self.keep_or_unlink(queue) });
        }
    }

    /// Moves the first task of that queue to the end, unless it is complete.
    ///
    /// # Safety
    ///
    /// This is the owner thread.
    unsafe fn keep_or_unlink(&self, queue: u32) {
        let Some((list, link)) = self.list(queue).and_then(|list| Some((list, list.pop()?))) else { return };
        // SAFETY: it has just come off the list.
        if unsafe { link.is_complete() } {
            list.forget_complete();
            // SAFETY: as above.
            _ = unsafe { take_off_arrivals(link) };
        } else {
            // SAFETY: its phase says that it is in this list.
            unsafe { list.push(link) };
        }
    }
}

impl List {
    /// Adds a task.
    ///
    /// # Safety
    ///
    /// The task is in no list, and its cell stays alive as long as it is in this one. This is its owner thread.
    #[inline]
    unsafe fn push(&self, link: Link) {
        self.len.set(self.len.get() + 1);
        match self.last.replace(Some(link)) {
            // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
            Some(last) => unsafe { last.set_later(Some(link)) },
            None => self.first.set(Some(link)),
        }
    }

    #[cold]
    fn forget_complete(&self) {
        self.aborted.set(self.aborted.get().saturating_sub(1));
        self.complete.set(self.complete.get().saturating_sub(1));
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
}

/// The news.
impl Arrivals {
    /// Has the run loop look at a queue's arrivals.
    #[inline]
    pub(crate) fn note(&self, queue: u32) {
        if self.list(queue).is_none_or(|list| list.is_news.replace(true)) {
            return;
        }
        match self.news.get() {
            News::NONE => self.news.set(News(queue)),
            before => self.note_one_more(before, queue),
        }
    }

    #[inline(never)]
    fn note_one_more(&self, before: News, queue: u32) {
        let mut several = self.several.borrow_mut();
        if before != News::SEVERAL {
            several.push_back(before.0);
            self.news.set(News::SEVERAL);
        }
        several.push_back(queue);
    }

    /// Whether there are any.
    #[inline]
    pub(crate) fn any_news(&self) -> bool {
        self.news.get() != News::NONE
    }

    /// Whether there are any but of that queue alone.
    #[inline]
    pub(crate) fn any_news_but_of(&self, queue: u32) -> bool {
        self.any_news() && self.news.get() != News(queue)
    }

    /// Takes the news that are of that queue alone. False if there are others, or none.
    #[inline]
    pub(crate) fn take_news_only_of(&self, queue: u32) -> bool {
        let is_only = self.news.get() == News(queue);
        if is_only {
            self.news.set(News::NONE);
            self.list(queue).into_iter().for_each(|list| list.is_news.set(false));
        }
        is_only
    }

    /// Takes the next queue to look at.
    #[inline]
    pub(crate) fn next_news(&self) -> Option<u32> {
        let next = match self.news.get() {
            News::NONE => return None,
            News::SEVERAL => self.next_of_several()?,
            News(queue) => {
                self.news.set(News::NONE);
                queue
            }
        };
        self.list(next).into_iter().for_each(|list| list.is_news.set(false));
        Some(next)
    }

    #[inline(never)]
    fn next_of_several(&self) -> Option<u32> {
        let mut several = self.several.borrow_mut();
        let next = several.pop_front();
        if several.is_empty() {
            self.news.set(News::NONE);
        }
        next
    }
}

/// What the host has deferred.
impl Arrivals {
    /// How many tasks came so far, modulo 2³².
    #[inline]
    pub(crate) fn came(&self) -> u32 {
        self.came.get()
    }

    /// Begins a turn: the host defers no more.
    #[inline]
    pub(crate) fn begin_turn(&self) {
        self.turn.set(self.turn.get().wrapping_add(1));
        self.is_deferring.set(false);
    }

    /// The number of the turn under way, or of the last one, modulo 256.
    #[inline]
    pub(crate) fn turn(&self) -> u8 {
        self.turn.get()
    }

    /// Notes that what the host wakes from now on, until the next turn, it had deferred.
    pub(crate) fn begin_deferred(&self) {
        self.is_deferring.set(true);
    }

    /// Whether the host had deferred a task that is woken now, and that was polled last in that turn.
    #[inline]
    pub(super) fn is_deferred(&self, polled_in: u8) -> bool {
        self.is_deferring.get() && polled_in == self.turn.get()
    }
}
