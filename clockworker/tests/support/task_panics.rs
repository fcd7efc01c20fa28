//! Panics of tasks.

use clockworker::JoinError;

use super::said;

/// What the panic of a task said.
#[track_caller]
pub(crate) fn panic_of<T>(result: Result<T, JoinError>) -> String {
    match result {
        Ok(_) => panic!("the task gave an output"),
        Err(error) => said(error.into_panic()),
    }
}
