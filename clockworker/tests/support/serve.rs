//! Executors that run for another thread.

use std::thread;

use clockworker::Executor;
use futures::channel::oneshot;

/// Runs the executor until a closure on another thread has ended.
pub(crate) fn serve<T: Send + 'static>(ex: &Executor, other: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = oneshot::channel();
    let thread = thread::spawn(move || drop(tell.send(other())));
    let output = ex.block_on(told).expect("the other thread did not panic");
    thread.join().expect("it has ended");
    output
}
