//! How do I stop, without losing what is under way?
//!
//! `shutdown` takes no more tasks, lets those there are finish until a deadline, which is any future of yours, then cancels
//! the rest, and says how many there were of each.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use clockworker::Executor;
use tokio::time::sleep;

/// Says when its task is dropped, finished or not.
struct Connection(&'static str);

impl Drop for Connection {
    fn drop(&mut self) {
        println!("{} is closed", self.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let ex = Executor::new();
    for (name, time) in [("a quick one", 1), ("one that takes a while", 20), ("one that hangs", 1_000_000)] {
        ex.spawn(async move {
            let connection = Connection(name);
            sleep(Duration::from_millis(time)).await;
            println!("{} is served", connection.0);
        });
    }
    // (Inside `async`, because tokio's timers are to be made inside its runtime.)
    let report = rt.block_on(async { ex.shutdown(sleep(Duration::from_millis(200))).await });
    println!("{report}"); // or its fields: completed, cancelled, panicked, drained

    let late = rt.block_on(ex.spawn(async {}));
    println!("late: {}", if late.is_err() { "refused" } else { "taken" });
    Ok(())
}
