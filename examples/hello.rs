//! How do I run a task?
//!
//! An executor, a task that spawns another, and no host: the thread sleeps while there is nothing to do.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::rc::Rc;

fn main() -> Result<(), clockworker::JoinError> {
    let ex = clockworker::Executor::new();
    let greeting = ex.block_on(async {
        // Tasks need not be `Send`: they stay on this thread.
        let name = Rc::new("world");
        let task = clockworker::spawn_local(async move { format!("hello, {name}") });
        task.await // the output, or a JoinError if the task panicked or was cancelled
    })?;
    println!("{greeting}");
    Ok(())
}
