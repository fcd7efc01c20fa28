//! A host's waker, in a form that can be left where other threads find it.
//!
//! A waker's `clone` and `drop` are foreign code: they may panic, and they may wake the very future that leaves the waker.
//! [`AtomicWaker`] runs both while it is locked. A panic would leave it locked for good, and no wake would reach the host any
//! more. A wake inside them would come after the executor's last look for work, and the host would sleep on it.
//!
//! So a future that is polled makes a [`HostWaker`] of its host's waker before it looks for work: that holds a clone, and a
//! waker of our own that leads to it. Only ours is left in an `AtomicWaker`; to clone or drop it counts references. The
//! keeper [takes it back](HostWaker::take_back) before it drops the clone, so that its reference is the last; unless a waking
//! thread has ours by then, and drops it where it wakes. So no clone of a host's waker is dropped under the lock.

use std::ops::Deref;
use std::task::Waker;

use crate::sync::{Arc, AtomicWaker, WakeTarget, impl_wake, waker_of};

/// See the [module docs](self). Derefs to the waker that can be left.
pub(crate) struct HostWaker {
    hosted: Arc<Hosted>,
    ours: Waker,
}

/// The clone of the host's waker.
struct Hosted(Waker);

/// The references to [`Hosted`] that a [`HostWaker`] has itself: `hosted` and `ours`.
const KEPT: usize = 2;

impl HostWaker {
    /// Clones the host's waker: foreign code, which may panic.
    pub(crate) fn of(host: &Waker) -> Self {
        let hosted = Arc::new(Hosted(host.clone()));
        HostWaker { ours: waker_of(Arc::clone(&hosted)), hosted }
    }

    /// Keeps a `HostWaker` for `host` in `kept`. If there was one for another host, `take_back` must take that back from
    /// where it was left.
    ///
    /// Clones and drops wakers: foreign code, which may panic. Then either the old one is kept or the new one.
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
        // `will_wake` may deny that a waker is a clone, as tables of functions may be duplicated (rust-lang/rust#121622): it
        // compares their addresses, this compares what is in them.
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

    /// Takes our waker back from `from`, or from a thread that is about to wake it. Returns the waker of another keeper if
    /// that was there instead: a thread that was about to wake it finds nothing any more, so the caller must wake it.
    pub(crate) fn take_back(&self, from: &AtomicWaker) -> Option<Waker> {
        // Other threads can only make the count smaller.
        if Arc::strong_count(&self.hosted) <= KEPT {
            return None;
        }
        // `data` is the address of a `Hosted`: no other has it while this one lives.
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

impl WakeTarget for Hosted {
    fn wake(&self) {
        self.0.wake_by_ref();
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests;
