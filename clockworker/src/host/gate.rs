//! The gate between an executor's future and monoio: which wakes monoio is told of.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use crate::base::drop_quietly;
use crate::sync::{Arc, AtomicU8, AtomicWaker, WakeTarget, impl_wake};
use crate::task::HostWaker;

/// What a poll through the gate came to.
pub(crate) enum GatePoll<T> {
    Done(T),
    /// The future returned `Pending`, and was woken while it was polled.
    WorkLeft,
}

/// The future was polled and not woken since: monoio must be told of the next wake.
const IDLE: u8 = 0;
/// The future is being polled: `Gate::poll` will see the wake.
const POLLING: u8 = 1;
/// The future was woken, and will be polled.
const WOKEN: u8 = 2;

/// Lets wakes through to monoio, but for those that come while the future is polled or about to be.
pub(crate) struct Gate {
    state: AtomicU8,
    host: AtomicWaker,
}

impl Gate {
    /// A gate whose future is to be polled.
    pub(crate) fn new() -> Self {
        Gate { state: AtomicU8::new(WOKEN), host: AtomicWaker::new() }
    }

    /// Polls the future if it was woken.
    pub(crate) fn poll<F: Future>(&self, future: Pin<&mut F>, waker: &Waker) -> Poll<GatePoll<F::Output>> {
        // Ordering: Acquire pairs with the Release in `wake`: what was written before a wake is seen by the poll that
        // follows. As a read-modify-write it does so for wakes that met an earlier one too.
        if self.state.compare_exchange(WOKEN, POLLING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Poll::Pending;
        }
        if let Poll::Ready(output) = future.poll(&mut Context::from_waker(waker)) {
            return Poll::Ready(GatePoll::Done(output));
        }
        // Ordering: Relaxed. A wake that finds IDLE finds the host registered too: see `Inbox::park`. A wake that came before
        // makes this fail, and pairs with the next poll.
        match self.state.compare_exchange(POLLING, IDLE, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Poll::Pending,
            Err(_) => Poll::Ready(GatePoll::WorkLeft),
        }
    }
}

impl_wake!(Gate);

impl WakeTarget for Gate {
    fn wake(&self) {
        // Ordering: Release pairs with the Acquire in `poll`. As a read-modify-write it continues the release sequences of
        // earlier wakes.
        if self.state.swap(WOKEN, Ordering::Release) == IDLE {
            self.host.wake();
        }
    }
}

/// The side of the gate that polls the future. Takes monoio's waker back when dropped: wakers that outlive the run must not
/// keep the memory of monoio's task.
pub(crate) struct GatePoller {
    pub(crate) gate: Arc<Gate>,
    /// None until the first poll.
    host: Option<HostWaker>,
}

impl GatePoller {
    pub(crate) fn new() -> Self {
        GatePoller { gate: Arc::new(Gate::new()), host: None }
    }

    /// Has the gate wake `host` for the next wake that comes while the future is neither polled nor about to be. Call it
    /// before the poll: cloning `host` is foreign code that may wake the future.
    pub(crate) fn register(&mut self, host: &Waker) {
        let left = &self.gate.host;
        left.register(HostWaker::keep(&mut self.host, host, |old| drop(old.take_back(left))));
    }
}

impl Drop for GatePoller {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            drop(host.take_back(&self.gate.host));
            drop_quietly(host);
        }
    }
}
