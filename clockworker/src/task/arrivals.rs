//! [`Arrivals`]: the queues to which tasks came, and of which of them the run loop does not know.
//!
//! A wake must not call a user's scheduler (which may panic, or be the caller), so it links the task to its queue's [list](ArrivalList):
//! no lock, no atomic read-modify-write, no allocation. What other threads wake and spawn comes there too, once it is received.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;

use super::ArrivalList;
use super::header::Link;

/// See the [module docs](self). Not `Sync`: `&Arrivals` exists on the owner thread only.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// By queue. A list never moves, and goes with the last of these.
    #[allow(clippy::vec_box, reason = "a list is in use while the table grows")]
    lists: UnsafeCell<Vec<Box<ArrivalList>>>,
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

impl Arrivals {
    /// Makes a list for a queue.
    pub(crate) fn add_queue(&self, index: usize) {
        // SAFETY: the table is not read now. Lists that are in use stay where they are.
        let lists = unsafe { &mut *self.lists.get() };
        while lists.len() <= index {
            lists.push(Box::new(ArrivalList::new(lists.len() as u32)));
        }
        let mut several = self.several.borrow_mut();
        let listed = several.len();
        several.reserve(lists.len() - listed);
    }

    /// The list of a queue.
    #[inline]
    pub(crate) fn of(&self, queue: u32) -> &ArrivalList {
        // SAFETY: only `add_queue` changes the table, and not now.
        match unsafe { &*self.lists.get() }.get(queue as usize) {
            Some(list) => list,
            None => unreachable!("a queue is added before its tasks"),
        }
    }

    /// Adds a task of `queue`.
    ///
    /// # Safety
    ///
    /// The caller has set the task's phase to one that is among arrivals, from one that is not.
    #[inline]
    pub(super) unsafe fn push(&self, link: Link, queue: u32) {
        let list = self.of(queue);
        let is_first = list.count() == 0;
        // SAFETY: by its phase the task was in no list, and as long as it is in this one its record keeps a reference.
        unsafe { list.push(link) };
        self.came.set(self.came.get().wrapping_add(1));
        // Also where aborted ones are linked still: with those alone the queue has no work.
        if is_first {
            self.note(list);
        }
    }
}

/// The news.
impl Arrivals {
    /// Has the run loop look at a queue's arrivals.
    #[inline]
    pub(crate) fn note(&self, list: &ArrivalList) {
        if list.is_news.replace(true) {
            return;
        }
        match self.news.get() {
            News::NONE => self.news.set(News(list.queue)),
            before => self.note_one_more(before, list.queue),
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
    pub(crate) fn take_news_only_of(&self, list: &ArrivalList) -> bool {
        let is_only = self.news.get() == News(list.queue);
        if is_only {
            self.news.set(News::NONE);
            list.is_news.set(false);
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
        self.of(next).is_news.set(false);
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
