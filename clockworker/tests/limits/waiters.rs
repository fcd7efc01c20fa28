//! Those who wait for room in a queue or a group: in which order they are called, how many are woken, and what ends the waiting.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use clockworker::{Executor, Queue, yield_now};

use crate::polled::{Polled, end, full, wakes};
use crate::support::*;

#[test]
fn where_there_is_room_there_is_no_waiting() {
    let ex = untimed();
    let mut waiter = Polled::new(ex.default_queue().spawn_when_room(pending()));
    assert_eq!(ex.stats().spawned, 0, "nothing before the first poll");
    waiter.answer().unwrap();
    assert_eq!((ex.stats().spawned, waiter.wakes.count()), (1, 0));
    assert_eq!(complaint_of(|| waiter.poll().is_ready()), "`SpawnWhenRoom` polled after completion");
}

/// Room that a task makes in a slice is not taken by the next task of the slice.
#[test]
fn no_other_spawn_of_the_same_slice_overtakes() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(2).create().unwrap();
    drop(queue.spawn(yield_now()));
    let inner = queue.clone();
    let greedy = queue.spawn(async move {
        let mut spawned = 0;
        for _ in 0..10 {
            spawned += u32::from(inner.try_spawn(async {}).is_ok());
            yield_now().await;
        }
        spawned
    });
    let mut waiter = Polled::waiting(queue.spawn_when_room(pending()));
    settle(&ex);
    assert_eq!(output(greedy).unwrap(), 0);
    assert_eq!(waiter.wakes.count(), 1);
    waiter.answer().unwrap();
    assert!(queue.try_spawn(async {}).is_ok(), "none waits any more");
}

/// Tasks that wait spawn in the order in which they came, and never more than there is room for.
#[test]
fn a_hundred_tasks_are_served_in_order() {
    let ex = untimed();
    let narrow = ex.new_queue("narrow").max_live(3).create().unwrap();
    let order = Rc::new(RefCell::new(Vec::new()));
    for i in 0..100_usize {
        let (narrow, order) = (narrow.clone(), order.clone());
        ex.spawn(async move {
            let inner = narrow.clone();
            let work = async move {
                assert!(inner.stats().live <= 3);
                yields(i as u32 % 4).await;
                order.borrow_mut().push(i);
                i
            };
            assert_eq!(narrow.spawn_when_room(work).await.unwrap().await.unwrap(), i);
        });
    }
    settle(&ex);
    let stats = narrow.stats();
    assert_eq!((stats.completed, stats.waiting, stats.refused, ex.stats().live), (100, 0, 0, 0));
    let begun_at_most_two_late = order.borrow().iter().enumerate().all(|(at, &i)| i <= at + 2);
    assert!(begun_at_most_two_late, "{:?}", order.borrow());
}

/// All ways for five waiters to leave one by one, called or not, while room for them comes at any point.
#[test]
fn one_that_leaves_holds_up_none_behind() {
    for called in 0..=3 {
        for gone in 0..32_u32 {
            for reversed in [false, true] {
                let ex = untimed();
                let (queue, mut tasks, waiters) = full(&ex, 3, 5);
                tasks.drain(..called).for_each(|task| task.abort());
                settle(&ex);
                let mut waiters: Vec<Option<Polled>> = waiters.into_iter().map(Some).collect();
                let mut leaving: Vec<usize> = (0..5).filter(|i| gone & 1 << i != 0).collect();
                if reversed {
                    leaving.reverse();
                }
                leaving.into_iter().for_each(|i| waiters[i] = None);
                let case = format!("{called} called, {gone:05b} gone");
                let stay: Vec<&mut Polled> = waiters.iter_mut().flatten().collect();
                assert_eq!(queue.stats().waiting, stay.len().saturating_sub(called), "{case}");
                for (i, polled) in stay.into_iter().enumerate() {
                    let (wakes, ready) = (polled.wakes.count(), polled.poll().is_ready());
                    assert_eq!((wakes, ready), (usize::from(i < called), i < called), "{case}");
                }
                drop(waiters);
                assert_eq!(queue.stats().waiting, 0, "{case}");
                while queue.stats().live < 3 {
                    queue.try_spawn(pending::<()>()).expect("no room is lost");
                }
            }
        }
    }
}

#[test]
fn a_dropped_waiter_spawns_nothing_and_drops_its_future_once() {
    let ex = untimed();
    let (queue, tasks, _) = full(&ex, 1, 0);
    let drops = Count::default();
    let mut waiter = queue.spawn_when_room(hold(drops.guard()));
    assert!(poll_once(&mut waiter).is_pending());
    drop(waiter);
    assert_eq!(drops.get(), 1);
    tasks.into_iter().for_each(|task| end(&ex, task));
    assert_eq!((queue.stats().spawned, queue.stats().live), (1, 0));
}

/// A task that waits is aborted, before and after it was called.
#[test]
fn an_aborted_task_leaves_the_line() {
    for called in [false, true] {
        let ex = untimed();
        let (queue, tasks, _) = full(&ex, 1, 0);
        let waiter = queue.spawn_when_room(pending::<()>());
        let waits = ex.spawn(async move { waiter.await.map(drop).is_ok() });
        settle(&ex);
        let mut next = Polled::waiting(queue.spawn_when_room(pending()));
        if called {
            // The room is made, and the task that is called aborted before it is polled.
            tasks[0].abort();
            waits.abort();
        } else {
            waits.abort();
            settle(&ex);
            assert!(next.poll().is_pending());
            tasks[0].abort();
        }
        settle(&ex);
        assert_eq!((next.wakes.count(), output(waits).unwrap_err().is_cancelled()), (1, true));
        next.answer().unwrap();
    }
}

#[test]
fn the_end_of_a_queue_or_executor_answers_all_that_wait() {
    type End = fn(&mut Option<Executor>, &Queue);
    let ends: [(End, _); 3] = [
        (|_, queue| queue.close(), "queue is closed"),
        (|ex, _| _ = ex.as_ref().unwrap().block_on_shutdown(async {}), "executor was shut down"),
        (|ex, _| *ex = None, "executor was dropped"),
    ];
    for (end, said) in ends {
        let mut ex = Some(untimed());
        let (queue, tasks, mut waiters) = full(ex.as_ref().unwrap(), 2, 3);
        tasks[0].abort();
        tick(ex.as_ref().unwrap());
        let refused = queue.stats().refused;
        end(&mut ex, &queue);
        // The first had been called, and is woken no second time.
        assert_eq!(wakes(&waiters), [1; 3], "{said}");
        for polled in &mut waiters {
            let error = polled.answer().unwrap_err();
            assert_eq!(error.to_string(), format!("the task was refused: its {said}"));
            assert!(poll_once(&mut error.into_future()).is_pending(), "the future is whole");
        }
        assert_eq!((queue.stats().refused - refused, queue.stats().waiting), (3, 0));
    }
}

/// A shutdown waits for the tasks that there are; those that wait for room among them are answered, and finish.
#[test]
fn a_shutdown_does_not_hang_on_waiters() {
    let ex = untimed();
    let (queue, tasks, _) = full(&ex, 1, 0);
    let waits = [(); 3].map(|()| {
        let waiter = queue.spawn_when_room(pending::<()>());
        ex.spawn(async move { waiter.await.is_err_and(|error| error.is_stopped()) })
    });
    settle(&ex);
    tasks[0].abort();
    let report = ex.block_on_shutdown(pending::<()>());
    assert!(report.drained);
    // The abort may make room before the shutdown is known to a waiter; then its task is refused all the same.
    assert!(waits.into_iter().all(|task| output(task).unwrap()));
}

#[test]
fn an_executor_that_is_dropped_drops_what_waits_in_its_tasks() {
    let drops = Count::default();
    let ex = untimed();
    let (queue, _tasks, _) = full(&ex, 1, 0);
    for _ in 0..3 {
        let waiter = queue.spawn_when_room(hold(drops.guard()));
        ex.spawn(async move { waiter.await.map(drop).is_ok() });
    }
    settle(&ex);
    assert_eq!((queue.stats().waiting, drops.get()), (3, 0));
    drop(ex);
    assert_eq!((queue.stats().waiting, drops.get()), (0, 3));
}

#[test]
fn a_waiter_shows_its_queue() {
    let ex = untimed();
    let (_queue, _tasks, waiters) = full(&ex, 1, 1);
    assert_eq!(format!("{:?}", waiters[0].waiter), "SpawnWhenRoom { queue: \"full\", waits: true, .. }");
}

// ---- Groups

#[test]
fn a_group_lives_while_it_is_waited_for() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live_per_group(1).create().unwrap();
    let task = queue.group(1).try_spawn(pending()).unwrap();
    let mut waiter = Polled::waiting(queue.group(1).spawn_when_room(pending()));
    // Others take the index that would be free.
    end(&ex, task);
    let others: Vec<_> = (2..5).map(|key| queue.group(key)).collect();
    waiter.answer().unwrap();
    assert!(queue.group(1).try_spawn(async {}).unwrap_err().is_group_full());
    assert!(others.iter().all(|group| group.try_spawn(async {}).is_ok()));
}

#[test]
fn no_other_spawn_of_the_same_slice_overtakes_in_a_group() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live_per_group(1).create().unwrap();
    let group = queue.group(1);
    drop(group.spawn(async {}));
    let mut waiter = Polled::waiting(group.spawn_when_room(pending()));
    let greedy =
        queue.spawn(async move { group.try_spawn(async {}).is_err_and(|error| error.is_group_full()) });
    settle(&ex);
    assert!(output(greedy).unwrap());
    waiter.answer().unwrap();
}
