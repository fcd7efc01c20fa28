//! How the reference's tasks end, and what hears of it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::event::End;
use super::task::Output;
use crate::panics::drop_contained;

/// Where a result waits for its join handle.
#[derive(Default)]
pub(super) struct Slot {
    result: RefCell<Option<Result<Output, End>>>,
    joiner: RefCell<Option<Waker>>,
    detached: Cell<bool>,
    finished: Cell<bool>,
}

impl Slot {
    pub(super) fn is_finished(&self) -> bool {
        self.finished.get()
    }

    fn complete(&self, result: Result<Output, End>) {
        self.finished.set(true);
        if self.detached.get() {
            drop_contained(result);
            return;
        }
        self.result.replace(Some(result));
        let joiner = self.joiner.take();
        joiner.into_iter().for_each(Waker::wake);
    }
}

/// The reference's join handle.
pub(super) struct Join(pub(super) Rc<Slot>);

impl Join {
    /// Of a task that there will not be. Drops what it would have been made of; a panic of that is its end.
    pub(super) fn refused(unmade: impl FnOnce()) -> Self {
        let join = Self(Rc::default());
        let dropped = catch_unwind(AssertUnwindSafe(unmade));
        join.0.complete(Err(if dropped.is_ok() { End::Cancelled } else { End::Panicked }));
        join
    }

    /// The answer, if it is there.
    pub(super) fn answer(&mut self) -> Option<Result<Output, End>> {
        self.0.result.take()
    }
}

impl Future for Join {
    type Output = Result<Output, End>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.answer() {
            return Poll::Ready(result);
        }
        self.0.joiner.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        self.0.detached.set(true);
        drop_contained(self.0.result.take());
    }
}

/// Keeps panics in, and tells the slot how it ended: by a panic if there was one, be it in the drop.
pub(super) struct Contained<F: Future<Output = Output>> {
    future: Option<Pin<Box<F>>>,
    slot: Rc<Slot>,
}

impl<F: Future<Output = Output>> Contained<F> {
    pub(super) fn new(future: F, slot: &Rc<Slot>) -> Self {
        Self { future: Some(Box::pin(future)), slot: Rc::clone(slot) }
    }

    fn end(&mut self, result: Result<Output, End>) {
        if drop_contained(self.future.take()) {
            return self.slot.complete(result);
        }
        drop_contained(result);
        self.slot.complete(Err(End::Panicked));
    }
}

impl<F: Future<Output = Output>> Future for Contained<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(future) = &mut self.future else { return Poll::Ready(()) };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => self.end(Ok(output)),
            Err(_) => self.end(Err(End::Panicked)),
        }
        Poll::Ready(())
    }
}

impl<F: Future<Output = Output>> Drop for Contained<F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            self.end(Err(End::Cancelled));
        }
    }
}
