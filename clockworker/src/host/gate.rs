//! A future between an executor and its host: which of its wakes the host is told of.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use crate::base::drop_quietly;
use crate::sync::{Arc, AtomicU8, AtomicWaker, Signal, impl_wake};
use crate::task::HostWaker;

/// What became of a turn.
pub(crate) enum Turn<T> {
    Done(T),
    /// The future was woken while it was polled.
    WorkLeft,
}

/// Nobody has woken the future: monoio must be told of the next wake.
const IDLE: u8 = 0;
/// The future is being polled: whoever polls it will look.
const POLLING: u8 = 1;
/// The future is to be polled, and will be.
const WOKEN: u8 = 2;

/// Lets wakes through to monoio, but for those that come while the future is polled or about to be.
pub(crate) struct Gate {
    state: AtomicU8,
    host: AtomicWaker,
}

impl Gate {
    /// With a future that is to be polled.
    pub(crate) fn new() -> Self {
        Gate { state: AtomicU8::new(WOKEN), host: AtomicWaker::new() }
    }

    /// Polls the future if it was woken.
    pub(crate) fn poll<F: Future>(&self, future: Pin<&mut F>, waker: &Waker) -> Poll<Turn<F::Output>> {
        // Ordering: Acquire pairs with the Release in `signal`, what was written before a wake is seen by the poll
        // that follows. That it is a read-modify-write makes this hold for wakes that met an earlier one too.
        if self.state.compare_exchange(WOKEN, POLLING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Poll::Pending;
        }
        if let Poll::Ready(output) = future.poll(&mut Context::from_waker(waker)) {
            return Poll::Ready(Turn::Done(output));
        }
        // Ordering: Relaxed. A wake that finds IDLE finds the host registered too: see `Inbox::park`. A wake that came before
        // makes this fail, and is paired with when the future is polled for it.
        match self.state.compare_exchange(POLLING, IDLE, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Poll::Pending,
            Err(_) => Poll::Ready(Turn::WorkLeft),
        }
    }
}

impl_wake!(Gate);

impl Signal for Gate {
    fn signal(&self) {
        // Ordering: Release pairs with the Acquire in `poll`; that it is a read-modify-write continues the release
        // sequences of earlier wakes.
        if self.state.swap(WOKEN, Ordering::Release) == IDLE {
            self.host.wake();
        }
    }
}

/// Whoever polls the future. Lets go of monoio's task when dropped: wakers that outlive the run must not keep its memory.
pub(crate) struct Shut {
    pub(crate) gate: Arc<Gate>,
    /// None until the first poll.
    host: Option<HostWaker>,
}

impl Shut {
    pub(crate) fn new() -> Self {
        Shut { gate: Arc::new(Gate::new()), host: None }
    }

    /// Has `host` woken for the next wake that comes while the future is neither polled nor about to be. It is to be polled
    /// afterwards, as what `host` does when it is cloned may wake it.
    pub(crate) fn register(&mut self, host: &Waker) {
        let left = &self.gate.host;
        left.register(HostWaker::keep(&mut self.host, host, |old| drop(old.take_back(left))));
    }
}

impl Drop for Shut {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            drop(host.take_back(&self.gate.host));
            drop_quietly(host);
        }
    }
}
