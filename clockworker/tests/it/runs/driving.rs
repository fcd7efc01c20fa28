//! How far one drive of the executor goes: until a future is done, or until nobody can go on; and what it leaves to the
//! next.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;

use clockworker::{JoinHandle, spawn_local, yield_now};
use futures::channel::oneshot;

use crate::support::{
    Probe, assert_finished, counts_polls, never_rests, output, settle, settle_run, tick, untimed,
};

#[test]
fn the_future_being_run_may_borrow_from_its_caller() {
    let ex = untimed();
    let mut runs = 0;
    let text = String::from("borrowed");
    let length = ex.block_on(async {
        runs += 1;
        yield_now().await;
        text.len()
    });
    assert_eq!((runs, length), (1, 8));
}

#[test]
fn a_drive_of_nothing_is_over_at_once_however_often() {
    let ex = untimed();
    for _ in 0..3 {
        settle(&ex);
        ex.block_on(ready(()));
    }
    let stats = ex.stats();
    assert_eq!((stats.polls, stats.slices, stats.host_yields), (0, 0, 0));
}

#[test]
fn tasks_that_never_end_do_not_keep_a_run_from_ending() {
    let ex = untimed();
    let tasks: Vec<JoinHandle<()>> = (0..10).map(|_| ex.spawn(pending())).collect();
    ex.block_on(ex.spawn(async {})).unwrap();
    assert!(tasks.iter().all(|task| !task.is_finished()));
    assert_eq!((ex.stats().polls, ex.stats().live), (11, 10));
}

#[test]
fn tasks_spawned_by_tasks_are_polled_in_the_same_drive() {
    // A chain of a thousand, each spawned by the one before and awaited by it.
    fn nest(depth: u32) -> Pin<Box<dyn Future<Output = u32>>> {
        Box::pin(async move {
            match depth {
                0 => 0,
                _ => spawn_local(nest(depth - 1)).await.unwrap() + 1,
            }
        })
    }
    // On a clock that stands still, so that the host is never due.
    let ex = untimed();
    let task = ex.spawn(nest(1_000));
    tick(&ex);
    assert_eq!(output(task).unwrap(), 1_000);
    assert_finished(&ex.stats(), 1_001, 0, 0);
}

#[test]
fn each_drive_polls_all_that_is_ready_and_the_next_goes_on() {
    const ROUNDS: usize = 100;
    let ex = untimed();
    let done = Rc::new(Cell::new(0));
    for round in 1..=ROUNDS {
        for _ in 0..3 {
            drop(ex.spawn(pending::<()>()));
            let done = Rc::clone(&done);
            drop(ex.spawn(async move { done.set(done.get() + 1) }));
            drop(ex.spawn(pending::<()>()));
        }
        assert_eq!(done.get(), 3 * (round - 1));
        settle(&ex);
        assert_eq!(done.get(), 3 * round);
        // Those that wait are not polled again.
        assert_eq!(ex.stats().polls as usize, 9 * round);
    }
    assert_eq!(ex.stats().live, 6 * ROUNDS);
}

#[test]
fn a_task_that_is_ready_is_done_before_others_are_polled_a_second_time() {
    let ex = untimed();
    let polls = Rc::new(Cell::new(0));
    for _ in 0..3 {
        drop(ex.spawn(counts_polls(Rc::clone(&polls))));
    }
    let last = ex.spawn(async move { polls.get() });
    assert_eq!(ex.block_on(last).unwrap(), 3);
}

#[test]
fn two_tasks_that_wake_themselves_take_turns() {
    let ex = untimed();
    let order = Rc::new(RefCell::new(Vec::new()));
    for name in ['a', 'b'] {
        let order = Rc::clone(&order);
        drop(ex.spawn(async move {
            for _ in 0..50 {
                order.borrow_mut().push(name);
                yield_now().await;
            }
        }));
    }
    settle(&ex);
    assert_eq!(order.borrow().iter().collect::<String>(), "ab".repeat(50));
}

#[test]
fn a_future_that_parks_its_thread_itself_does_not_swallow_its_wake() {
    // `block_on` sleeps by parking the thread; what is run may do the same for purposes of its own, and use up the
    // unpark that came with a wake.
    let ex = untimed();
    for in_task in [false, true] {
        let parks = |cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            let (own, told) = (thread::current(), Arc::new(AtomicBool::new(false)));
            let tell = Arc::clone(&told);
            let other = thread::spawn(move || {
                tell.store(true, Ordering::Release);
                own.unpark();
            });
            while !told.load(Ordering::Acquire) {
                thread::park();
            }
            other.join().unwrap();
            // There may be an unpark left over from the other thread; it is taken here.
            thread::park_timeout(std::time::Duration::ZERO);
        };
        let mut polls = 0;
        let future = poll_fn(move |cx| {
            polls += 1;
            if polls > 3 {
                return Poll::Ready(polls);
            }
            parks(cx);
            Poll::Pending
        });
        let polls = if in_task { ex.block_on(ex.spawn(future)).unwrap() } else { ex.block_on(future) };
        assert_eq!(polls, 4);
    }
}

#[test]
fn of_two_executors_driven_side_by_side_each_polls_its_own_tasks() {
    let (left, right) = (untimed(), untimed());
    let (mut one, mut two) = (pin!(left.run_until(pending::<()>())), pin!(right.run_until(pending::<()>())));
    assert!(settle_run(one.as_mut()).is_none());
    assert!(settle_run(two.as_mut()).is_none());
    let probe = Probe::new();
    drop(left.spawn(probe.future()));
    assert!(settle_run(two.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 0);
    assert!(settle_run(one.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 1);
    probe.waker().wake();
    assert!(settle_run(two.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 1);
    assert!(settle_run(one.as_mut()).is_none());
    assert_eq!(probe.polls.get(), 2);
    assert_eq!((left.stats().polls, right.stats().polls), (2, 0));
}

#[test]
fn what_another_thread_does_ends_a_run_although_tasks_never_rest() {
    for how in ["wakes the main future", "wakes a task", "spawns"] {
        let ex = untimed();
        for _ in 0..4 {
            drop(ex.spawn(never_rests()));
        }
        let (send, receive) = oneshot::channel();
        let (started, is_started) = mpsc::channel();
        let handle = ex.handle();
        let other = thread::spawn(move || {
            is_started.recv().unwrap();
            if how == "spawns" {
                drop(handle.spawn(move || async move { send.send("done").unwrap() }));
            } else {
                send.send("done").unwrap();
            }
        });
        let answer = ex.block_on(async {
            yield_now().await;
            started.send(()).unwrap();
            if how == "wakes a task" { spawn_local(receive).await.unwrap() } else { receive.await }
        });
        other.join().unwrap();
        assert_eq!(answer.unwrap(), "done");
    }
}

#[test]
fn an_executor_made_inside_a_run_works_outside_it() {
    let outer = untimed();
    let inner = outer.block_on(async {
        let inner = untimed();
        drop(inner.spawn(never_rests()));
        inner
    });
    drop(outer);
    assert_eq!(inner.block_on(async { spawn_local(async { 5 }).await.unwrap() }), 5);
}
