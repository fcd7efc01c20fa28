//! A wake between tasks, without a clock.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Something that one task waits for and others say. Saying it before it is waited for counts.
#[derive(Clone, Default)]
pub(crate) struct Signal(Rc<(Cell<bool>, RefCell<Option<Waker>>)>);

impl Signal {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&self) {
        self.take_waker().into_iter().for_each(Waker::wake);
    }

    /// Says it, and leaves it to the caller to wake the task that waits, if there is one.
    pub(crate) fn take_waker(&self) -> Option<Waker> {
        self.0.0.set(true);
        self.0.1.borrow_mut().take()
    }

    /// Waits for the next [`set`](Signal::set), and takes it.
    pub(crate) async fn wait(&self) {
        poll_fn(|cx| {
            if self.0.0.replace(false) {
                return Poll::Ready(());
            }
            *self.0.1.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
