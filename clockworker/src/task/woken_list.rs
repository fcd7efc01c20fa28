//! The woken list: tasks woken on the owner thread, until the run loop hands them to their scheduler.
//!
//! A wake must not call a user's scheduler (which may panic, or be the caller), so it pushes the task here: one push, no
//! lock, no atomic read-modify-write. The run loop admits the tasks between polls, in order: after each poll, or several at
//! once where the scheduler does not want them yet.

use std::cell::{Cell, RefCell};

use super::header::Link;
use super::live::{Incoming, take_off_woken_list};

/// See the [module docs](self). Not `Sync`, so `&WokenList` exists on the owner thread only.
pub(crate) struct WokenList {
    list: RefCell<Fifo<Link>>,
    /// The queue of the tasks pushed since the list was empty: an index, [`SEVERAL`] or [`EMPTY`]. Read after each poll, and
    /// inside of polls, where a look into the list costs more.
    queue: Cell<u32>,
}

/// Items by coming. As a rule the list has emptied before it is pushed to again, so a `Vec` that begins anew then takes less than a
/// ring.
struct Fifo<T> {
    items: Vec<T>,
    /// So many of the first ones are taken out.
    taken: usize,
}

impl<T: Copy> Fifo<T> {
    const fn new() -> Self {
        Self { items: Vec::new(), taken: 0 }
    }

    #[inline]
    fn push_back(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(item);
    }

    #[inline]
    fn len(&self) -> usize {
        self.items.len() - self.taken
    }

    #[inline]
    fn pop_front(&mut self) -> Option<T> {
        let first = *self.items.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.items.len() {
            self.items.clear();
            self.taken = 0;
        }
        Some(first)
    }

    /// Makes room for one more: where the first half is taken out, or else by growing.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.taken > self.items.len() / 2 {
            self.items.drain(..self.taken);
            self.taken = 0;
        } else {
            self.items.reserve(1);
        }
    }

    /// Gives back what is more than the memory for [`KEPT`], of an empty list.
    #[inline]
    fn shrink(&mut self) {
        if self.items.capacity() > KEPT {
            self.items.shrink_to(KEPT);
        }
    }
}

/// The most tasks admitted between two polls: so many from the woken list, and so many from the inbox. Some 5 µs.
pub(crate) const BATCH: usize = 64;

/// Links whose memory an empty list keeps: 512 KiB. What a larger burst took is given back.
const KEPT: usize = 65_536;

/// No queue has these indices: no memory holds so many queues.
const EMPTY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Default for WokenList {
    fn default() -> Self {
        Self { list: RefCell::new(Fifo::new()), queue: Cell::new(EMPTY) }
    }
}

impl WokenList {
    /// Adds a task of `queue`, whose phase the caller has set to `Woken`.
    #[inline]
    pub(super) fn push(&self, link: Link, queue: u32) {
        let before = self.queue.get();
        if before != queue {
            self.queue.set(if before == EMPTY { queue } else { SEVERAL });
        }
        self.list.borrow_mut().push_back(link);
    }

    /// How many tasks wait here.
    pub(crate) fn len(&self) -> usize {
        self.list.borrow().len()
    }

    /// Whether there are more tasks than one [batch](BATCH) holds.
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.len() > BATCH
    }

    /// Takes out the first task.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Incoming> {
        if !self.any() {
            return None;
        }
        let mut list = self.list.borrow_mut();
        let link = list.pop_front();
        if list.items.is_empty() {
            self.queue.set(EMPTY);
            list.shrink();
        }
        drop(list);
        // SAFETY: the list is private, and only `push` fills it, with tasks whose phase was set to `Woken`. `WokenList` is
        // not `Sync`, so this is the owner thread.
        link.map(|link| unsafe { take_off_woken_list(link) })
    }

    /// Whether a task waits here, or the run loop is to [look](WokenList::request_look).
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.queue.get() != EMPTY
    }

    /// The queue of the tasks that wait here, if all are of one.
    #[inline]
    pub(crate) fn only_queue(&self) -> Option<u32> {
        Some(self.queue.get()).filter(|&queue| queue != EMPTY && queue != SEVERAL)
    }

    /// Whether tasks wait here, all of that queue. One comparison, where [`only_queue`](WokenList::only_queue) takes three.
    #[inline]
    pub(crate) fn is_only_of(&self, queue: u32) -> bool {
        self.queue.get() == queue
    }

    /// Has the run loop check the list, and all that it checks after a wake, although no task was woken.
    pub(crate) fn request_look(&self) {
        self.queue.set(SEVERAL);
    }

    /// Whether a task of another queue waits here. (Also true if those of other queues were taken out, and others were not.)
    #[inline]
    pub(crate) fn any_of_other_queue(&self, queue: u32) -> bool {
        let waiting = self.queue.get();
        waiting != EMPTY && waiting != queue
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Pushes and pops in all orders of twelve, from an empty list and from a long one: as `VecDeque`.
    #[test]
    fn it_is_a_fifo_list() {
        for choices in 0..1_u32 << 12 {
            for before in [0, 5] {
                let (mut list, mut model) = (Fifo::new(), VecDeque::new());
                let mut items = 0..;
                let pushes = (0..before).map(|_| true).chain((0..12).map(|step| choices >> step & 1 == 1));
                for push in pushes {
                    if push {
                        let item: u32 = items.next().expect("there are enough");
                        list.push_back(item);
                        model.push_back(item);
                    } else {
                        assert_eq!(list.pop_front(), model.pop_front());
                    }
                    assert_eq!(list.len(), model.len());
                }
            }
        }
    }

    #[test]
    fn a_list_that_never_empties_takes_no_more_memory() {
        let mut list = Fifo::new();
        list.push_back(0);
        for item in 1..10_000 {
            list.push_back(item);
            assert_eq!(list.pop_front(), Some(item - 1));
        }
        assert!(list.items.capacity() <= 8, "{}", list.items.capacity());
    }

    #[test]
    fn what_a_burst_took_is_given_back() {
        let mut list = Fifo::new();
        (0..100_000).for_each(|item| list.push_back(item));
        while list.pop_front().is_some() {}
        list.shrink();
        assert!(list.items.capacity() <= KEPT);
    }
}
