//! What the programs share.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use tokio::runtime::{Builder, Runtime};

pub(super) fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(super) fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs a closure when dropped.
pub(super) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(super) fn new(then: F) -> Self {
        Self(Some(then))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            then();
        }
    }
}

pub(super) fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// What a closure panics with, as it must.
#[track_caller]
pub(super) fn panic_of<T>(then: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(then)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => text(&*payload),
    }
}

/// Begins the message of each panic that a test means to happen.
pub(super) const MEANT: &str = "meant: ";

/// Keeps the panics that are meant out of the output, and complaints about calls where they cannot be.
pub(super) fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = text(info.payload());
            if !text.starts_with(MEANT) && !text.contains("outside") && !text.contains("blocking only") {
                shown(info);
            }
        }));
    });
}
