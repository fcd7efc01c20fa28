//! The task that meets a panic, its output, and a waker that panics.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use clockworker_testing::panics::panic_as_meant;

use super::case::Place;

/// Counts the panics of a case, as it makes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Strikes(Arc<AtomicU64>);

impl Strikes {
    /// Panics, past the hook, which would print it.
    pub(super) fn strike(&self) -> ! {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic_as_meant()
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the case knows of the task.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    waker: Arc<Mutex<Option<Waker>>>,
    outputs_made: Arc<AtomicU64>,
    outputs_dropped: Arc<AtomicU64>,
}

impl Traces {
    /// Wakes the task, if it was polled.
    pub(super) fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether each output was dropped, once.
    pub(super) fn balance(&self) -> bool {
        self.outputs_made.load(Ordering::Relaxed) == self.outputs_dropped.load(Ordering::Relaxed)
    }
}

/// Is polled, waits to be woken, and gives an output at the second poll; unless it panics before.
#[derive(Debug)]
pub(super) struct Victim {
    pub(super) place: Place,
    pub(super) polled: bool,
    pub(super) strikes: Strikes,
    pub(super) traces: Traces,
}

impl Future for Victim {
    type Output = Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        if !self.polled {
            self.polled = true;
            if self.place == Place::FirstPoll {
                self.strikes.strike();
            }
            *self.traces.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if self.place == Place::SecondPoll {
            self.strikes.strike();
        }
        self.traces.outputs_made.fetch_add(1, Ordering::Relaxed);
        let Victim { place, strikes, traces, .. } = &*self;
        Poll::Ready(Output { place: *place, strikes: strikes.clone(), traces: traces.clone() })
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if self.place == Place::FutureDrop && !std::thread::panicking() {
            self.strikes.strike();
        }
    }
}

#[derive(Debug)]
pub(super) struct Output {
    place: Place,
    strikes: Strikes,
    traces: Traces,
}

impl Drop for Output {
    fn drop(&mut self) {
        self.traces.outputs_dropped.fetch_add(1, Ordering::Relaxed);
        if self.place == Place::OutputDrop && !std::thread::panicking() {
            self.strikes.strike();
        }
    }
}

/// The waker of somebody who awaits the task.
pub(super) struct Touchy {
    pub(super) place: Place,
    pub(super) strikes: Strikes,
}

impl Wake for Touchy {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.place == Place::WakerWake {
            self.strikes.strike();
        }
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        if self.place == Place::WakerDrop && !std::thread::panicking() {
            self.strikes.strike();
        }
    }
}
