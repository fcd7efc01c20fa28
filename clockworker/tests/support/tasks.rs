//! Tasks that yield, and what tasks have given.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use clockworker::{JoinError, JoinHandle, yield_now};
use clockworker_testing::driving::poll_once;

/// Yields so many times.
pub(crate) async fn yields(times: u32) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Yields for ever.
pub(crate) async fn never_rests() {
    loop {
        yield_now().await;
    }
}

/// The output of a task that must have finished.
#[track_caller]
pub(crate) fn output<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll_once(&mut handle) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("task {} has not finished", handle.id()),
    }
}

/// Yields for ever, and counts its polls.
pub(crate) async fn counts_polls(polls: Rc<Cell<usize>>) {
    loop {
        polls.set(polls.get() + 1);
        yield_now().await;
    }
}
