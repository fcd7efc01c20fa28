//! Visits of tokio as a host: which tasks it has deferred, and when it sees to its driver.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::schedulers::Ready;
use clockworker::{Executor, ManualClock};
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local, yield_now};

use crate::support::{Call, Spy, current_thread, never_rests};

/// Why tasks became ready: the slot and the reason.
type Seen = Rc<RefCell<Vec<(usize, Ready)>>>;

/// An executor with one poll a turn, and the reasons why its tasks became ready.
fn watched() -> (Executor, Seen) {
    let seen = Seen::default();
    let sees = Rc::clone(&seen);
    let spy = Spy::<false>::fifo().listening(move |call| {
        if let Call::Push(task, why) = call {
            sees.borrow_mut().push((task.id.slot(), why));
        }
    });
    let builder = Executor::builder().scheduler(spy).poll_cap(1).clock(ManualClock::new());
    (builder.build().unwrap(), seen)
}

/// Beside a task that always has work, so that each turn ends with a visit.
fn reasons(task: impl Future<Output = ()> + 'static, host: impl AsyncFnOnce(&Executor)) -> Vec<Ready> {
    let (ex, seen) = watched();
    let task = ex.spawn(task);
    ex.spawn(never_rests());
    current_thread().block_on(LocalSet::new().run_until(async {
        host(&ex).await;
        ex.run_until(task).await.unwrap();
    }));
    let seen = seen.borrow();
    seen.iter().filter(|(slot, _)| *slot == 0).map(|(_, why)| *why).skip(1).collect()
}

#[test]
fn a_task_that_awaits_tokios_yield_now_has_yielded_from_the_first_time_on() {
    let yields = async {
        for _ in 0..10 {
            yield_now().await;
        }
    };
    assert_eq!(reasons(yields, async |_| {}), [Ready::Deferred; 10]);
}

/// Also where both are deferred at once, so that the executor has nothing left to do.
#[test]
fn of_two_tasks_that_await_tokios_yield_now_each_has_a_turn_of_its_own() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let importers = [(); 2].map(|()| {
        let clock = clock.clone();
        ex.spawn(async move {
            for _ in 0..10 {
                clock.advance(Duration::from_micros(30));
                yield_now().await;
            }
        })
    });
    current_thread().block_on(ex.run_until(futures::future::join_all(importers)));
    let stats = ex.stats();
    // But for the first and the last turn, in which both have one.
    assert_eq!((stats.polls, stats.host_polls), (22, 20));
}

/// Not even after a turn that was long enough for a visit and left nothing, if tokio has looked for I/O meanwhile.
#[test]
fn a_task_that_is_woken_later_has_not_yielded() {
    let (seen, clock) = (Seen::default(), ManualClock::new());
    let sees = Rc::clone(&seen);
    let spy = Spy::<false>::fifo().listening(move |call| {
        if let Call::Push(task, why) = call {
            sees.borrow_mut().push((task.id.slot(), why));
        }
    });
    let ex = Executor::builder().scheduler(spy).clock(clock.clone()).build().unwrap();
    let (asks, answers) = (Rc::new(Notify::new()), Rc::new(Notify::new()));
    let (asked, answered) = (Rc::clone(&asks), Rc::clone(&answers));
    let task = ex.spawn(async move {
        for _ in 0..10 {
            clock.advance(Duration::from_micros(30));
            asks.notify_one();
            answered.notified().await;
        }
    });
    current_thread().block_on(LocalSet::new().run_until(async {
        spawn_local(async move {
            loop {
                asked.notified().await;
                for _ in 0..3 {
                    yield_now().await;
                }
                answers.notify_one();
            }
        });
        // In a task of its own, which tokio polls when it is woken.
        spawn_local(async move { ex.run_until(task).await }).await.unwrap().unwrap();
    }));
    let woken: Vec<Ready> = seen.borrow().iter().map(|(_, why)| *why).skip(1).collect();
    assert_eq!(woken, [Ready::Woken; 10]);
}

/// A service that is asked now and then has one turn for each request, also if that takes long, and not one more to see what tokio has
/// deferred. It is seen again soon after tokio has deferred anything.
#[test]
fn where_nothing_is_deferred_a_long_turn_has_no_other_after_it() {
    const REQUESTS: u64 = 100;
    let (seen, clock) = (Seen::default(), ManualClock::new());
    let sees = Rc::clone(&seen);
    let spy = Spy::<false>::fifo().listening(move |call| {
        if let Call::Push(task, why) = call {
            sees.borrow_mut().push((task.id.slot(), why));
        }
    });
    let ex = Rc::new(Executor::builder().scheduler(spy).clock(clock.clone()).build().unwrap());
    let turns = Rc::new(Cell::new(0));
    let (counted, of) = (Rc::clone(&turns), Rc::downgrade(&ex));
    let task = ex.spawn(async move {
        for _ in 0..REQUESTS {
            // tokio sleeps until then, which its paused clock does not take.
            tokio::time::sleep(Duration::from_millis(1)).await;
            clock.advance(Duration::from_micros(30));
        }
        counted.set(of.upgrade().unwrap().stats().host_polls);
        for _ in 0..80 {
            yield_now().await;
            clock.advance(Duration::from_micros(30));
        }
    });
    let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    paused.unwrap().block_on(ex.run_until(task)).unwrap();
    // The first, and after 1, 2, 4, 8, 16, 32 and 32 more.
    assert_eq!(turns.get(), REQUESTS + 1 + 7);
    let deferred = seen.borrow().iter().filter(|(_, why)| *why == Ready::Deferred).count();
    // From when the 27 turns are over that are still to pass.
    assert_eq!(deferred, 80 - 27);
}

#[test]
fn a_task_that_a_task_of_tokios_wakes_is_woken_however_often() {
    let (asks, answers) = (Rc::new(Notify::new()), Rc::new(Notify::new()));
    let (asked, answered) = (Rc::clone(&asks), Rc::clone(&answers));
    let task = async move {
        for _ in 0..40 {
            asks.notify_one();
            answered.notified().await;
        }
    };
    let host = async move |_: &Executor| {
        spawn_local(async move {
            loop {
                asked.notified().await;
                answers.notify_one();
            }
        });
    };
    let reasons = reasons(task, host);
    assert!(reasons.len() == 40 && reasons.iter().all(|why| *why == Ready::Woken), "{reasons:?}");
}

/// How many turns the executor has until a task beside it has seen tokio's driver run so often.
fn turns_for(times: u32, run: impl AsyncFnOnce(Rc<Executor>)) -> u64 {
    let (ex, _) = watched();
    let ex = Rc::new(ex);
    ex.spawn(never_rests());
    current_thread().block_on(LocalSet::new().run_until(async {
        run(Rc::clone(&ex)).await;
        for _ in 0..times {
            yield_now().await;
        }
    }));
    ex.stats().host_polls
}

/// A task that is woken at once is polled 61 times before the driver.
#[test]
fn in_a_task_of_tokios_its_driver_runs_after_each_turn() {
    let in_a_task =
        async |ex: Rc<Executor>| drop(spawn_local(async move { ex.run_until(pending::<()>()).await }));
    let turns = turns_for(100, in_a_task);
    assert!((100..=200).contains(&turns), "{turns}");
}

/// A task of `ex` that yields to it for so many turns.
async fn turns(times: u32) {
    for _ in 0..times {
        clockworker::yield_now().await;
    }
}

/// tokio's driver does not run there: what tokio has deferred is not woken.
#[test]
fn another_crates_block_on_inside_a_task_of_tokios_goes_on() {
    current_thread().block_on(LocalSet::new().run_until(async {
        spawn_local(async {
            let (ex, _) = watched();
            let task = ex.spawn(turns(1_000));
            futures::executor::block_on(ex.run_until(task)).unwrap();
        })
        .await
        .unwrap();
    }));
}

/// Also where tokio has polled the run before, or another run of that executor in turn.
#[test]
fn a_run_goes_on_in_another_crates_block_on_after_tokio_has_polled_it() {
    current_thread().block_on(LocalSet::new().run_until(async {
        spawn_local(async {
            let (ex, _) = watched();
            let left = Rc::new(Cell::new(500));
            let counts = Rc::clone(&left);
            let task = ex.spawn(async move {
                while counts.replace(counts.get() - 1) > 1 {
                    clockworker::yield_now().await;
                }
            });
            let mut other = pin!(ex.run_until(pending::<()>()));
            let mut run = pin!(ex.run_until(task));
            // By turns of tokio's, in which it shows that it wakes what is deferred.
            poll_fn(|cx| {
                assert!(run.as_mut().poll(cx).is_pending() && other.as_mut().poll(cx).is_pending());
                if left.get() < 250 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            futures::executor::block_on(run).unwrap();
        })
        .await
        .unwrap();
    }));
}
