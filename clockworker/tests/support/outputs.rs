//! Outputs of tasks that must have finished.

use std::task::Poll;

use clockworker::{JoinError, JoinHandle};
use clockworker_testing::driving::poll_once;

/// The output of a task that must have finished.
#[track_caller]
pub(crate) fn output<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll_once(&mut handle) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("task {} has not finished", handle.id()),
    }
}
