//! A host's waker, such that it can be left where other threads find it.
//!
//! A waker's `clone` and `drop` are foreign code: they may panic, and they may wake the very future that the waker is left
//! for. [`AtomicWaker`] runs both while it is locked. A panic would leave it locked for good, and nobody would wake the host
//! any more. What a wake brought would come after the last look, and the host would sleep on it.
//!
//! So whoever is polled [clones](HostWaker::of) the host's waker before it looks for anything, keeps the clone, and leaves a
//! waker of our own that leads there. To clone that one, and to drop it, counts references. The last reference is the
//! keeper's, who [takes the waker back](HostWaker::take_back) before the clone goes; unless a thread that wakes has it by
//! then, and drops it where it wakes. So no clone of a host's waker is dropped under the lock.

use std::ops::Deref;
use std::task::Waker;

use crate::sync::{Arc, AtomicWaker, Signal, impl_wake, waker_of};

/// See the [module docs](self). Derefs to the waker to be left.
pub(crate) struct HostWaker {
    hosted: Arc<Hosted>,
    ours: Waker,
}

/// The clone of the host's waker.
struct Hosted(Waker);

/// References to the clone that its keeper has: those in a [`HostWaker`].
const KEPT: usize = 2;

impl HostWaker {
    /// Foreign code runs here, and may panic.
    pub(crate) fn of(host: &Waker) -> Self {
        let hosted = Arc::new(Hosted(host.clone()));
        HostWaker { ours: waker_of(Arc::clone(&hosted)), hosted }
    }

    /// Keeps one for this host. If there was one for another, `take_back` is to take that back from wherever it was left.
    ///
    /// Foreign code runs here, and may panic. Then either the old one is kept or the new one.
    #[inline]
    pub(crate) fn keep<'a>(
        kept: &'a mut Option<Self>,
        host: &Waker,
        take_back: impl FnOnce(&Self),
    ) -> &'a Self {
        if !kept.as_ref().is_some_and(|present| present.hosted.0.will_wake(host)) {
            Self::keep_another(kept, host, take_back);
        }
        kept.as_ref().unwrap_or_else(|| unreachable!("it was put there"))
    }

    #[cold]
    fn keep_another(kept: &mut Option<Self>, host: &Waker, take_back: impl FnOnce(&Self)) {
        // `will_wake` may deny that a waker is a clone, as tables of functions have copies (rust-lang/rust#121622): it compares
        // where they are, this what is in them.
        let is_clone = |present: &Waker| present.data() == host.data() && present.vtable() == host.vtable();
        if kept.as_ref().is_some_and(|present| is_clone(&present.hosted.0)) {
            return;
        }
        let old = kept.replace(Self::of(host));
        if let Some(old) = &old {
            take_back(old);
        }
        drop(old);
    }

    /// Takes it back from where it was left, or from a thread that is about to wake it. The waker of another keeper that was
    /// there instead is given out: whoever was about to wake that finds nothing any more, so the caller is to do it.
    pub(crate) fn take_back(&self, from: &AtomicWaker) -> Option<Waker> {
        // Others can only make the count smaller.
        if Arc::strong_count(&self.hosted) <= KEPT {
            return None;
        }
        // Of wakers of ours, whose data is the clone's address: no other lies there while this one does.
        from.take().filter(|found| found.data() != self.data())
    }
}

impl Deref for HostWaker {
    type Target = Waker;

    #[inline]
    fn deref(&self) -> &Waker {
        &self.ours
    }
}

impl_wake!(Hosted);

impl Signal for Hosted {
    fn signal(&self) {
        self.0.wake_by_ref();
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests;
