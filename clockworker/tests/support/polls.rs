//! Polls with a waker.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Polls a future once, with that waker.
pub(crate) fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}
