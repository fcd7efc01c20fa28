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

use clockworker::{Executor, JoinHandle, ManualClock, spawn_local, yield_now};
use futures::channel::oneshot;

use crate::support::{
    Probe, assert_finished, never_rests, output, poll_once, settle, settle_run, tick, untimed,
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
fn a_spawned_task_is_not_polled_before_somebody_runs_the_executor() {
    let ex = untimed();
    let probe = Probe::new();
    let task = ex.spawn(probe.future());
    // Time passes, other executors run, other threads wake it: none of that is a run.
    untimed().block_on(yield_now());
    let handle = ex.handle();
    thread::spawn(move || drop(handle.spawn(|| async {}))).join().unwrap();
    assert_eq!((probe.polls.get(), ex.stats().polls), (0, 0));
    settle(&ex);
    assert_eq!(probe.polls.get(), 1);
    probe.finish();
    assert_eq!(ex.block_on(task).unwrap(), 2);
}

#[test]
fn what_the_future_waits_for_is_run() {
    let ex = untimed();
    let (send, receive) = oneshot::channel();
    let sender = ex.spawn(async move { send.send(7).unwrap() });
    assert_eq!(ex.block_on(receive).unwrap(), 7);
    assert!(sender.is_finished());
    assert_finished(&ex.stats(), 1, 0, 0);
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
fn with_a_poll_cap_of_one_each_turn_is_one_poll() {
    let ex = Executor::builder().poll_cap(1).clock(ManualClock::new()).build().unwrap();
    let done = Rc::new(Cell::new(0));
    for _ in 0..50 {
        let done = Rc::clone(&done);
        drop(ex.spawn(async move { done.set(done.get() + 1) }));
    }
    for turn in 1..=50 {
        tick(&ex);
        assert_eq!((done.get(), ex.stats().polls), (turn, turn));
    }
    tick(&ex);
    assert_eq!((done.get(), ex.stats().polls), (50, 50), "a turn with nothing to do polls nobody");
}

/// Wakes itself at each poll as long as there are wakes left, which several share. Never done.
fn wakes_itself(left: &Rc<Cell<u32>>, polls: &Rc<Cell<u32>>) -> impl Future<Output = ()> + use<> {
    let (left, polls) = (Rc::clone(left), Rc::clone(polls));
    poll_fn(move |cx| {
        polls.set(polls.get() + 1);
        if let Some(rest) = left.get().checked_sub(1) {
            left.set(rest);
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

#[test]
fn tasks_that_wake_themselves_are_polled_until_they_stop() {
    let ex = untimed();
    let (left, polls) = (Rc::new(Cell::new(10)), Rc::default());
    for _ in 0..3 {
        drop(ex.spawn(wakes_itself(&left, &polls)));
    }
    settle(&ex);
    assert_eq!((left.get(), polls.get()), (0, 13), "ten wakes, and the first poll of each");
    settle(&ex);
    assert_eq!(polls.get(), 13);
}

#[test]
fn a_task_that_is_ready_is_done_before_those_before_it_are_polled_a_second_time() {
    let ex = untimed();
    let (left, polls) = (Rc::new(Cell::new(1_000_000)), Rc::new(Cell::new(0)));
    for _ in 0..3 {
        drop(ex.spawn(wakes_itself(&left, &polls)));
    }
    let counted = Rc::clone(&polls);
    let last = ex.spawn(async move { counted.get() });
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
fn another_threads_wake_ends_a_run_although_tasks_never_rest() {
    for through_task in [false, true] {
        let ex = untimed();
        for _ in 0..4 {
            drop(ex.spawn(never_rests()));
        }
        let (send, receive) = oneshot::channel();
        let (started, is_started) = mpsc::channel();
        let other = thread::spawn(move || {
            is_started.recv().unwrap();
            send.send("done").unwrap();
        });
        let answer = ex.block_on(async {
            yield_now().await;
            started.send(()).unwrap();
            if through_task { spawn_local(receive).await.unwrap().unwrap() } else { receive.await.unwrap() }
        });
        other.join().unwrap();
        assert_eq!(answer, "done");
    }
}

#[test]
fn another_threads_spawn_is_run_although_tasks_never_rest() {
    let ex = untimed();
    drop(ex.spawn(never_rests()));
    let handle = ex.handle();
    let (send, receive) = oneshot::channel();
    let other = thread::spawn(move || drop(handle.spawn(move || async move { send.send(3).unwrap() })));
    assert_eq!(ex.block_on(receive).unwrap(), 3);
    other.join().unwrap();
}

#[test]
fn hundreds_of_tasks_wait_for_one_thread_and_tell_one_task() {
    const TASKS: usize = 500;
    let ex = untimed();
    let mut got = ex
        .block_on(ex.spawn(async {
            let (tell, told) = futures::channel::mpsc::unbounded();
            let senders: Vec<oneshot::Sender<usize>> = (0..TASKS)
                .map(|i| {
                    let (send, receive) = oneshot::channel();
                    let tell = tell.clone();
                    drop(spawn_local(async move {
                        let number = receive.await.unwrap();
                        assert_eq!(number, i);
                        tell.unbounded_send(number).unwrap();
                    }));
                    send
                })
                .collect();
            drop(tell);
            let other = thread::spawn(move || {
                senders.into_iter().enumerate().for_each(|(i, send)| send.send(i).unwrap());
            });
            let got: Vec<usize> = futures::StreamExt::collect(told).await;
            other.join().unwrap();
            got
        }))
        .unwrap();
    got.sort_unstable();
    assert_eq!(got, Vec::from_iter(0..TASKS));
    assert_finished(&ex.stats(), TASKS as u64 + 1, 0, 0);
}

#[test]
fn a_handle_made_in_one_run_is_awaited_in_the_next() {
    let ex = untimed();
    let (send, receive) = oneshot::channel();
    let mut task = None;
    ex.block_on(async {
        task = Some(spawn_local(async move {
            yield_now().await;
            send.send(1).unwrap();
            2
        }));
    });
    let task = task.expect("it was spawned");
    let answers = ex.block_on(async { (receive.await.unwrap(), task.await.unwrap()) });
    assert_eq!(answers, (1, 2));
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

#[test]
fn a_host_that_polls_for_no_reason_polls_no_task_for_no_reason() {
    let ex = untimed();
    let probe = Probe::new();
    drop(ex.spawn(probe.future()));
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..100 {
        assert!(poll_once(&mut run).is_pending());
    }
    assert_eq!((probe.polls.get(), ex.stats().host_polls), (1, 100));
}
