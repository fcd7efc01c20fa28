//! How do I find the poll that keeps everybody waiting?
//!
//! Watch the executor: a poll that takes longer than a threshold is reported while it runs, with its queue, its group, and where its
//! task was spawned. A service writes that to standard error (`to_stderr()`); here it is collected and shown.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use clockworker::Executor;
use clockworker_observe::stalls::StallDetector;

fn main() -> Result<(), Box<dyn Error>> {
    let (tell, told) = channel();
    let ex = Executor::new();
    let reports = ex.new_queue("reports").create()?;
    let guard = StallDetector::new(Duration::from_millis(20))
        .rate_limit(5, Duration::from_secs(60))
        .on_stall(move |stall| _ = tell.send(stall.clone()))
        .watch(&ex)?;

    // So that the example ends once it has been found.
    let found = Arc::new(AtomicBool::new(false));
    let task = reports.group(7).spawn({
        let found = Arc::clone(&found);
        async move { sum_of_everything(&found) }
    });
    let watcher = std::thread::spawn(move || {
        let stall = told.recv();
        found.store(true, Ordering::Relaxed);
        stall
    });
    ex.block_on(task)?;

    let stall = watcher.join().map_err(|_| "the watcher has panicked")??;
    println!("{stall}");
    println!("seen: {}, not reported: {}", guard.stats().seen, guard.stats().suppressed);
    Ok(())
}

/// A long computation that never yields: see `long_computation` for what to do about it.
#[inline(never)]
fn sum_of_everything(found: &AtomicBool) -> u64 {
    (0..).take_while(|_| !found.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
}
