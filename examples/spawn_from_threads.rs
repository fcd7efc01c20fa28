//! How do I give work to the executor from other threads?
//!
//! With a `Handle`, which is `Send` and `Clone`. It takes a closure that makes the future, since the future itself need not
//! be `Send`: it is made, polled and dropped on the executor's thread. It sends without bound: `src/room.rs` has permits.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::rc::Rc;
use std::thread;

use clockworker::{Executor, Handle, JoinError};

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    ex.new_queue("sums").share(4).create()?;

    let threads: Vec<_> = (1..=3_u64)
        .map(|n| {
            let handle = ex.handle();
            thread::spawn(move || ask(&handle, n * 10))
        })
        .collect();

    // Join handles are futures for any thread and any executor: this thread awaits some of the threads' tasks itself.
    ex.block_on(async {
        for thread in threads {
            let task = thread.join().map_err(|_| "a thread panicked")?;
            println!("sum: {}", task.await?);
        }
        Ok::<_, Box<dyn Error>>(())
    })?;

    // A handle may outlive its executor, and then says so.
    let handle = ex.handle();
    drop(ex);
    let late = Executor::new().block_on(handle.spawn(|| async {}));
    println!("late: {}", if late.is_err_and(|error| error.is_cancelled()) { "refused" } else { "taken" });
    Ok(())
}

/// Spawns on the queue of that name; if there is none, the join handle says so.
fn ask(handle: &Handle, n: u64) -> clockworker::JoinHandle<u64> {
    let nobody = handle.spawn_on("no such queue", || async {});
    drop(nobody); // would be `Err(JoinError)`, with `is_refused()`
    handle.spawn_on("sums", move || async move {
        let numbers = Rc::new((1..=n).collect::<Vec<_>>()); // not `Send`, and need not be
        let part: Result<u64, JoinError> = clockworker::spawn_local({
            let numbers = Rc::clone(&numbers);
            async move { numbers.iter().sum() }
        })
        .await;
        part.unwrap_or_default()
    })
}
