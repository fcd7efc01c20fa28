//! What lets a server's background run only while the server has its window.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Lets the background run or rest, from another thread. It rests at first.
#[derive(Debug, Default)]
pub struct Gate {
    open: AtomicBool,
    /// Polls so far; written by the server's thread only.
    polls: AtomicU64,
    resting: Mutex<Vec<Waker>>,
}

impl Gate {
    /// Lets the background run.
    pub fn open(&self) {
        let resting = {
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            self.open.store(true, Ordering::Relaxed);
            mem::take(&mut *resting)
        };
        resting.into_iter().for_each(Waker::wake);
    }

    /// Lets it rest, after the poll under way.
    pub fn shut(&self) {
        let _resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        self.open.store(false, Ordering::Relaxed);
    }

    /// Polls so far.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Waits until the background may run.
    pub async fn admitted(&self) {
        poll_fn(|cx| if self.admits(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Whether a task may run; it is woken later if not.
    pub fn admits(&self, cx: &Context<'_>) -> bool {
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

    /// Counts a poll, or whatever the background's work is counted in.
    pub fn count(&self) {
        // One writer: a load and a store do.
        self.polls.store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}
