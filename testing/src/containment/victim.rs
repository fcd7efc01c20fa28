//! The task that meets a panic, its output, and a waker that panics.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::hostile::Fault;
use crate::panics::panic_as_meant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    FirstPoll,
    SecondPoll,
    FutureDrop,
    OutputDrop,
    WakerWake,
    WakerDrop,
    Scheduler(Fault),
}

pub(super) struct Traces {
    pub(super) place: Place,
    pub(super) panics: AtomicU64,
    pub(super) waker: Mutex<Option<Waker>>,
    /// Made and not dropped.
    pub(super) outputs: AtomicI64,
}

impl Traces {
    /// Panics if this is the place, and no other panic is under way.
    fn come_to(&self, place: Place) {
        if self.place == place && !std::thread::panicking() {
            self.panics.fetch_add(1, Ordering::Relaxed);
            panic_as_meant();
        }
    }

    pub(super) fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Is polled, waits to be woken, and gives an output at the second poll; unless it panics before.
pub(super) struct Victim {
    pub(super) traces: Arc<Traces>,
    pub(super) polled: bool,
}

impl Future for Victim {
    type Output = Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let traces = Arc::clone(&self.traces);
        if !std::mem::replace(&mut self.polled, true) {
            traces.come_to(Place::FirstPoll);
            *traces.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            return Poll::Pending;
        }
        traces.come_to(Place::SecondPoll);
        traces.outputs.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Output(traces))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.traces.come_to(Place::FutureDrop);
    }
}

pub(super) struct Output(Arc<Traces>);

impl Drop for Output {
    fn drop(&mut self) {
        self.0.outputs.fetch_sub(1, Ordering::Relaxed);
        self.0.come_to(Place::OutputDrop);
    }
}

/// The waker of a task or thread that awaits the victim.
pub(super) struct Touchy(pub(super) Arc<Traces>);

impl Wake for Touchy {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.come_to(Place::WakerWake);
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        self.0.come_to(Place::WakerDrop);
    }
}
