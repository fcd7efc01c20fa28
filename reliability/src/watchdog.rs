//! Watches work that may hang.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::Args;
pub(crate) use clockworker_testing::pulse::Pulse;

/// How long work may stand still.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Patience {
    /// After how many seconds without progress the work is called stuck.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) patience: u64,
}

impl Patience {
    /// Does `work` on a thread of its own, with a pulse. `look` is called with its count some times a second.
    /// What the work gives; that it panicked; or, if the pulse stands still for too long, what `stuck` says to its count:
    /// the thread is left behind then, for the end of the process.
    pub(crate) fn watch<T: Send + 'static>(
        self,
        look: impl Fn(u64),
        work: impl FnOnce(Arc<Pulse>) -> anyhow::Result<T> + Send + 'static,
        stuck: impl FnOnce(u64) -> String,
    ) -> anyhow::Result<T> {
        const LOOK: Duration = Duration::from_millis(100);
        let pulse = Arc::new(Pulse::default());
        let (done, result) = mpsc::channel();
        let beats = Arc::clone(&pulse);
        let thread = thread::spawn(move || drop(done.send(work(beats))));
        let (mut last, mut still) = (pulse.count(), Duration::ZERO);
        while still < Duration::from_secs(self.patience) {
            match result.recv_timeout(LOOK) {
                Ok(result) => {
                    // It has nothing left to do but end.
                    drop(thread.join());
                    return result;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(panic_of(thread)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = pulse.count();
            look(now);
            still = if now == last { still + LOOK } else { Duration::ZERO };
            last = now;
        }
        bail!("nothing moved for {} s: {}", self.patience, stuck(last))
    }
}

fn panic_of(thread: thread::JoinHandle<()>) -> anyhow::Error {
    let payload = thread.join().err().unwrap_or_else(|| Box::new(()));
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&'static str>().copied());
    anyhow!("it panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_gives_its_result_and_a_panic_is_told() {
        let patience = Patience { patience: 60 };
        let fine = patience.watch(|_| {}, |_| Ok(3), |_| "stuck".into());
        assert_eq!(fine.unwrap(), 3);
        let bad = patience.watch::<()>(|_| {}, |_| panic!("as meant"), |_| "stuck".into());
        assert!(bad.unwrap_err().to_string().contains("as meant"));
    }

    #[test]
    fn work_that_hangs_is_given_up() {
        let (_keep, never) = mpsc::channel::<()>();
        let hang = move |_| Ok(never.recv()?);
        let stuck = Patience { patience: 1 }.watch(|_| {}, hang, |_| "it hangs".into());
        assert_eq!(stuck.unwrap_err().to_string(), "nothing moved for 1 s: it hangs");
    }
}
