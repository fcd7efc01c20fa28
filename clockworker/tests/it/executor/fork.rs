//! A child process made by `fork` cannot run its copy of an executor, and can make one of its own.

#![allow(unsafe_code, reason = "forking and leaving a child are calls of the C library")]

use std::future::pending;
use std::hint::black_box;
use std::time::Duration;

use clockworker::{Cap, Executor, Step, yield_now};

use crate::support::{caught, complaint_of, in_child, quietly};

/// Seconds until a child that hangs is ended.
const PATIENCE: u32 = 60;

/// Forks, has `then` called in the child, and panics if that did.
#[track_caller]
fn fork(then: impl FnOnce()) {
    // SAFETY: the child does what the test asks for, which takes no lock that another thread may hold, and ends.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: no condition.
            unsafe { libc::alarm(PATIENCE) };
            let has_panicked = caught(|| quietly(then)).is_err();
            // SAFETY: no condition. What the test harness does at an exit is for the parent to do.
            unsafe { libc::_exit(i32::from(has_panicked)) }
        }
        child => {
            let mut status = 0;
            // SAFETY: there is room for the status.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "it panicked, crashed or hung");
        }
    }
}

/// Parks while a queue is throttled: the alarm of the process wakes the executor.
fn waits_for_its_cap(ex: &Executor, name: &str) {
    let cap = Cap::new(Duration::from_micros(1), Duration::from_millis(1)).unwrap();
    let queue = ex.new_queue(name).cap(cap).create().unwrap();
    let computes = queue.spawn(async {
        for _ in 0..3 {
            (0..10_000).for_each(|i| _ = black_box(i));
            yield_now().await;
        }
    });
    ex.block_on(computes).unwrap();
    assert!(queue.stats().throttled_periods > 0);
}

#[test]
fn a_copy_is_not_run_and_a_new_one_is() {
    in_child(|| {
        let ex = Executor::new();
        waits_for_its_cap(&ex, "of the parent");
        assert_eq!(ex.run_for(Duration::ZERO), Step::Idle);
        fork(|| {
            let message = complaint_of(|| ex.block_on(async {}));
            assert!(message.contains("the process that this one was forked from"), "{message}");
            waits_for_its_cap(&Executor::new(), "of the child");
            drop(ex.spawn(pending::<()>()));
            assert_eq!(complaint_of(|| ex.run_for(Duration::ZERO)), message);
        });
        assert_eq!(ex.block_on(ex.spawn(async { 7 })).unwrap(), 7);
    });
}
