//! Idle queues: they run when no other has work, keep none waiting for more than a poll, and owe the others nothing.

use std::cell::RefCell;
use std::future::ready;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::{Executor, yield_now};

use super::shares::SECOND;
use crate::support::*;

#[test]
fn a_queue_knows_whether_it_is_idle() {
    let ex = Executor::new();
    assert!(ex.new_queue("a").idle().create().unwrap().is_idle() && !ex.default_queue().is_idle());
    let text = format!("{:?}", ex.new_queue("b").idle());
    assert!(text.contains("idle: true"), "{text}");
}

#[test]
fn it_runs_when_no_other_queue_has_work() {
    // However large its share, and whichever came first.
    let ex = scene(
        "idle idle share=1000000 request=1
        b
        idle i: 10*3
        default a: 1000*2
        b b: 1000*2",
    );
    assert_eq!(drain(&ex), "a1 b1 a2 b2 i1 i2 i3");
}

#[test]
fn beside_a_queue_that_always_has_work_it_is_never_served() {
    let ex = scene("idle idle\n idle -: 10*\n default -: 10*");
    run(&ex, sleep_until(SECOND));
    assert_eq!((queue(&ex, "idle").stats().polls, busy(&ex, "default")), (0, SECOND));
}

/// A queue wakes in each microsecond of an idle queue's polls, by a timer: it is polled after the poll under way.
#[test]
fn it_delays_others_by_one_poll_at_most() {
    let late = Rc::new(RefCell::new(Vec::new()));
    let ex = scene("one idle\n two idle\n one -: 20*\n two -: 20*");
    let noted = Rc::clone(&late);
    ex.spawn(async move {
        for round in 0..1_000 {
            let due = now() + us(90 + round % 20);
            sleep_until(due).await;
            noted.borrow_mut().push(now() - due);
            work(us(4));
        }
    });
    run(&ex, sleep_until(us(150_000)));
    let late = late.borrow();
    assert_eq!((late.len(), late.iter().max()), (1_000, Some(&us(19))));
    assert!((0..20).all(|delay| late.contains(&us(delay))), "at each point of a poll");
}

/// By a spawn, by a wake and by another thread's spawn, in the middle of one of its polls.
#[test]
fn its_slice_ends_whatever_makes_another_queue_ready() {
    let (ex, signal) = (Rc::new(scene("idle idle")), Signal::new());
    let (waits, handle) = (signal.clone(), ex.handle());
    ex.spawn(async move {
        waits.wait().await;
        note("woken");
    });
    let inner = Rc::clone(&ex);
    let last = queue(&ex, "idle").spawn(async move {
        for poll in 1..=5 {
            note(format!("i{poll}"));
            match poll {
                2 => drop(inner.spawn(polls("spawned", 2, us(5)))),
                3 => signal.set(),
                4 => {
                    let handle = handle.clone();
                    drop(thread::spawn(move || handle.spawn(|| async {})).join().unwrap());
                }
                _ => {}
            }
            work(us(10));
            yield_now().await;
        }
    });
    run(&ex, last).unwrap();
    assert_eq!(trace(), "i1 i2 spawned1 spawned2 i3 woken i4 i5");
    let idle = queue(&ex, "idle").stats();
    assert_eq!((idle.slices, idle.preemptions, idle.overruns), (4, 3, 0));
}

#[test]
fn idle_queues_share_among_themselves() {
    let ex = scene("one idle\n three idle share=3\n one -: 10*\n three -: 10*");
    // Another has work for half of the time, in pieces.
    ex.spawn(async {
        loop {
            work(us(130));
            sleep(us(130)).await;
        }
    });
    run(&ex, sleep_until(SECOND));
    let (one, three) = (busy(&ex, "one"), busy(&ex, "three"));
    assert!(one + three > SECOND * 2 / 5, "{one:?} {three:?}");
    // Requests of 500 µs and polls of 10.
    assert!((one * 3).abs_diff(three) <= us(4 * 510), "{one:?} {three:?}");
}

#[test]
fn an_idle_queue_with_a_small_request_preempts_another() {
    let ex = scene(
        "small idle request=10
        long idle
        later small s: 5
        long l: 20+spawn(s) 20 20",
    );
    assert_eq!(drain(&ex), "l1 s1 l2 l3");
}

/// What an idle queue had while the others slept is not held against them, nor them against each other.
#[test]
fn it_owes_nothing_and_is_owed_nothing() {
    let ex = scene("idle idle\n a request=100\n b request=100");
    for _ in 0..3 {
        let always = queue(&ex, "idle").spawn(compute(us(50)));
        run(&ex, sleep(us(5_000)));
        always.abort();
        add(&ex, "a a: 100*2\n b b: 100*2");
        assert_eq!(drain(&ex), "a1 b1 a2 b2");
    }
    assert_eq!(busy(&ex, "idle"), us(15_000));
}

#[test]
fn a_change_of_share_counts_among_idle_queues() {
    let ex = scene("a idle\n b idle\n a -: 10*\n b -: 10*");
    run(&ex, sleep_until(us(100_000)));
    queue(&ex, "a").set_share(4).unwrap();
    queue(&ex, "a").set_request(us(100)).unwrap();
    let before = busy(&ex, "a");
    run(&ex, sleep_until(us(200_000)));
    let got = busy(&ex, "a") - before;
    assert!(got.abs_diff(us(80_000)) <= us(1_000), "{got:?}");
}

// ---- Aborts, closing, shutdown

/// Aborts `tasks` tasks of an idle queue whose futures take `drop` to drop, beside a queue that always has work, in polls of
/// 10 µs: when each was dropped, and what the other queue had by the last.
fn aborted(tasks: usize, drop: Duration) -> (Vec<Duration>, Duration) {
    let ex = scene("idle idle");
    let idle = queue(&ex, "idle");
    let dropped = Rc::new(RefCell::new(Vec::new()));
    let spawn = |_| {
        let dropped = Rc::clone(&dropped);
        idle.spawn(hold(OnDrop::new(move || {
            work(drop);
            dropped.borrow_mut().push(now());
        })))
    };
    let handles: Vec<_> = (0..tasks).map(spawn).collect();
    // One of them goes on afterwards, and is not to be polled because of the drops.
    let stays = idle.spawn(compute(us(1)));
    add(&ex, "default -: 10*");
    handles.iter().for_each(|handle| handle.abort());
    run(&ex, async {
        for handle in handles {
            assert!(handle.await.unwrap_err().is_cancelled());
        }
    });
    assert_eq!(idle.stats().polls, 0);
    let had = busy(&ex, "default");
    run(&ex, sleep(us(100_000)));
    assert_eq!((idle.stats().polls, stays.is_finished()), (0, false));
    (dropped.take(), had)
}

#[test]
fn aborted_futures_of_an_idle_queue_are_dropped_beside_a_busy_one() {
    let (dropped, _) = aborted(1, us(7));
    assert_eq!(dropped, [us(7)], "at once, as a queue that owes nothing is served first");
    // Many that are slow share the thread with the others, by the queue's share.
    let (dropped, had) = aborted(50, us(1_000));
    let last = dropped[49];
    assert!(last <= us(2 * 50_000 + 3_000), "{last:?}");
    assert!(had >= us(50_000 - 3_000), "{had:?}");
}

#[test]
fn an_aborted_future_ends_the_idle_queues_own_slice() {
    let ex = scene("idle idle");
    let idle = queue(&ex, "idle");
    let victim = idle.spawn(hold(OnDrop::new(|| note("dropped"))));
    let last = idle.spawn(async move {
        for poll in 1..=3 {
            note(format!("i{poll}"));
            if poll == 2 {
                victim.abort();
            }
            work(us(10));
            yield_now().await;
        }
    });
    run(&ex, last).unwrap();
    assert_eq!(trace(), "i1 i2 dropped i3");
}

#[test]
fn a_closed_idle_queue_drains_when_it_can() {
    let ex = scene("idle idle\n idle i: 10*2");
    queue(&ex, "idle").close();
    add(&ex, "default a: 10*2");
    assert_eq!(drain(&ex), "a1 a2 i1 i2");
    assert_eq!(ex.stats().queues.len(), 1, "it is gone");
    // Its place may be any queue's.
    add(&ex, "next\n last idle\n next n: 1\n last l: 1");
    assert_eq!(drain(&ex), "n1 l1");
}

#[test]
fn a_shutdown_cancels_an_idle_queues_tasks_at_its_deadline() {
    let ex = scene("idle idle\n default -: 10*");
    let starved = queue(&ex, "idle").spawn(compute(us(10)));
    let report = ex.block_on_shutdown(ready(()));
    assert_eq!((report.cancelled, report.drained), (2, false));
    assert!(starved.is_finished());
}
