//! Polling an executor by hand, as a host does.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use clockworker::{Executor, ManualClock};

/// A waker that counts how often it was woken.
#[derive(Debug, Default)]
pub struct CountingWaker(AtomicUsize);

impl CountingWaker {
    /// The count, and the waker whose wakes it counts.
    pub fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        let waker = Waker::from(Arc::clone(&count));
        (count, waker)
    }

    /// How often it was woken.
    pub fn count(&self) -> usize {
        // Ordering: Acquire pairs with the Release of the wake.
        self.0.load(Ordering::Acquire)
    }
}

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Polls a future once, with a waker that does nothing.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// An executor whose time stands still: a turn of the host ends when nothing is ready or at the poll cap, and not because
/// the machine was slow or busy.
pub fn untimed() -> Executor {
    Executor::builder().clock(ManualClock::new()).build().expect("the defaults are in range")
}

/// One tick: the host polls the executor once.
pub fn tick(ex: &Executor) {
    let _never: Poll<()> = poll_once(&mut pin!(ex.run_until(pending())));
}

/// Runs the executor as a host does, that polls it again only when it was woken, until it is not woken any more.
pub fn settle(ex: &Executor) {
    let _never: Option<()> = settle_run(pin!(ex.run_until(pending())));
}

/// As [`settle`], for a run that was made already; its output, if it gave one.
pub fn settle_run<F: Future>(run: Pin<&mut F>) -> Option<F::Output> {
    let (wakes, waker) = CountingWaker::new();
    settle_with(run, &wakes, &waker)
}

/// As [`settle_run`], with a waker that is counted on afterwards.
pub fn settle_with<F: Future>(
    mut run: Pin<&mut F>,
    wakes: &CountingWaker,
    waker: &Waker,
) -> Option<F::Output> {
    for _ in 0..1_000_000 {
        let before = wakes.count();
        if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(waker)) {
            return Some(output);
        }
        if wakes.count() == before {
            return None;
        }
    }
    panic!("the executor has been asking its host for another poll a million times");
}
