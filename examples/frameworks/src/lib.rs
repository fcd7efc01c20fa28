//! What the frameworks' tests share: where code runs, an executor inside tokio, and a client.

#![forbid(unsafe_code)]

mod client;
mod place;

pub use client::{get, listen};
pub use place::place;

use clockworker::{Executor, Handle, Queue};
use tokio::runtime::Builder;

/// An executor with a queue named `requests`, as the tests see it.
#[derive(Clone, Debug)]
pub struct Host {
    /// The queue. Code that runs in it says so: [`place`].
    pub requests: Queue,
    /// For other threads, and for whoever must be `Send`.
    pub handle: Handle,
}

impl Host {
    /// Of that executor, whose queue is made.
    ///
    /// # Panics
    ///
    /// If it has such a queue already.
    pub fn of(ex: &Executor) -> Self {
        let requests = ex.new_queue("requests").share(9).create().expect("no queue has the name");
        Self { requests, handle: ex.handle() }
    }
}

/// Runs `body` in an executor inside tokio's `current_thread` runtime. `body` itself is in no queue.
///
/// # Panics
///
/// If there is no runtime to be had.
pub fn run<T>(body: impl AsyncFnOnce(Host) -> T) -> T {
    let rt = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let ex = Executor::new();
    let host = Host::of(&ex);
    rt.block_on(ex.run_until(body(host)))
}

/// The tasks that tokio's runtime has itself, the executor's host being none of them.
pub fn tasks_of_tokio() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}
