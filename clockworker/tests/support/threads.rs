//! Other threads.

use std::thread;

use clockworker::Executor;
use futures::channel::oneshot;

/// Runs a closure on another thread, until that has ended.
pub(crate) fn elsewhere<T: Send>(then: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(then).join().expect("the other thread did not panic"))
}

/// Runs a closure [`elsewhere`] or here.
pub(crate) fn on_thread<T: Send>(is_other: bool, then: impl FnOnce() -> T + Send) -> T {
    if is_other { elsewhere(then) } else { then() }
}

/// Runs the executor until a closure on another thread has ended.
pub(crate) fn serve<T: Send + 'static>(ex: &Executor, other: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = oneshot::channel();
    let thread = thread::spawn(move || drop(tell.send(other())));
    let output = ex.block_on(told).expect("the other thread did not panic");
    thread.join().expect("it has ended");
    output
}
