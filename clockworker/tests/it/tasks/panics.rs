//! Panics: contained in the task that panicked, told to whoever asks, and counted; everybody else goes on.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::{pending, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::rc::Rc;
use std::task::Poll;
use std::thread;

use clockworker::{Executor, JoinError, JoinHandle, yield_now};

use crate::support::{
    Count, MEANT, OnDrop, Probe, assert_finished, hold, hush, output, panic_as_meant, panic_of, poll_once,
    said, settle, tick, untimed, yields,
};

/// Panics when dropped.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_as_meant(self.0);
    }
}

/// The executor takes and runs tasks as ever.
#[track_caller]
pub(super) fn assert_usable(ex: &Executor) {
    let task = ex.spawn(async {
        yield_now().await;
        clockworker::spawn_local(async { 42 }).await.unwrap()
    });
    settle(ex);
    assert_eq!(output(task).unwrap(), 42);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
    assert_eq!(ex.block_on(async { 43 }), 43);
}

#[test]
fn a_panic_in_the_first_poll_is_given_to_the_handle() {
    let ex = untimed();
    let task = ex.spawn(async { panic_as_meant("first") });
    let other = ex.spawn(async { 1 });
    settle(&ex);
    assert_eq!(panic_of(output::<()>(task)), "first");
    assert_eq!(output(other).unwrap(), 1);
    assert_finished(&ex.stats(), 1, 0, 1);
    assert_usable(&ex);
}

#[test]
fn a_panic_in_a_later_poll_is_given_to_the_handle() {
    let ex = untimed();
    let probe = Probe::new();
    let inner = probe.future();
    let task = ex.spawn(async move {
        inner.await;
        panic_as_meant("later")
    });
    settle(&ex);
    probe.finish();
    settle(&ex);
    assert_eq!(panic_of(output::<()>(task)), "later");
    assert_eq!(probe.drops.get(), 1);
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
}

#[test]
fn a_panic_after_waking_itself_leaves_nothing_behind() {
    for remote in [false, true] {
        let ex = untimed();
        let task = ex.spawn(poll_fn(move |cx| -> Poll<()> {
            let waker = cx.waker();
            if remote {
                thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join().unwrap());
            } else {
                waker.wake_by_ref();
            }
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
fn the_futures_values_are_dropped_once_when_it_panics() {
    let ex = untimed();
    let probe = Probe::new();
    let inner = probe.future();
    let task = ex.spawn(async move {
        let _inner = inner;
        panic_as_meant("with a value")
    });
    settle(&ex);
    assert_eq!(probe.drops.get(), 1);
    drop::<JoinHandle<()>>(task);
    assert_eq!(probe.drops.get(), 1);
}

#[test]
fn a_panic_of_a_detached_task_is_counted_and_goes_nowhere() {
    let ex = untimed();
    drop::<JoinHandle<()>>(ex.spawn(async { panic_as_meant("detached") }));
    settle(&ex);
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
}

#[test]
fn a_panic_of_a_task_from_another_thread_is_given_there() {
    let ex = untimed();
    let handle = ex.handle();
    let (task, unmade) = thread::spawn(move || {
        let task = handle.spawn(|| async { panic_as_meant("from afar") });
        let unmade = handle.spawn(|| -> std::future::Ready<()> { panic_as_meant("in the closure") });
        (task, unmade)
    })
    .join()
    .unwrap();
    settle(&ex);
    let panics = thread::spawn(|| (panic_of(output::<()>(task)), panic_of(output(unmade)))).join().unwrap();
    assert_eq!(panics, ("from afar".to_owned(), "in the closure".to_owned()));
    assert_finished(&ex.stats(), 0, 0, 2);
}

#[test]
fn half_of_the_tasks_may_panic_and_the_other_half_completes() {
    let ex = untimed();
    let tasks: Vec<_> = (0..100)
        .map(|i| {
            ex.spawn(async move {
                yields(i % 7).await;
                if i % 2 == 0 { panic_as_meant("even") } else { i }
            })
        })
        .collect();
    settle(&ex);
    for (i, task) in tasks.into_iter().enumerate() {
        let result = output(task);
        if i % 2 == 0 {
            assert_eq!(panic_of(result), "even")
        } else {
            assert_eq!(result.unwrap(), i.try_into().unwrap())
        }
    }
    assert_finished(&ex.stats(), 50, 0, 50);
}

#[test]
fn a_panic_in_the_futures_drop_on_completion_takes_the_outputs_place() {
    let ex = untimed();
    let dropped = Count::default();
    let counted = dropped.clone();
    let mut bomb = Some(Bomb("future's drop"));
    let task = ex.spawn(poll_fn(move |_| {
        // Captured, so that it goes with the future and not in the poll.
        let _bomb = &mut bomb;
        Poll::Ready(counted.guard())
    }));
    settle(&ex);
    assert_eq!(panic_of(output(task)), "future's drop");
    assert_eq!(dropped.get(), 1, "the output was dropped");
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
}

#[test]
fn a_panic_in_the_futures_drop_on_abort_is_given_to_the_handle() {
    for polled in [false, true] {
        for woken in [false, true] {
            let ex = untimed();
            let probe = Probe::new();
            let (inner, bomb) = (probe.future(), Bomb("drop on abort"));
            let task = ex.spawn(async move {
                let _bomb = bomb;
                inner.await
            });
            if polled {
                settle(&ex);
                if woken {
                    probe.waker().wake();
                }
            }
            task.abort();
            tick(&ex);
            assert_eq!(panic_of(output(task)), "drop on abort");
            settle(&ex);
            assert_finished(&ex.stats(), 0, 0, 1);
            assert_usable(&ex);
        }
    }
}

#[test]
fn a_panic_in_a_futures_drop_when_the_executor_is_dropped_stops_nothing() {
    let ex = untimed();
    let probe = Probe::new();
    let before = ex.spawn(hold(Bomb("drop with the executor")));
    let bystander = ex.spawn(probe.future());
    let after = ex.spawn(hold(Bomb("drop with the executor")));
    settle(&ex);
    drop(ex);
    assert_eq!(panic_of(output(before)), "drop with the executor");
    assert_eq!(panic_of(output(after)), "drop with the executor");
    assert!(output(bystander).unwrap_err().is_cancelled());
    assert_eq!(probe.drops.get(), 1);
}

#[test]
fn an_executor_may_be_dropped_by_a_panic_although_futures_panic_in_their_drops() {
    let caught = catch_unwind(|| {
        let ex = untimed();
        ex.spawn(hold(Bomb("while unwinding")));
        settle(&ex);
        panic_as_meant("outside");
    });
    assert_eq!(said(caught.unwrap_err()), "outside");
}

#[test]
fn when_poll_and_drop_both_panic_the_first_is_told() {
    let ex = untimed();
    let bomb = Bomb("then its drop");
    let task = ex.spawn(poll_fn(move |_| -> Poll<()> {
        let _bomb = &bomb;
        panic_as_meant("the poll")
    }));
    settle(&ex);
    let error = output(task).unwrap_err();
    assert_finished(&ex.stats(), 0, 0, 1);
    assert_usable(&ex);
    assert_eq!(said(error.into_panic()), "the poll", "what went wrong first is what is to be told");
}

#[test]
fn a_panic_in_the_outputs_drop_is_the_readers_if_it_was_read() {
    let ex = untimed();
    let task = ex.spawn(async { Bomb("output, read") });
    settle(&ex);
    let read = output(task).unwrap();
    assert_eq!(said(catch_unwind(AssertUnwindSafe(|| drop(read))).unwrap_err()), "output, read");
    assert_finished(&ex.stats(), 1, 0, 0);
}

#[test]
fn a_panic_in_the_drop_of_an_output_nobody_wants_is_swallowed() {
    let ex = untimed();
    drop(ex.spawn(async { Bomb("output, detached") }));
    let kept = ex.spawn(async { Bomb("output, dropped with its handle") });
    let elsewhere = ex.spawn(async { Bomb("output, dropped on another thread") });
    settle(&ex);
    drop(kept);
    thread::spawn(move || drop(elsewhere)).join().unwrap();
    assert_finished(&ex.stats(), 3, 0, 0);
    assert_usable(&ex);
}

#[test]
fn a_panic_in_the_drop_of_an_output_after_the_executor_is_swallowed() {
    let ex = untimed();
    let task = ex.spawn(async { Bomb("output, after the executor") });
    settle(&ex);
    drop(ex);
    drop(task);
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
        for who in ["detached", "dropped handle", "aborted", "executor"] {
            let ex = untimed();
            BAD_PAYLOADS.set((depth, 0));
            let raise = || resume_unwind(Box::new(BadPayload));
            match who {
                "detached" => drop::<JoinHandle<()>>(ex.spawn(async move { raise() })),
                "dropped handle" => {
                    let task: JoinHandle<()> = ex.spawn(async move { raise() });
                    settle(&ex);
                    drop(task);
                }
                "aborted" => {
                    let task = ex.spawn(hold(OnDrop::new(raise)));
                    settle(&ex);
                    task.abort();
                    settle(&ex);
                    drop(task);
                }
                _ => drop(ex.spawn(hold(OnDrop::new(raise)))),
            }
            settle(&ex);
            if who == "executor" {
                drop(ex);
            } else {
                assert_finished(&ex.stats(), 0, 0, 1);
                assert_usable(&ex);
            }
            let (_, drops) = BAD_PAYLOADS.get();
            assert!((1..=depth + 1).contains(&drops), "{who}, depth {depth}: {drops} drops");
        }
    }
}

#[test]
fn a_panic_of_the_future_being_run_is_passed_on_and_the_executor_goes_on() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    let caught = catch_unwind(AssertUnwindSafe(|| {
        ex.block_on(async {
            yield_now().await;
            panic_as_meant("the main future")
        })
    }));
    assert_eq!(said(caught.unwrap_err()), "the main future");
    probe.finish();
    settle(&ex);
    assert_eq!(output(task).unwrap(), 2);
    assert_usable(&ex);
}

#[test]
fn a_panic_in_the_drop_of_the_future_being_run_is_passed_on_and_the_executor_goes_on() {
    for polls in [0, 1] {
        let ex = untimed();
        let mut run = Box::pin(ex.run_until(hold(Bomb("the main future's drop"))));
        for _ in 0..polls {
            assert!(poll_once(&mut run).is_pending());
        }
        let caught = catch_unwind(AssertUnwindSafe(|| drop(run)));
        assert_eq!(said(caught.unwrap_err()), "the main future's drop");
        assert_usable(&ex);
    }
}

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
    assert!(error.is_cancelled());
    let caught = catch_unwind(AssertUnwindSafe(|| error.into_panic())).unwrap_err();
    let text = caught.downcast_ref::<String>().unwrap();
    assert!(text.contains("did not panic") && text.contains("was aborted"), "{text}");
}

#[test]
fn a_panic_error_says_so_and_gives_the_payload() {
    hush();
    let ex = untimed();
    let panicked = |raise: fn()| {
        let task = ex.spawn(async move { raise() });
        settle(&ex);
        output(task).unwrap_err()
    };
    let error = panicked(|| panic!("meant: a literal"));
    let id = error.id();
    assert!(error.is_panic() && !error.is_cancelled() && !error.is_refused());
    assert_eq!(error.to_string(), format!("task {id} panicked with message \"meant: a literal\""));
    assert_eq!(format!("{error:?}"), format!("JoinError::Panic({id:?}, \"meant: a literal\", ...)"));
    assert_eq!(*error.into_panic().downcast::<&'static str>().unwrap(), "meant: a literal");

    let error = panicked(|| panic_as_meant("formatted"));
    assert!(error.to_string().ends_with("panicked with message \"meant: formatted\""));
    assert_eq!(*error.try_into_panic().unwrap().downcast::<String>().unwrap(), format!("{MEANT}formatted"));

    let error = panicked(|| resume_unwind(Box::new(7_u32)));
    let id = error.id();
    assert_eq!(error.to_string(), format!("task {id} panicked"));
    assert_eq!(format!("{error:?}"), format!("JoinError::Panic({id:?}, ...)"));
    let payload: Box<dyn Any + Send> = error.into_panic();
    assert_eq!(*payload.downcast::<u32>().unwrap(), 7);
}

#[test]
fn a_join_error_becomes_an_io_error_that_keeps_it() {
    hush();
    let ex = untimed();
    let task = ex.spawn(async { panic_any("meant: inside") });
    settle(&ex);
    let error: JoinError = output::<()>(task).unwrap_err();
    let text = error.to_string();
    let error = io::Error::from(error);
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::Other, text));
    let inner = error.into_inner().unwrap().downcast::<JoinError>().unwrap();
    assert!(inner.is_panic());
}

#[test]
fn counters_are_exact_after_a_mixture_of_ends() {
    let ex = untimed();
    let done = Rc::new(RefCell::new(0));
    let mut aborted = Vec::new();
    for i in 0..60 {
        let done = Rc::clone(&done);
        let task = ex.spawn(async move {
            match i % 3 {
                0 => *done.borrow_mut() += 1,
                1 => panic_as_meant("one in three"),
                _ => pending().await,
            }
        });
        if i % 3 == 2 {
            aborted.push(task);
        }
    }
    settle(&ex);
    assert_finished(&ex.stats(), 20, 0, 20);
    aborted.iter().for_each(JoinHandle::abort);
    settle(&ex);
    assert_finished(&ex.stats(), 20, 20, 20);
    assert_eq!((*done.borrow(), ex.stats().live), (20, 0));
}
