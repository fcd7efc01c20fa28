//! [`Waiting`]: those who wait for one thing to happen.

use std::cell::RefCell;
use std::mem::replace;
use std::task::Waker;

use slab::Slab;

use crate::base::{drop_quietly, wake_quietly};

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
