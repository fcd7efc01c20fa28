//! Wakers, and [`AtomicWaker`], where one is left for another thread to wake.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::{Arc, Mutex};
use crate::sync::WakeTarget;

/// A lock and a slot, see the [module docs](super).
pub(crate) struct AtomicWaker {
    slot: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    pub(crate) fn new() -> Self {
        AtomicWaker { slot: Mutex::new(None) }
    }

    fn exchange(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut slot = self.slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::replace(&mut *slot, waker)
    }

    #[track_caller]
    pub(crate) fn register(&self, waker: &Waker) {
        drop(self.exchange(Some(waker.clone())));
    }

    pub(crate) fn take(&self) -> Option<Waker> {
        self.exchange(None)
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }
}

impl std::fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}

macro_rules! impl_wake {
    ($target:ty) => {};
}
pub(crate) use impl_wake;

/// A waker that calls [`WakeTarget::wake`], counted by loom.
pub(crate) fn waker_of<S: WakeTarget + 'static>(target: Arc<S>) -> Waker {
    // SAFETY: the functions keep to the contract: each waker owns one count of the `Arc`.
    unsafe { Waker::from_raw(raw_waker(target)) }
}

fn raw_waker<S: WakeTarget + 'static>(target: Arc<S>) -> RawWaker {
    RawWaker::new(Arc::into_raw(target).cast(), table::<S>())
}

fn table<S: WakeTarget + 'static>() -> &'static RawWakerVTable {
    &const { RawWakerVTable::new(clone::<S>, wake::<S>, wake_by_ref::<S>, drop_waker::<S>) }
}

/// The `Arc` that a waker is made of.
///
/// # Safety
///
/// `data` came from [`raw_waker`] of the same type, and the waker's count is the caller's.
unsafe fn target_of<S>(data: *const ()) -> Arc<S> {
    // SAFETY: the caller's promise.
    unsafe { Arc::from_raw(data.cast::<S>()) }
}

unsafe fn clone<S: WakeTarget + 'static>(data: *const ()) -> RawWaker {
    // SAFETY: a function of the waker's table. The waker keeps its count.
    let target = ManuallyDrop::new(unsafe { target_of::<S>(data) });
    raw_waker(Arc::clone(&target))
}

unsafe fn wake<S: WakeTarget + 'static>(data: *const ()) {
    // SAFETY: a function of the waker's table, which consumes it.
    unsafe { target_of::<S>(data) }.wake();
}

unsafe fn wake_by_ref<S: WakeTarget + 'static>(data: *const ()) {
    // SAFETY: a function of the waker's table. The waker keeps its count.
    ManuallyDrop::new(unsafe { target_of::<S>(data) }).wake();
}

unsafe fn drop_waker<S: WakeTarget + 'static>(data: *const ()) {
    // SAFETY: a function of the waker's table, which consumes it.
    drop(unsafe { target_of::<S>(data) });
}
