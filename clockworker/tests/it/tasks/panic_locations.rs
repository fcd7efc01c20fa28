//! A panic that is the caller's fault names the caller's line, not one of the executor's.

use std::future::{pending, ready};
use std::panic;

use clockworker::{Executor, spawn_local};

use crate::support::{complaint_of, place_of_panic, poll_once};

/// Holds a panic of `then` to a line of this file.
#[track_caller]
fn assert_line<T>(expected: u32, then: impl FnOnce() -> T) {
    assert_eq!(place_of_panic(then), (file!().to_owned(), expected));
}

#[test]
fn spawn_local_outside_an_executor() {
    let here = line!() + 1;
    assert_line(here, || spawn_local(async {}));
    // An executor that there is, and that nobody runs, does not help.
    let _ex = Executor::new();
    let here = line!() + 1;
    assert_line(here, || spawn_local(async {}));
}

#[test]
fn the_payload_of_a_task_that_did_not_panic() {
    let ex = Executor::new();
    let task = ex.spawn(pending::<()>());
    task.abort();
    let error = ex.block_on(task).unwrap_err();
    let here = line!() + 1;
    assert_line(here, || error.into_panic());
}

#[test]
fn a_tasks_own_panic() {
    let ex = Executor::new();
    let mut here = 0;
    let found = place_of_panic(|| {
        here = line!() + 1;
        let task = ex.spawn(async { panic!("here") });
        panic::resume_unwind(ex.block_on(task).map(|(): ()| ()).unwrap_err().into_panic());
    });
    assert_eq!(found, (file!().to_owned(), here));
}

#[test]
fn a_handle_that_is_polled_after_its_output_says_so() {
    let ex = Executor::new();
    let mut task = ex.spawn(ready(1));
    assert!(matches!(ex.block_on(&mut task), Ok(1)));
    assert_eq!(complaint_of(|| poll_once(&mut task)), "`JoinHandle` polled after completion");
}
