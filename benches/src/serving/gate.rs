//! What lets a server's background run only while the server has its window.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::workload::spin;

/// Lets the background run or rest, from another thread. It rests at first.
#[derive(Default)]
pub(crate) struct Gate {
    open: AtomicBool,
    opened: Notify,
    /// Pieces of work so far; written by the server's thread only.
    done: AtomicU64,
}

impl Gate {
    /// Lets the background run, or rest after the poll under way.
    pub(crate) fn set(&self, open: bool) {
        self.open.store(open, Ordering::Release);
        if open {
            self.opened.notify_waiters();
        }
    }

    /// Pieces of work that the background has done so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Does a piece of work, of as much CPU time as `time` says once the background may run.
    pub(crate) async fn work(&self, time: impl FnOnce() -> Duration) {
        while !self.open.load(Ordering::Acquire) {
            // It is woken by what opens the gate from here on; what did so before is seen.
            let opened = self.opened.notified();
            if !self.open.load(Ordering::Acquire) {
                opened.await;
            }
        }
        spin::burn(time());
        // One writer: a load and a store do.
        self.done.store(self.done() + 1, Ordering::Relaxed);
    }
}
