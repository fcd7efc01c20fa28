//! Values and wakers that panic.

use super::{HookedWaker, OnDrop, WakerCall, panic_as_meant};

/// Panics with that text when dropped.
pub(crate) fn bomb(text: &'static str) -> OnDrop<impl FnOnce() + Send + 'static> {
    OnDrop::new(move || panic_as_meant(text))
}

/// A waker that panics with "the waker" at the first call of each of these.
pub(crate) fn bad_waker(calls: &[WakerCall]) -> HookedWaker {
    calls.iter().fold(HookedWaker::default(), |hooked, &at| hooked.on(at, || panic_as_meant("the waker")))
}
