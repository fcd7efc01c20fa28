//! [`Arrivals`]: the tasks of each queue that were woken or spawned on the owner thread, until a slice of the queue hands them to its
//! scheduler. [`News`]: which queues have any of which the run loop does not know.
//!
//! A wake must not call a user's scheduler (which may panic, or be the caller), so it pushes the task here: one push, no lock, no
//! atomic read-modify-write.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::iter;

use clockworker_schedulers::Ready;

use super::RecordKey;
use super::header::Link;
use super::live::{is_over, take_off_arrivals};

/// The tasks that came, by queue and by coming, linked by the tasks themselves. Not `Sync`: `&Arrivals` exists on the owner thread
/// only. Nothing is called while a list is in use, so it is not moved then.
#[derive(Default)]
pub(crate) struct Arrivals(UnsafeCell<Vec<List>>);

/// Those of one queue.
#[derive(Default)]
struct List {
    first: Cell<Option<Link>>,
    /// Of a list that is not empty.
    last: Cell<Option<Link>>,
    len: Cell<usize>,
}

impl Arrivals {
    /// Makes a list for a queue.
    pub(crate) fn add_queue(&self, index: usize) {
        // SAFETY: no list is in use, see `Arrivals`.
        let lists = unsafe { &mut *self.0.get() };
        if lists.len() <= index {
            lists.resize_with(index + 1, List::default);
        }
    }

    /// The list of a queue. The caller calls nothing while it uses it.
    #[inline]
    fn list(&self, queue: u32) -> Option<&List> {
        // SAFETY: only `add_queue` moves a list, which is not called meanwhile.
        unsafe { &*self.0.get() }.get(queue as usize)
    }

    /// Adds a task of `queue`. True if it is the only one.
    ///
    /// # Safety
    ///
    /// The caller has set the task's phase to one that is among arrivals, from one that is not.
    #[inline]
    pub(super) unsafe fn push(&self, link: Link, queue: u32) -> bool {
        let Some(list) = self.list(queue) else { unreachable!("a queue is added before its tasks") };
        list.len.set(list.len.get() + 1);
        let is_only = list.first.get().is_none();
        match list.last.replace(Some(link)) {
            // SAFETY: a task in a list has its record's reference, so the cell is alive; and this is the owner thread.
            Some(last) if !is_only => unsafe { last.set_later(Some(link)) },
            _ => list.first.set(Some(link)),
        }
        is_only
    }

    /// Whether none is of that queue.
    #[inline]
    pub(crate) fn is_empty(&self, queue: u32) -> bool {
        self.list(queue).is_none_or(|list| list.first.get().is_none())
    }

    /// How many there are of that queue, with those that are over: they were aborted since they came.
    pub(crate) fn len(&self, queue: u32) -> usize {
        self.list(queue).map_or(0, |list| list.len.get())
    }

    /// How many there are of that queue that are not over.
    pub(crate) fn count(&self, queue: u32) -> usize {
        let first = self.list(queue).and_then(|list| list.first.get());
        // SAFETY: these are in the list, so their cells are alive, and this is the owner thread.
        let links = iter::successors(first, |link| unsafe { link.later() });
        // SAFETY: as above.
        links.filter(|&link| !unsafe { is_over(link) }).count()
    }

    /// Takes out the first task of that queue that is not over, and why it came: its scheduler is to be told.
    #[inline(always)]
    pub(crate) fn next(&self, queue: u32) -> Option<(RecordKey, Ready)> {
        loop {
            let list = self.list(queue)?;
            let link = list.first.get()?;
            list.len.set(list.len.get() - 1);
            // SAFETY: it is in the list, so its cell is alive, and this is the owner thread.
            list.first.set(unsafe { link.replace_later(None) });
            // SAFETY: it has just come off the list.
            let taken = unsafe { take_off_arrivals(link) };
            if taken.is_some() {
                return taken;
            }
        }
    }
}

/// What the run loop is to look at after a poll: that tasks came to queues of which it does not know that they have any.
#[derive(Default)]
pub(crate) struct News {
    queues: Cell<Queues>,
    /// If those are [`Queues::SEVERAL`].
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
struct Queues(u32);

impl Queues {
    const NONE: Self = Self(u32::MAX);
    const SEVERAL: Self = Self(u32::MAX - 1);
}

impl Default for Queues {
    fn default() -> Self {
        Self::NONE
    }
}

impl News {
    /// Counts a task that came, the first one of its queue's arrivals or not.
    #[inline]
    pub(super) fn came(&self, queue: u32, is_first: bool) {
        self.came.set(self.came.get().wrapping_add(1));
        if is_first {
            self.note(queue);
        }
    }

    /// Has the run loop look at a queue's arrivals.
    #[inline]
    pub(crate) fn note(&self, queue: u32) {
        match self.queues.get() {
            Queues::NONE => self.queues.set(Queues(queue)),
            before => self.note_one_more(before, queue),
        }
    }

    #[inline(never)]
    fn note_one_more(&self, before: Queues, queue: u32) {
        let mut several = self.several.borrow_mut();
        if before != Queues::SEVERAL {
            several.push_back(before.0);
            self.queues.set(Queues::SEVERAL);
        }
        several.push_back(queue);
    }

    /// Whether there is anything to look at.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.queues.get() != Queues::NONE
    }

    /// Whether there are any but of that queue alone.
    #[inline]
    pub(crate) fn any_but_of(&self, queue: u32) -> bool {
        self.any() && self.queues.get() != Queues(queue)
    }

    /// Takes the news that are of that queue alone. False if there are others, or none.
    #[inline]
    pub(crate) fn take_only_of(&self, queue: u32) -> bool {
        let is_only = self.queues.get() == Queues(queue);
        if is_only {
            self.queues.set(Queues::NONE);
        }
        is_only
    }

    /// Takes the next queue to look at.
    pub(crate) fn next(&self) -> Option<u32> {
        match self.queues.get() {
            Queues::NONE => None,
            Queues::SEVERAL => {
                let mut several = self.several.borrow_mut();
                let next = several.pop_front();
                if several.is_empty() {
                    self.queues.set(Queues::NONE);
                }
                next
            }
            Queues(queue) => {
                self.queues.set(Queues::NONE);
                Some(queue)
            }
        }
    }

    /// How many tasks came so far, modulo 2³².
    #[inline]
    pub(crate) fn count(&self) -> u32 {
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
