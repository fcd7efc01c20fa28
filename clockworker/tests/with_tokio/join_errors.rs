//! Errors of tokio's tasks as errors of ours.

use std::future::pending;

use clockworker::{Executor, JoinError, spawn_local};
use tokio::runtime::Builder;

use crate::support::panic_as_meant;

/// What `?` gives in a function that awaits tasks of both.
async fn both(blocking: impl FnOnce() -> u32 + Send + 'static) -> Result<u32, JoinError> {
    let theirs = tokio::task::spawn_blocking(blocking).await?;
    Ok(theirs + spawn_local(async { 22 }).await?)
}

#[test]
fn both_pass_through_one_question_mark() {
    let rt = Builder::new_current_thread().build().unwrap();
    let ex = Executor::new();
    assert_eq!(rt.block_on(ex.run_until(both(|| 20))).unwrap(), 42);
    let error = rt.block_on(ex.run_until(both(|| panic_as_meant("blocking")))).unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled() && !error.is_refused());
    let said = error.to_string();
    assert!(said.contains("panicked with message") && said.contains("blocking"), "{said}");
}

#[test]
fn the_payload_and_the_number_are_kept() {
    let rt = Builder::new_current_thread().build().unwrap();
    let task = rt.spawn(async { std::panic::resume_unwind(Box::new(7_u8)) });
    let number = task.id().to_string();
    let error = JoinError::from(rt.block_on(task).unwrap_err() as tokio::task::JoinError);
    assert_eq!(error.id().to_string(), number);
    assert_eq!(*error.into_panic().downcast::<u8>().unwrap(), 7);
}

#[test]
fn a_cancelled_task_is_cancelled() {
    let rt = Builder::new_current_thread().build().unwrap();
    let aborted = rt.spawn(pending::<()>());
    aborted.abort();
    let error = JoinError::from(rt.block_on(aborted).unwrap_err());
    assert!(error.is_cancelled() && !error.is_panic() && !error.is_refused() && !error.is_full());
    assert_eq!(error.to_string(), format!("task {} was cancelled by tokio", error.id()));
    assert!(error.try_into_panic().is_err());
    // And by the end of its runtime.
    let left = rt.spawn(pending::<()>());
    drop(rt);
    let error = JoinError::from(futures::executor::block_on(left).unwrap_err());
    assert!(error.is_cancelled());
}
