//! The arrivals list: tasks woken on the owner thread, on their way to their scheduler.
//!
//! A wake must not run a user's scheduler (it may panic, or be in the middle of something), so it leaves the task here:
//! one push, no lock, no atomic read-modify-write. The run loop hands the tasks on between polls, in order: after each, or
//! several at a time, if that is the same to their scheduler.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::header::Link;
use super::live::{Incoming, take_off_woken_list};

/// See the [module docs](self). Not `Sync`, so whoever has a reference is on the owner thread.
#[derive(Debug)]
pub(crate) struct WokenList {
    list: RefCell<VecDeque<Link>>,
    /// Of which queue those are that came since the list was empty: of one, of [`SEVERAL`], or [`NOBODY`] came. Looked at
    /// after each poll, and inside of polls, where a look into the list costs more.
    queue: Cell<u32>,
}

/// The most tasks of each kind, woken here and sent by other threads, that are admitted in one gap between polls. Some
/// 5 µs.
pub(crate) const BATCH: usize = 64;

/// Memory for so many links stays when the list is empty: 512 KiB. What a larger burst took is given back.
const KEPT: usize = 65_536;

/// Neither is a queue's index: so many queues no memory holds.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Default for WokenList {
    fn default() -> Self {
        Self { list: RefCell::default(), queue: Cell::new(NOBODY) }
    }
}

impl WokenList {
    /// Adds a task of that queue, whose phase the caller has set to `Woken`.
    #[inline]
    pub(super) fn push(&self, link: Link, queue: u32) {
        let before = self.queue.get();
        if before != queue {
            self.queue.set(if before == NOBODY { queue } else { SEVERAL });
        }
        self.list.borrow_mut().push_back(link);
    }

    /// Whether there are more than one [batch](BATCH).
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.list.borrow().len() > BATCH
    }

    /// Takes out the first.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Incoming> {
        if !self.any() {
            return None;
        }
        let mut list = self.list.borrow_mut();
        let link = list.pop_front();
        if list.is_empty() {
            self.queue.set(NOBODY);
            if list.capacity() > KEPT {
                list.shrink_to(KEPT);
            }
        }
        drop(list);
        // SAFETY: the list is private, and filled by `push` only, with tasks whose phase was set to `Woken`. Whoever
        // has `&self` is on the owner thread.
        link.map(|link| unsafe { take_off_woken_list(link) })
    }

    /// Whether a task waits here, or the run loop is to [look](WokenList::request_look).
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.queue.get() != NOBODY
    }

    /// The queue whose tasks wait here, if they are all of one.
    #[inline]
    pub(crate) fn only_queue(&self) -> Option<u32> {
        Some(self.queue.get()).filter(|&queue| queue != NOBODY && queue != SEVERAL)
    }

    /// Has the run loop look here, and at what else it looks at then, although nobody came.
    pub(crate) fn request_look(&self) {
        self.queue.set(SEVERAL);
    }

    /// Whether somebody of another queue waits here. (Also if those of other queues were taken out, and others were not.)
    #[inline]
    pub(crate) fn any_of_other_queue(&self, queue: u32) -> bool {
        let waiting = self.queue.get();
        waiting != NOBODY && waiting != queue
    }
}
