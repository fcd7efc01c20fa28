//! [`Waiting`]: those who wait for one thing to happen; and what they wait for: [something of the executor](Until), that a
//! [queue is gone](Gone).

use std::cell::RefCell;
use std::mem::replace;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use super::Core;
use super::queue::RunQueue;
use crate::base::{drop_quietly, wake_quietly};
use crate::task::{Stopped, coop};

/// The wakers of those who wait. No borrow is held while one is cloned, woken or dropped.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    wakers: RefCell<Slab<Waker>>,
}

impl Waiting {
    /// Whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.wakers.borrow().is_empty()
    }

    /// Has a waker woken next time. `key` is where the last one of its owner is, if it has one here.
    pub(super) fn register(&self, key: &mut Option<usize>, waker: &Waker) {
        let waker = waker.clone();
        let mut wakers = self.wakers.borrow_mut();
        let old = match key.and_then(|key| wakers.get_mut(key)) {
            Some(old) => Some(replace(old, waker)),
            None => {
                *key = Some(wakers.insert(waker));
                None
            }
        };
        drop(wakers);
        drop(old);
    }

    /// Takes out who waits no more. Called by destructors, so a panic in its waker's is swallowed.
    pub(super) fn leave(&self, key: Option<usize>) {
        let waker = key.and_then(|key| self.wakers.borrow_mut().try_remove(key));
        drop_quietly(waker);
    }

    /// Wakes all who wait. Who waits on [registers](Waiting::register) again.
    pub(super) fn wake_all(&self) {
        // Takes the wakers, but leaves the keys: cloning them would be foreign code under the borrow.
        let take = |(_, waker): (usize, &mut Waker)| replace(waker, Waker::noop().clone());
        let wakers: Vec<Waker> = self.wakers.borrow_mut().iter_mut().map(take).collect();
        wakers.into_iter().for_each(wake_quietly);
    }
}

/// Waits for something of the whole executor.
pub(crate) struct Until {
    core: Rc<Core>,
    is_so: fn(&Core) -> bool,
    /// Those who wait for that.
    waiting: fn(&Core) -> &Waiting,
    /// The key of its waker there.
    key: Option<usize>,
}

impl Until {
    /// Waits until no task is left, and none is on its way from another thread. `after_last_finish` wakes it when the last
    /// task has finished, or when what came from other threads was admitted and held no task.
    pub(crate) fn emptied(core: &Rc<Core>) -> Self {
        Self {
            core: Rc::clone(core),
            is_so: Core::none_is_left,
            waiting: |core| &core.ending.waiting,
            key: None,
        }
    }

    /// Waits until [`request_stop`](Core::request_stop).
    pub(crate) fn stop_requested(core: &Rc<Core>) -> Self {
        let is_so = |core: &Core| core.ending.stop_requested.get();
        Self { core: Rc::clone(core), is_so, waiting: |core| &core.ending.awaits_stop, key: None }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if (self.is_so)(&self.core) {
            return coop::poll_proceed(cx);
        }
        (self.waiting)(&self.core).register(&mut self.key, cx.waker());
        // Cloning the waker was foreign code, which may have run the executor.
        if (self.is_so)(&self.core) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Core {
    fn none_is_left(&self) -> bool {
        if self.live() > 0 {
            return false;
        }
        if self.has_mail() {
            // This may be inside a poll, where nothing is admitted.
            self.ending.await_mail();
            return false;
        }
        true
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        (self.waiting)(&self.core).leave(self.key);
    }
}

/// Waits until a queue was closed and its last task has finished.
pub(crate) struct Gone {
    core: Rc<Core>,
    queue: Rc<RunQueue>,
    /// The key of its waker in `RunQueue::awaits_end`.
    key: Option<usize>,
}

impl Gone {
    pub(crate) fn new(core: &Rc<Core>, queue: &Rc<RunQueue>) -> Self {
        Self { core: Rc::clone(core), queue: Rc::clone(queue), key: None }
    }

    /// Ready once the queue is gone, and its name and number are free. `remove_if_done` wakes it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_gone() {
            return coop::poll_proceed(cx);
        }
        self.queue.awaits_end.register(&mut self.key, cx.waker());
        // Cloning the waker was foreign code, which may have run the executor.
        if self.is_gone() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_gone(&self) -> bool {
        self.queue.removed.get() || self.core.ending.stopped() == Some(Stopped::Dropped)
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.queue.awaits_end.leave(self.key);
    }
}
