//! Those who wait for room: in which order they are called, how many are woken, and what ends the waiting.

use std::future::pending;

use clockworker::{Executor, Queue, yield_now};

use crate::polled::{Polled, end, full, wakes};
use crate::support::{Count, complaint_of, hold, output, poll_once, settle, tick, untimed};

#[test]
fn where_there_is_room_there_is_no_waiting() {
    let ex = untimed();
    let mut waiter = Polled::new(ex.default_queue().spawn_when_room(pending()));
    assert_eq!(ex.stats().spawned, 0, "nothing before the first poll");
    waiter.answer().unwrap();
    assert_eq!((ex.stats().spawned, waiter.wakes.count()), (1, 0));
    assert_eq!(complaint_of(|| waiter.poll().is_ready()), "`SpawnWhenRoom` polled after completion");
}

#[test]
fn as_many_are_woken_as_there_is_room_for() {
    let ex = untimed();
    let (queue, mut tasks, mut waiters) = full(&ex, 4, 6);
    assert_eq!((queue.stats().waiting, queue.stats().refused), (6, 0));
    tasks.drain(..3).for_each(|task| task.abort());
    settle(&ex);
    assert_eq!(wakes(&waiters), [1, 1, 1, 0, 0, 0]);
    assert_eq!((queue.stats().live, queue.stats().waiting), (1, 3));
    // The order of polls is not the order of arrival: each has its own room.
    for i in [2, 0, 1] {
        waiters[i].answer().unwrap();
        assert!(waiters[3].poll().is_pending());
    }
    end(&ex, tasks.remove(0));
    assert_eq!(wakes(&waiters), [1, 1, 1, 1, 0, 0]);
    settle(&ex);
    assert_eq!((queue.stats().live, queue.stats().refused), (3, 0));
}

#[test]
fn no_other_spawn_overtakes() {
    let ex = untimed();
    let (queue, mut tasks, mut waiters) = full(&ex, 2, 1);
    end(&ex, tasks.remove(0));
    // The room is kept.
    for _ in 0..3 {
        assert!(queue.try_spawn(pending::<()>()).unwrap_err().is_full());
        assert!(output(queue.spawn(pending::<()>())).unwrap_err().is_full());
        settle(&ex);
    }
    let mut late = Polled::waiting(queue.spawn_when_room(pending()));
    waiters[0].answer().unwrap();
    end(&ex, tasks.remove(0));
    assert!(queue.try_spawn(pending::<()>()).is_err());
    late.answer().unwrap();
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
    let order = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    for i in 0..100_usize {
        let (narrow, order) = (narrow.clone(), order.clone());
        ex.spawn(async move {
            let inner = narrow.clone();
            let work = async move {
                assert!(inner.stats().live <= 3);
                for _ in 0..i % 4 {
                    yield_now().await;
                }
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
                    assert_eq!(
                        (polled.wakes.count(), polled.poll().is_ready()),
                        if i < called { (1, true) } else { (0, false) },
                        "{case}"
                    );
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
        let (queue, mut tasks, _) = full(&ex, 1, 0);
        let other = queue.clone();
        let waits = ex.spawn(async move { other.spawn_when_room(pending::<()>()).await.map(drop).is_ok() });
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
        tasks.clear();
    }
}

#[test]
fn a_larger_limit_calls_as_many_at_once() {
    let ex = untimed();
    let (queue, _tasks, mut waiters) = full(&ex, 2, 6);
    queue.set_max_live(Some(4)).unwrap();
    assert_eq!(wakes(&waiters), [1, 1, 0, 0, 0, 0]);
    queue.set_max_live(Some(1)).unwrap();
    waiters[1].answer().unwrap();
    waiters[0].answer().expect("what is promised stays");
    assert!(waiters[2].poll().is_pending());
    assert_eq!(queue.stats().live, 4);
    queue.set_max_live(None).unwrap();
    assert_eq!(wakes(&waiters), [1; 6]);
    waiters[2..].iter_mut().for_each(|polled| drop(polled.answer().unwrap()));
}

#[test]
fn room_for_ready_tasks_comes_with_polls() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_ready(2).create().unwrap();
    (0..2).for_each(|_| drop(queue.try_spawn(pending::<()>()).unwrap()));
    let mut waiters: Vec<_> = (0..3).map(|_| Polled::waiting(queue.spawn_when_room(pending()))).collect();
    settle(&ex);
    assert_eq!(wakes(&waiters), [1, 1, 0]);
    waiters[0].answer().unwrap();
    waiters[1].answer().unwrap();
    settle(&ex);
    assert_eq!(wakes(&waiters), [1, 1, 1]);
    waiters[2].answer().unwrap();
    assert_eq!((queue.stats().live, queue.stats().ready), (5, 1));
}

/// What ends the waiting, other than room.
fn ended_by(end: impl FnOnce(Executor, &Queue) -> Option<Executor>) -> (Vec<usize>, Vec<String>) {
    let ex = untimed();
    let (queue, mut tasks, mut waiters) = full(&ex, 2, 3);
    tasks[0].abort();
    tick(&ex);
    let kept = end(ex, &queue);
    let woken = wakes(&waiters);
    let refused = queue.stats().refused;
    let said = waiters.iter_mut().map(|polled| {
        let error = polled.answer().unwrap_err();
        let said = error.to_string();
        assert!(poll_once(&mut error.into_future()).is_pending(), "the future is whole");
        said
    });
    let said = said.collect();
    assert_eq!((queue.stats().refused - refused, queue.stats().waiting), (3, 0));
    tasks.clear();
    drop(kept);
    (woken, said)
}

#[test]
fn the_end_of_a_queue_or_executor_answers_all_that_wait() {
    let all = |said: &str| (vec![1; 3], vec![format!("the task was refused: its {said}"); 3]);
    let closed = ended_by(|ex, queue| {
        queue.close();
        Some(ex)
    });
    // The first had been called, and is woken no second time.
    assert_eq!(closed, all("queue is closed"));
    let shut_down = ended_by(|ex, _| {
        ex.block_on_shutdown(async {});
        Some(ex)
    });
    assert_eq!(shut_down, all("executor was shut down"));
    let dropped = ended_by(|ex, _| {
        drop(ex);
        None
    });
    assert_eq!(dropped, all("executor was dropped"));
}

/// A shutdown waits for the tasks that there are; those that wait for room among them are told, and finish.
#[test]
fn a_shutdown_does_not_hang_on_waiters() {
    let ex = untimed();
    let (queue, tasks, _) = full(&ex, 1, 0);
    let waits: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            ex.spawn(
                async move { queue.spawn_when_room(pending::<()>()).await.is_err_and(|e| e.is_stopped()) },
            )
        })
        .collect();
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
        let (queue, guard) = (queue.clone(), drops.guard());
        ex.spawn(async move { queue.spawn_when_room(hold(guard)).await.map(drop).is_ok() });
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
