//! Counts of what work has done.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what a piece of work has done, so that its watchdog sees that it goes on.
#[derive(Debug, Default)]
pub struct Pulse(AtomicU64);

impl Pulse {
    /// So much more was done.
    pub fn beat(&self, done: u64) {
        // Ordering: Relaxed, a number to look at.
        self.0.fetch_add(done, Ordering::Relaxed);
    }

    /// How much was done so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
