//! Does my executor hang, and in which task?
//!
//! A dump is answered between polls, so never while one hangs. What is polled at the moment another thread can see: here one that looks
//! now and then, and says which poll has run for more than 20 ms. A service answers its liveness probe so.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clockworker::Executor;
use clockworker_observe::{Activity, ActivityKind, Observation, Observe, Observer};

const LIMIT: Duration = Duration::from_millis(20);

/// The poll that has run for longer than the limit, if one has.
fn hangs(observer: &Observer) -> Option<Activity> {
    let activity = observer.activity()?;
    let is_poll = matches!(activity.kind, ActivityKind::Poll(_));
    (is_poll && activity.so_far > LIMIT).then_some(activity)
}

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    ex.observe(Observation::new().activity())?;
    let observer = ex.observer();
    // So that the example ends once it has been found.
    let found = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&found);
    let probe = thread::spawn(move || {
        loop {
            if let Some(poll) = hangs(&observer) {
                found.store(true, Ordering::Relaxed);
                return poll;
            }
            thread::park_timeout(LIMIT / 4);
        }
    });
    let reports = ex.new_queue("reports").create()?;
    ex.block_on(reports.spawn(async move { sum_of_everything(&ends) }))?;
    println!("{}", probe.join().map_err(|_| "the probe has panicked")?);
    Ok(())
}

/// It never yields.
#[inline(never)]
fn sum_of_everything(ended: &AtomicBool) -> u64 {
    (0..).take_while(|_| !ended.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
}
