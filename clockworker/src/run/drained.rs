//! [`Drained`]: waits until an executor has no task left.

use std::rc::Rc;
use std::task::{Context, Poll};

use super::Core;

/// Waits until no task is left.
pub(crate) struct Drained {
    core: Rc<Core>,
    /// The key of its waker in `Ending::waiting`.
    key: Option<usize>,
}

impl Drained {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        Self { core: Rc::clone(core), key: None }
    }

    /// Ready once no task is left, and none is on its way from another thread. `after_last_finish` wakes it when the last
    /// task has finished, or when what came from other threads was admitted and held no task.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.none_is_left() {
            return Poll::Ready(());
        }
        self.core.ending.waiting.register(&mut self.key, cx.waker());
        // Cloning the waker was foreign code, which may have run the executor.
        if self.none_is_left() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn none_is_left(&self) -> bool {
        if self.core.live() > 0 {
            return false;
        }
        if self.core.has_mail() {
            // This may be inside a poll, where nothing is admitted.
            self.core.ending.await_mail();
            return false;
        }
        true
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        self.core.ending.waiting.leave(self.key);
    }
}
