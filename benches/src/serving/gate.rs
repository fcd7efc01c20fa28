//! What lets a server's background run only while the server has its window.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::workload::spin;

/// Lets the background run or rest, from another thread. It rests at first.
#[derive(Default)]
pub(crate) struct Gate {
    open: AtomicBool,
    /// Pieces of work so far; written by the server's thread only.
    done: AtomicU64,
    resting: Mutex<Vec<Waker>>,
}

impl Gate {
    /// Lets the background run.
    pub(crate) fn open(&self) {
        let resting = {
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            self.open.store(true, Ordering::Relaxed);
            mem::take(&mut *resting)
        };
        resting.into_iter().for_each(Waker::wake);
    }

    /// Lets it rest, after the poll under way.
    pub(crate) fn shut(&self) {
        let _resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        self.open.store(false, Ordering::Relaxed);
    }

    /// Pieces of work that the background has done so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Does a piece of work of so much CPU time, in one poll, once the background may run.
    pub(crate) async fn work(&self, time: Duration) {
        poll_fn(|cx| self.poll_work(cx, || time)).await;
    }

    /// Does a piece of work if the background may run; else the task is woken when it may.
    pub(crate) fn poll_work(&self, cx: &Context<'_>, time: impl FnOnce() -> Duration) -> Poll<()> {
        if !self.admits(cx) {
            return Poll::Pending;
        }
        spin::burn(time());
        // One writer: a load and a store do.
        self.done.store(self.done() + 1, Ordering::Relaxed);
        Poll::Ready(())
    }

    fn admits(&self, cx: &Context<'_>) -> bool {
        if self.open.load(Ordering::Relaxed) {
            return true;
        }
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have been opened meanwhile, but not while it is locked.
        let open = self.open.load(Ordering::Relaxed);
        if !open {
            resting.push(cx.waker().clone());
        }
        open
    }
}
