//! [`Gate`]: a wait that is ended from elsewhere, by one wake.

use std::future::Future;
use std::pin::Pin;
use std::rc::Weak;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use super::ledger::{Ledger, Tally};
use super::shared::Shared;

#[derive(Debug)]
pub(super) struct Opener {
    open: Arc<AtomicBool>,
    pub(super) waker: Waker,
    ledger: Arc<Ledger>,
}

impl Opener {
    /// Ends the wait; one in four is woken before for nothing.
    pub(super) fn disturb_and_open(self) {
        if self.ledger.get(Tally::Wakes).is_multiple_of(4) {
            self.waker.wake_by_ref();
        }
        self.open();
    }

    pub(super) fn open(self) {
        // Ordering: Relaxed on purpose: it is the wake that has to publish this.
        self.open.store(true, Ordering::Relaxed);
        self.ledger.add(Tally::Wakes);
        self.waker.wake();
    }
}

/// Waits. At its first poll it hands out the [`Opener`].
pub(super) struct Gate {
    open: Arc<AtomicBool>,
    ledger: Arc<Ledger>,
    /// Who gets the opener; none once it was handed out.
    shared: Option<Weak<Shared>>,
}

impl Gate {
    pub(super) fn new(shared: &Shared) -> Self {
        shared.ledger.add(Tally::Waits);
        Gate { open: Arc::default(), ledger: Arc::clone(&shared.ledger), shared: Some(shared.me.clone()) }
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(shared) = self.shared.take() {
            let (open, ledger) = (Arc::clone(&self.open), Arc::clone(&self.ledger));
            if let Some(shared) = shared.upgrade() {
                shared.hand_out(Opener { open, waker: cx.waker().clone(), ledger });
            }
            return Poll::Pending;
        }
        self.ledger.beat();
        if self.open.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.ledger.add(Tally::WaitsOver);
    }
}
