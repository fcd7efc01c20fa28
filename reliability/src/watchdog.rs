//! Watches work that may hang.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;

/// Counts what a piece of work has done, so that somebody else sees that it goes on.
#[derive(Debug, Default)]
pub struct Pulse(AtomicU64);

impl Pulse {
    /// So much more is done.
    pub fn beat(&self, done: u64) {
        // Ordering: Relaxed, a number to look at.
        self.0.fetch_add(done, Ordering::Relaxed);
    }

    /// How much is done.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does `work` on a thread of its own. If the pulse stands still for `patience`, fails with what `stuck` says; the thread
/// is left behind then, for the end of the process.
///
/// `look` is called with the pulse's count some times a second.
pub fn watch<T: Send + 'static>(
    pulse: &Pulse,
    patience: Duration,
    look: impl Fn(u64),
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    stuck: impl FnOnce() -> String,
) -> Result<T, Failure> {
    const LOOK: Duration = Duration::from_millis(100);
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || drop(done.send(work())));
    let (mut last, mut still) = (pulse.count(), Duration::ZERO);
    loop {
        match result.recv_timeout(LOOK) {
            Ok(result) => {
                // It has nothing left to do but end.
                drop(thread.join());
                return result;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::run(panic_of(thread))),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = pulse.count();
        look(now);
        still = if now == last { still + LOOK } else { Duration::ZERO };
        last = now;
        if still >= patience {
            return Err(Failure::run(stuck()));
        }
    }
}

fn panic_of(thread: thread::JoinHandle<()>) -> String {
    let payload = thread.join().err();
    let text = payload.as_ref().and_then(|payload| {
        payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&'static str>().copied())
    });
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_gives_its_result_and_a_panic_is_told() {
        let pulse = Pulse::default();
        let patience = Duration::from_secs(60);
        let fine = watch(&pulse, patience, |_| {}, || Ok(3), || "stuck".into());
        assert_eq!(fine.unwrap(), 3);
        let bad = watch::<()>(&pulse, patience, |_| {}, || panic!("as meant"), || "stuck".into());
        assert!(bad.unwrap_err().to_string().contains("as meant"));
    }

    #[test]
    fn work_that_hangs_is_given_up() {
        let (_keep, never) = mpsc::channel::<()>();
        let hang = move || drop_err(never.recv());
        let stuck = watch(&Pulse::default(), Duration::from_millis(200), |_| {}, hang, || "it hangs".into());
        assert_eq!(stuck.unwrap_err().to_string(), "it hangs");
    }

    fn drop_err(result: Result<(), mpsc::RecvError>) -> Result<(), Failure> {
        result.map_err(|error| Failure::run(error.to_string()))
    }
}
