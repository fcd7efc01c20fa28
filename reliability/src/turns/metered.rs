//! A future, and a look at every poll of it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that has `before` and `after` called around each of its polls.
pub(crate) struct Metered<F, B, A> {
    future: Pin<Box<F>>,
    before: B,
    after: A,
}

impl<F: Future, B: FnMut() + Unpin, A: FnMut() + Unpin> Metered<F, B, A> {
    pub(crate) fn new(future: F, before: B, after: A) -> Self {
        Metered { future: Box::pin(future), before, after }
    }
}

impl<F: Future, B: FnMut() + Unpin, A: FnMut() + Unpin> Future for Metered<F, B, A> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        (this.before)();
        let polled = this.future.as_mut().poll(cx);
        (this.after)();
        polled
    }
}
