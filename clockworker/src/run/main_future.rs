//! [`MainFuture`]: the future given to `run_until`, polled when it was woken and the tasks have had their part.

use std::cell::Cell;

/// What the executor keeps of the future given to `run_until`, beside `MainFlag`.
#[derive(Default)]
pub(crate) struct MainFuture {
    /// Polls of tasks that the future waits for, because it woke itself.
    waits_for: Cell<u32>,
}

impl MainFuture {
    /// Polls of tasks that the future waits for.
    #[inline]
    pub(crate) fn waits_for(&self) -> u32 {
        self.waits_for.get()
    }

    /// Has the future wait for so many polls of tasks.
    #[inline]
    pub(crate) fn wait_for(&self, polls: u32) {
        self.waits_for.set(polls);
    }

    /// Notes so many polls of tasks.
    pub(super) fn waited(&self, polls: u32) {
        self.waits_for.set(self.waits_for.get().saturating_sub(polls));
    }
}
