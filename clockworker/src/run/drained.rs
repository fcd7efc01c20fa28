//! Waiting until an executor has no task left.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use super::Core;

/// Those who wait, each with its waker.
pub(crate) type Waiting = Slab<Waker>;

/// Somebody who waits until no task is left.
pub(crate) struct Drained {
    core: Rc<Core>,
    /// Its place among those who wait.
    key: Option<usize>,
}

impl Drained {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        Self { core: Rc::clone(core), key: None }
    }

    /// Ready once no task is left, and none is on its way from another thread. Who waits is woken when the last has finished, or
    /// when what came from other threads was admitted and is no task.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Nobody will run them there.
        self.core.process.assert_current();
        if self.none_is_left() {
            return Poll::Ready(());
        }
        self.register(cx.waker());
        // That was foreign code, which may have run the executor.
        if self.none_is_left() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn none_is_left(&self) -> bool {
        if self.core.live() > 0 {
            return false;
        }
        if self.core.has_mail() {
            // Admission is not for here, which may be inside a poll.
            self.core.ending.await_mail();
            return false;
        }
        true
    }

    fn register(&mut self, waker: &Waker) {
        let waker = waker.clone();
        let mut waiting = self.core.ending.waiting.borrow_mut();
        let old = match self.key.and_then(|key| waiting.get_mut(key)) {
            Some(old) => Some(std::mem::replace(old, waker)),
            None => {
                self.key = Some(waiting.insert(waker));
                None
            }
        };
        // A waker's drop is foreign code.
        drop(waiting);
        drop(old);
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        // Whoever wakes takes the waker, but leaves the place.
        let old = self.key.and_then(|key| self.core.ending.waiting.borrow_mut().try_remove(key));
        drop(old);
    }
}
