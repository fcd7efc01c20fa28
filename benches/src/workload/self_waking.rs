//! A future that is nothing but polls.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Wakes itself and returns `Pending` a given number of times, then is ready: `yields + 1` polls that do no work.
///
/// It calls nothing of any runtime. In particular it is not [`tokio::task::yield_now`], which keeps the waker
/// back until tokio has been to its drivers and so measures those.
#[derive(Debug)]
pub struct SelfWaking {
    left: u32,
}

impl SelfWaking {
    pub fn new(yields: u32) -> Self {
        SelfWaking { left: yields }
    }
}

impl Future for SelfWaking {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(()) };
        self.left = left;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
