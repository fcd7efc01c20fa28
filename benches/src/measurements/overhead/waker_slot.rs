//! Hands a task's waker to another thread.

use std::sync::Mutex;
use std::task::Waker;
use std::thread;

/// The waker of a task, for the thread that is to wake it.
#[derive(Debug, Default)]
pub(super) struct WakerSlot(Mutex<Option<Waker>>);

impl WakerSlot {
    /// Leaves the waker of the task that is polled.
    pub(super) fn put(&self, waker: &Waker) {
        *self.0.lock().expect("nobody panics with it") = Some(waker.clone());
    }

    /// Waits until the task has been polled, and takes its waker.
    pub(super) fn take(&self) -> Waker {
        loop {
            let waker = self.0.lock().expect("nobody panics with it").take();
            if let Some(waker) = waker {
                return waker;
            }
            thread::yield_now();
        }
    }
}
