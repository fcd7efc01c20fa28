//! Panics of tasks and of the future being run: contained, given to their join handles, and counted; all others go on.
//! (Where a task may panic, and what its handle says then, is in `matrix`.) One that is the caller's fault names the
//! caller's line.

use std::cell::Cell;
use std::error::Error;
use std::future::{pending, poll_fn, ready};
use std::io;
use std::panic::{self, panic_any, resume_unwind};
use std::task::Poll;

use clockworker::{Executor, JoinError, JoinHandle, spawn_local, yield_now};

use crate::support::{
    OnDrop, assert_finished, assert_usable, bomb, complaint_of, hold, hush, on_thread, output,
    panic_as_meant, panic_of, parked, place_of_panic, poll_once, said, settle, settle_run, untimed, yields,
};

#[test]
fn a_panic_after_waking_itself_leaves_nothing_behind() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(poll_fn(move |cx| -> Poll<()> {
            let waker = cx.waker();
            on_thread(remote, || waker.wake_by_ref());
            panic_as_meant("after a wake")
        }));
        settle(&ex);
        assert_eq!(panic_of(output(task)), "after a wake");
        assert_eq!(ex.stats().polls, 1);
        assert_finished(&ex.stats(), 0, 0, 1);
        assert_usable(&ex);
    }
}

#[test]
fn counters_are_exact_after_a_mixture_of_ends() {
    let ex = untimed();
    let tasks: Vec<JoinHandle<usize>> = (0..60)
        .map(|i| {
            ex.spawn(async move {
                yields(i as u32 % 7).await;
                match i % 3 {
                    0 => i,
                    1 => panic_as_meant("one in three"),
                    _ => pending().await,
                }
            })
        })
        .collect();
    settle(&ex);
    assert_finished(&ex.stats(), 20, 0, 20);
    tasks.iter().for_each(JoinHandle::abort);
    settle(&ex);
    assert_finished(&ex.stats(), 20, 20, 20);
    assert_eq!(ex.stats().live, 0);
    for (i, task) in tasks.into_iter().enumerate() {
        match i % 3 {
            0 => assert_eq!(output(task).unwrap(), i),
            1 => assert_eq!(panic_of(output(task)), "one in three"),
            _ => assert!(output(task).unwrap_err().is_cancelled()),
        }
    }
}

#[test]
fn a_panic_in_a_futures_drop_with_the_executor_stops_nothing() {
    let ex = untimed();
    let before = ex.spawn(hold(bomb("drop with the executor")));
    let (probe, bystander) = parked(&ex);
    let after = ex.spawn(hold(bomb("drop with the executor")));
    settle(&ex);
    drop(ex);
    assert_eq!(panic_of(output(before)), "drop with the executor");
    assert_eq!(panic_of(output(after)), "drop with the executor");
    assert!(output(bystander).unwrap_err().is_cancelled());
    assert_eq!(probe.drops.get(), 1);
}

#[test]
fn a_panic_may_drop_an_executor_whose_futures_panic_in_their_drops() {
    let said = complaint_of(|| {
        let ex = untimed();
        ex.spawn(hold(bomb("while unwinding")));
        settle(&ex);
        panic_as_meant("outside");
    });
    assert_eq!(said, "outside");
}

#[test]
fn a_panic_in_the_drop_of_an_unread_output_is_swallowed() {
    for remote in [false, true] {
        for executor_is_gone in [false, true] {
            let mut ex = Some(untimed());
            let task = ex.as_ref().unwrap().spawn(async { bomb("unread output") });
            ex.iter().for_each(settle);
            if executor_is_gone {
                ex = None;
            }
            on_thread(remote, || drop(task));
            if let Some(ex) = &ex {
                assert_finished(&ex.stats(), 1, 0, 0);
                assert_usable(ex);
            }
        }
    }
}

thread_local! {
    /// How often payloads are still to panic when dropped, and how many were dropped.
    static BAD_PAYLOADS: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// A payload whose drop panics with another one, a number of times over. It holds nothing, so that those that have to be
/// given up in the end are no leak.
struct BadPayload;

impl Drop for BadPayload {
    fn drop(&mut self) {
        let (depth, drops) = BAD_PAYLOADS.get();
        BAD_PAYLOADS.set((depth.saturating_sub(1), drops + 1));
        if depth > 0 {
            resume_unwind(Box::new(BadPayload));
        }
    }
}

#[test]
fn a_panic_payload_may_panic_when_dropped() {
    for depth in 0..4 {
        for how in ["detached", "dropped handle", "aborted", "executor"] {
            let ex = untimed();
            BAD_PAYLOADS.set((depth, 0));
            let raise = || resume_unwind(Box::new(BadPayload));
            let task: JoinHandle<()> = match how {
                "detached" | "dropped handle" => ex.spawn(async move { raise() }),
                _ => ex.spawn(hold(OnDrop::new(raise))),
            };
            let task = (how != "detached").then_some(task);
            settle(&ex);
            if how == "aborted" {
                task.iter().for_each(JoinHandle::abort);
                settle(&ex);
            }
            drop(task);
            if how == "executor" {
                drop(ex);
            } else {
                assert_finished(&ex.stats(), 0, 0, 1);
                assert_usable(&ex);
            }
            let (_, drops) = BAD_PAYLOADS.get();
            assert!((1..=depth + 1).contains(&drops), "{how}, depth {depth}: {drops} drops");
        }
    }
}

#[test]
fn a_panic_of_the_future_being_run_is_passed_on_and_the_executor_goes_on() {
    let ex = untimed();
    let (probe, task) = parked(&ex);
    let mut run = Box::pin(ex.run_until(async {
        yield_now().await;
        panic_as_meant("the main future")
    }));
    assert_eq!(complaint_of(|| settle_run(run.as_mut()).map(|(): ()| ())), "the main future");
    drop(run);
    probe.finish();
    assert_eq!(ex.block_on(task).unwrap(), 2);
    assert_usable(&ex);
}

#[test]
fn a_panic_in_the_drop_of_the_future_being_run_is_passed_on() {
    for polls in [0, 1] {
        let ex = untimed();
        let mut run = Box::pin(ex.run_until(hold(bomb("the main future's drop"))));
        for _ in 0..polls {
            assert!(poll_once(&mut run).is_pending());
        }
        assert_eq!(complaint_of(|| drop(run)), "the main future's drop");
        assert_usable(&ex);
    }
}

/// What errors have in common with tokio's is in `drop_in/errors`.
#[test]
fn a_cancelled_error_says_so_and_has_no_payload() {
    let ex = untimed();
    let task = ex.spawn(pending::<()>());
    let id = task.id();
    task.abort();
    settle(&ex);
    let error = output(task).unwrap_err();
    assert!(error.is_cancelled() && !error.is_panic() && !error.is_refused());
    assert_eq!(error.id(), id);
    assert_eq!(error.to_string(), format!("task {id} was aborted"));
    assert_eq!(format!("{error:?}"), format!("JoinError::Cancelled({id:?}, Aborted)"));
    assert!(error.source().is_none());
    let error = error.try_into_panic().unwrap_err();
    let text = complaint_of(|| error.into_panic());
    assert!(text.contains("did not panic") && text.contains("was aborted"), "{text}");
}

#[test]
fn a_join_error_becomes_an_io_error_that_keeps_it() {
    hush();
    let ex = untimed();
    let task = ex.spawn(async { panic_any("meant: inside") });
    settle(&ex);
    let error: JoinError = output::<()>(task).unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled() && !error.is_refused());
    let text = error.to_string();
    let error = io::Error::from(error);
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::Other, text));
    let inner = error.into_inner().unwrap().downcast::<JoinError>().unwrap();
    assert_eq!(said(inner.into_panic()), "inside");
}

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
