//! The tasks of a set that have finished.
//!
//! A [`JoinSet`](crate::JoinSet) has a [`FinishedTasks`], of which each of its tasks knows the list. A task that completes pushes itself
//! onto that list, through its cell: it gives the list a reference to the cell, and writes the link where its joiner was.
//!
//! A task does not count as a holder of the list. The set knows which of its tasks are still to push themselves when it is dropped: those
//! that were complete when it dropped their join handles, and that it has not taken out. For each of them it leaves a counted reference
//! behind before it closes the list; a push that is refused gives the reference up.

use std::mem::{forget, swap};
use std::ptr::NonNull;
use std::task::{Poll, Waker};

use super::header::{Header, Link};
use super::joiner::Joiner;
use super::treiber_stack::{Closed, TreiberStack};
use super::{AbortHandle, JoinHandle};
use crate::base::{drop_quietly, wake_quietly};
use crate::sync::{Arc, Mutex, MutexGuard};

/// The tasks of a set that have finished, in that order, and who waits for the next one. The set's end of the list.
pub(crate) struct FinishedTasks {
    list: Arc<FinishedList>,
    /// The address of the last task of those that were taken out of the list and are still to be turned round, or [`Link::NONE`].
    stack: usize,
    /// The address of the first task of those turned round, or [`Link::NONE`].
    turned: usize,
    /// How many tasks have left the set that are in the list, or will be.
    gone: usize,
}

/// What a set and its tasks share.
pub(super) struct FinishedList {
    /// Its owner, the set, is parked while a waker is to be woken. A counted reference to the list goes with the mark, to the task that
    /// takes it away.
    tasks: TreiberStack,
    waiting: Mutex<Option<Waker>>,
}

/// A task that was taken out of the list: a reference to it, and its place in the set.
pub(crate) struct FinishedTask {
    task: AbortHandle,
    place: usize,
}

impl FinishedTasks {
    pub(crate) fn new() -> Self {
        let list = FinishedList { tasks: TreiberStack::new(), waiting: Mutex::new(None) };
        Self { list: Arc::new(list), stack: Link::NONE, turned: Link::NONE, gone: 0 }
    }

    /// Has the list told when a task finishes, which is at that `place` in the set, instead of who was told so far. True if it has
    /// finished: the list is not told then.
    pub(crate) fn watch<T>(&self, task: &mut JoinHandle<T>, place: usize) -> bool {
        // SAFETY: the set keeps the handle or `leave`s it, and keeps the list alive as the module docs say.
        unsafe { task.tell(Arc::as_ptr(&self.list), place) }
    }

    /// Drops the handle of a task of which the list is told, and that was not taken out of it.
    pub(crate) fn leave<T>(&mut self, task: JoinHandle<T>) {
        self.gone += usize::from(task.leave());
    }

    /// Counts a task that was taken out, and that has left the set.
    pub(crate) fn forget(&mut self, task: FinishedTask) {
        self.gone -= 1;
        drop(task);
    }

    /// Takes in the tasks that have finished by now, if all that were taken in before are popped, and turns round at most `links`.
    /// Pending if more are to be turned round, else whether there is a task.
    pub(crate) fn take_in(&mut self, links: usize) -> Poll<bool> {
        if self.stack == Link::NONE && self.turned == Link::NONE {
            self.stack = self.list.tasks.take_all();
        }
        // SAFETY: the tasks of both were taken out of the list.
        (self.stack, self.turned) = unsafe { turn_round(self.stack, self.turned, links) };
        if self.is_turning() { Poll::Pending } else { Poll::Ready(self.turned != Link::NONE) }
    }

    /// Whether tasks were taken in that are still to be turned round.
    pub(crate) fn is_turning(&self) -> bool {
        self.stack != Link::NONE
    }

    /// The first task of those taken in. None while they are turned round.
    pub(crate) fn pop(&mut self) -> Option<FinishedTask> {
        if self.is_turning() {
            return None;
        }
        // SAFETY: it was taken out, and its next one, to which it led, takes its place.
        let (task, next) = unsafe { take_first(self.turned) }?;
        self.turned = next;
        Some(task)
    }

    /// Has `waker` woken for the next task, in place of the waker of the last call. False if there is a task already.
    ///
    /// # Panics
    ///
    /// If cloning the waker panics, which is foreign code. Then the last one stays.
    pub(crate) fn wait(&self, waker: &Waker) -> bool {
        let list = &self.list;
        // Counted before the exchange below, whose lock is what orders it before the end of that reference.
        let marks = Arc::clone(list);
        drop_quietly(list.exchange_waiting(Some(waker.clone())));
        // Who takes the mark away wakes this waker, or a later one: if it took the waker before the exchange above, then the mark was
        // taken away before this one was there.
        if list.tasks.park() {
            forget(marks);
            return true;
        }
        if list.tasks.has_nodes() {
            drop_quietly(self.take_waiting());
            return false;
        }
        true
    }

    /// Takes the waker of the last [`wait`](Self::wait), if it was not woken.
    pub(crate) fn take_waiting(&self) -> Option<Waker> {
        self.list.exchange_waiting(None)
    }

    /// Takes out all that is in the list, of which nothing is in the set any more.
    pub(crate) fn clear(&mut self) {
        while self.take_in(usize::MAX) == Poll::Ready(true) {
            while let Some(task) = self.pop() {
                self.forget(task);
            }
        }
    }
}

/// The set has dropped its handles.
impl Drop for FinishedTasks {
    fn drop(&mut self) {
        // A task that finishes at this moment, on another thread, may be the last to hold the list: it drops no foreign code.
        drop_quietly(self.take_waiting());
        if self.list.tasks.unpark() {
            // SAFETY: the mark's reference, which comes with it.
            drop(unsafe { Arc::from_raw(Arc::as_ptr(&self.list)) });
        }
        self.clear();
        // As a rule none is left.
        let late = self.gone;
        (0..late).for_each(|_| forget(Arc::clone(&self.list)));
        while !self.list.tasks.close() {
            self.clear();
        }
        for _ in self.gone..late {
            // SAFETY: a reference of those just left behind, whose task came before the list was closed.
            drop(unsafe { Arc::from_raw(Arc::as_ptr(&self.list)) });
        }
    }
}

impl FinishedList {
    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        // Nothing that could panic runs under this lock, and its data are whole at every step.
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn exchange_waiting(&self, mut waker: Option<Waker>) -> Option<Waker> {
        swap(&mut *self.lock(), &mut waker);
        waker
    }
}

impl FinishedTask {
    /// Its place in the set, if it is still there.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Whether it is that handle's task.
    pub(crate) fn is_of<T>(&self, handle: &JoinHandle<T>) -> bool {
        self.task.pointer() == handle.pointer()
    }

    /// The reference, which is the caller's to release.
    pub(super) fn into_pointer(self) -> NonNull<Header> {
        let pointer = self.task.pointer();
        forget(self);
        pointer
    }
}

/// Pushes a complete task onto the list, and wakes who waits. True if that gave the list the caller's reference to the task.
///
/// # Safety
///
/// The list is alive, as the [module docs](self) say. The task is the set's member at that `place`, and is pushed once. The caller owns
/// a reference to it, and its `joiner`.
pub(super) unsafe fn push(list: *const FinishedList, task: NonNull<Header>, place: usize) -> bool {
    // SAFETY: the caller's promise, until the push has succeeded.
    let set_next = |next| *unsafe { joiner(task) } = Joiner::link(next, place);
    // SAFETY: the list is alive until the push has succeeded or failed.
    let tasks = unsafe { &(*list).tasks };
    match tasks.push(Link::new(task).expose(), set_next) {
        Ok(false) => true,
        Ok(true) => {
            // SAFETY: the mark was taken away by this push, so its reference is this call's.
            let list = unsafe { Arc::from_raw(list) };
            list.exchange_waiting(None).into_iter().for_each(wake_quietly);
            true
        }
        Err(Closed) => {
            // SAFETY: the set left this reference to the push.
            drop(unsafe { Arc::from_raw(list) });
            false
        }
    }
}

/// The joiner of a task, or its link.
///
/// # Safety
///
/// The cell is alive, and its `joiner` the caller's for as long as the result is used.
unsafe fn joiner<'a>(task: NonNull<Header>) -> &'a mut Joiner {
    // SAFETY: the caller's promise.
    let slot = unsafe { task.as_ref() }.joiner.get();
    // SAFETY: as above.
    unsafe { &mut *slot }
}

/// Puts at most `links` tasks from the top of `stack` before those that were `turned` round. What is left of both, by their addresses.
///
/// # Safety
///
/// They were taken out of a list.
unsafe fn turn_round(mut stack: usize, mut turned: usize, links: usize) -> (usize, usize) {
    for _ in 0..links {
        let Some(link) = Link::from_exposed(stack) else { break };
        // SAFETY: the list's reference keeps the cell alive; its joiner came with it.
        let joiner = unsafe { joiner(link.header()) };
        (stack, turned) = (joiner.exchange_next(turned), stack);
    }
    (stack, turned)
}

/// The task at that address, and the address of the next one. None at the end.
///
/// # Safety
///
/// It was taken out of a list, and is not used again as a part of it.
unsafe fn take_first(address: usize) -> Option<(FinishedTask, usize)> {
    let task = Link::from_exposed(address)?.header();
    // SAFETY: as in `turn_round`.
    let joiner = unsafe { joiner(task) };
    let (place, next) = (joiner.place(), joiner.exchange_next(Link::NONE));
    // SAFETY: the list's reference, which goes to the result.
    let task = unsafe { AbortHandle::from_raw(task) };
    Some((FinishedTask { task, place }, next))
}
