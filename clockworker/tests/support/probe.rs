//! Tasks that say what happened to them.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use clockworker::{Executor, JoinHandle};

use super::settle;

/// A task, as a test sees it. [`future`](Probe::future) makes its future, which is pending until [`finish`](Probe::finish).
#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) polls: Cell<u32>,
    pub(crate) drops: Cell<u32>,
    pub(crate) waker: RefCell<Option<Waker>>,
    pub(crate) finish: Cell<bool>,
}

impl Probe {
    pub(crate) fn new() -> Rc<Self> {
        Rc::default()
    }

    /// Gives the number of its polls, once it may finish.
    pub(crate) fn future(self: &Rc<Self>) -> ProbeFuture {
        ProbeFuture(Rc::clone(self))
    }

    /// A clone of the waker that its last poll was given.
    #[track_caller]
    pub(crate) fn waker(&self) -> Waker {
        self.waker.borrow().clone().expect("the task was polled")
    }

    /// Lets it finish at its next poll, and wakes it.
    pub(crate) fn finish(&self) {
        self.finish.set(true);
        self.waker().wake();
    }
}

#[derive(Debug)]
pub(crate) struct ProbeFuture(Rc<Probe>);

impl Future for ProbeFuture {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        let probe = &self.0;
        probe.polls.set(probe.polls.get() + 1);
        let old = probe.waker.replace(Some(cx.waker().clone()));
        drop(old);
        if probe.finish.get() { Poll::Ready(probe.polls.get()) } else { Poll::Pending }
    }
}

impl Drop for ProbeFuture {
    fn drop(&mut self) {
        self.0.drops.set(self.0.drops.get() + 1);
    }
}

/// A new task and its probe.
pub(crate) fn probed(ex: &Executor) -> (Rc<Probe>, JoinHandle<u32>) {
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    (probe, task)
}

/// As [`probed`]; the task was polled once and waits.
pub(crate) fn parked(ex: &Executor) -> (Rc<Probe>, JoinHandle<u32>) {
    let task = probed(ex);
    settle(ex);
    task
}

/// Polls a future once, with that waker.
pub(crate) fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}
