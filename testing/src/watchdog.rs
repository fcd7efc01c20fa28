//! Watches work that may hang.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::pulse::Pulse;

/// How long work may stand still, in tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Does `work` on a thread of its own, with a pulse, and gives what it gives.
///
/// # Panics
///
/// If the work does; or if the pulse stands still for as long as `patience` says, with what `stuck` says of its count. The
/// thread is left behind then, for the end of the process.
pub fn watch<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce(&Arc<Pulse>) -> T + Send + 'static,
    stuck: impl FnOnce(u64) -> String,
) -> T {
    let pulse = Arc::new(Pulse::default());
    let (done, result) = channel();
    let beats = Arc::clone(&pulse);
    let thread = thread::spawn(move || drop(done.send(work(&beats))));
    let mut last = None;
    loop {
        match result.recv_timeout(patience) {
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
                let count = pulse.count();
                assert!(last != Some(count), "nothing moved for {patience:?}: {}", stuck(count));
                last = Some(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_gives_its_result() {
        assert_eq!(watch(PATIENCE, |_| 3, |_| "stuck".into()), 3);
    }

    #[test]
    #[should_panic(expected = "nothing moved for 20ms: 5 were done")]
    fn work_that_hangs_is_given_up() {
        let (_keep, never) = channel::<()>();
        let hang = move |pulse: &Arc<Pulse>| {
            pulse.beat(5);
            let _ = never.recv();
        };
        watch(Duration::from_millis(20), hang, |done| format!("{done} were done"));
    }
}
