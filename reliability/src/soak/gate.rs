//! A wait that is ended from elsewhere, by one wake.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use super::ledger::{Ledger, Tally};

/// The side of whoever ends the wait.
#[derive(Debug)]
pub(super) struct Opener {
    open: Arc<AtomicBool>,
    waker: Waker,
    ledger: Arc<Ledger>,
}

impl Opener {
    /// Ends the wait.
    pub(super) fn open(self) {
        // Ordering: Relaxed on purpose: it is the wake that has to publish this.
        self.open.store(true, Ordering::Relaxed);
        self.ledger.add(Tally::Wakes);
        self.waker.wake();
    }

    /// Wakes without ending the wait.
    pub(super) fn disturb(&self) {
        self.waker.wake_by_ref();
    }
}

/// Waits. At its first poll it hands out the [`Opener`].
pub(super) struct Gate<F: FnOnce(Opener)> {
    open: Arc<AtomicBool>,
    ledger: Arc<Ledger>,
    hand_out: Option<F>,
}

impl<F: FnOnce(Opener)> Gate<F> {
    pub(super) fn new(ledger: &Arc<Ledger>, hand_out: F) -> Self {
        ledger.add(Tally::Waits);
        Gate { open: Arc::default(), ledger: Arc::clone(ledger), hand_out: Some(hand_out) }
    }
}

impl<F: FnOnce(Opener) + Unpin> Future for Gate<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(hand_out) = self.hand_out.take() {
            let (open, ledger) = (Arc::clone(&self.open), Arc::clone(&self.ledger));
            hand_out(Opener { open, waker: cx.waker().clone(), ledger });
            return Poll::Pending;
        }
        self.ledger.pulse.beat(1);
        if self.open.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<F: FnOnce(Opener)> Drop for Gate<F> {
    fn drop(&mut self) {
        self.ledger.add(Tally::WaitsOver);
    }
}
