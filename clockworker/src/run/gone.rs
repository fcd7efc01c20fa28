//! [`Gone`]: waits until a closed queue is gone.

use std::rc::Rc;
use std::task::{Context, Poll};

use super::Core;
use super::queue::RunQueue;
use crate::task::Stopped;

/// Waits until a queue was closed and its last task has finished.
pub(crate) struct Gone {
    core: Rc<Core>,
    queue: Rc<RunQueue>,
    /// The key of its waker in `RunQueue::awaits_end`.
    key: Option<usize>,
}

impl Gone {
    pub(crate) fn new(core: &Rc<Core>, queue: &Rc<RunQueue>) -> Self {
        Self { core: Rc::clone(core), queue: Rc::clone(queue), key: None }
    }

    /// Ready once the queue is gone, and its name and number are free. `remove_if_done` wakes it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_gone() {
            return Poll::Ready(());
        }
        self.queue.awaits_end.register(&mut self.key, cx.waker());
        // Cloning the waker was foreign code, which may have run the executor.
        if self.is_gone() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn is_gone(&self) -> bool {
        self.queue.removed.get() || self.core.ending.stopped() == Some(Stopped::Dropped)
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.queue.awaits_end.leave(self.key);
    }
}
