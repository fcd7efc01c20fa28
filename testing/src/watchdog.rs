//! Watches work that may hang.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long work may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts what a piece of work has done, so that its watchdog sees that it goes on.
#[derive(Debug, Default)]
pub struct Pulse(AtomicU64);

impl Pulse {
    /// So much more was done.
    pub fn beat(&self, done: u64) {
        // Ordering: Relaxed, a number to look at.
        self.0.fetch_add(done, Ordering::Relaxed);
    }
}

/// Does `work` on a thread of its own, with a pulse, and gives what it gives.
///
/// # Panics
///
/// If the work does; or if the pulse stands still for a minute, with what `stuck` says of its count. The
/// thread is left behind then, for the end of the process.
pub fn watch<T: Send + 'static>(
    work: impl FnOnce(&Arc<Pulse>) -> T + Send + 'static,
    stuck: impl FnOnce(u64) -> String,
) -> T {
    let pulse = Arc::new(Pulse::default());
    let (done, result) = channel();
    let beats = Arc::clone(&pulse);
    let thread = thread::spawn(move || drop(done.send(work(&beats))));
    let mut last = None;
    loop {
        match result.recv_timeout(PATIENCE) {
            Ok(result) => {
                // It has nothing left to do but end.
                drop(thread.join());
                return result;
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it ends with a result or a panic"),
            },
            Err(RecvTimeoutError::Timeout) => {
                let count = pulse.0.load(Ordering::Relaxed);
                assert!(last != Some(count), "nothing moved for {PATIENCE:?}: {}", stuck(count));
                last = Some(count);
            }
        }
    }
}
