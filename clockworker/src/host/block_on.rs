//! No host: the thread sleeps until there is something to do.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use crate::sync::{Arc, AtomicBool, Signal, Thread, impl_wake, thread, waker_of};

/// Panics where this thread drives a tokio runtime. Tokio is asked to block on nothing, which it refuses there, with the reason.
#[cfg(feature = "tokio")]
#[track_caller]
pub(crate) fn assert_may_block() {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.block_on(std::future::ready(()));
    }
}

#[cfg(not(feature = "tokio"))]
pub(crate) fn assert_may_block() {}

/// Polls a future to the end on this thread, which sleeps in between.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Arc::new(Parker { woken: AtomicBool::new(false), thread: thread::current() });
    let waker = waker_of(Arc::clone(&parker));
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        parker.wait();
    }
}

/// Puts a thread to sleep until it is woken.
struct Parker {
    woken: AtomicBool,
    thread: Thread,
}

impl Parker {
    fn wait(&self) {
        // Ordering: Acquire pairs with the Release in `signal`.
        while !self.woken.swap(false, Ordering::Acquire) {
            // May return for no reason, hence the loop.
            thread::park();
        }
    }
}

impl_wake!(Parker);

impl Signal for Parker {
    fn signal(&self) {
        // Ordering: Release publishes what the waker's caller wrote to the Acquire in `wait`. `unpark` gives its token
        // after the flag, so a wait that misses the flag finds the token.
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}
