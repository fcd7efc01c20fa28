//! Other threads.

use std::thread;

/// Runs a closure on another thread, until that has ended.
pub(crate) fn elsewhere<T: Send>(then: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(then).join().expect("the other thread did not panic"))
}

/// Runs a closure [`elsewhere`] or here.
pub(crate) fn on_thread<T: Send>(is_other: bool, then: impl FnOnce() -> T + Send) -> T {
    if is_other { elsewhere(then) } else { then() }
}
