//! Idle queues: they run when no other has work, keep none waiting for more than a poll, and owe the others nothing.

use std::cell::RefCell;
use std::future::{Future, pending, ready};
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};

use super::shares::SECOND;
use crate::support::{OnDrop, Signal, Trace, VirtualTime, compute, poller, us};

fn idle(ex: &Executor, name: &str) -> Queue {
    ex.new_queue(name).idle().create().unwrap()
}

#[test]
fn a_queue_knows_whether_it_is_idle() {
    let ex = Executor::new();
    assert!(idle(&ex, "a").is_idle() && !ex.default_queue().is_idle());
    let text = format!("{:?}", ex.new_queue("b").idle());
    assert!(text.contains("idle: true"), "{text}");
}

#[test]
fn it_runs_when_no_other_queue_has_work() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    // However large its share, and whichever came first.
    let idle = ex.new_queue("idle").share(1_000_000).request(us(1)).idle().create().unwrap();
    idle.spawn(poller(&sim, &trace, "i", 3, us(10)));
    ex.spawn(poller(&sim, &trace, "a", 2, us(1_000)));
    ex.new_queue("b").create().unwrap().spawn(poller(&sim, &trace, "b", 2, us(1_000)));
    sim.drain(&ex);
    assert_eq!(trace.take(), "a1 b1 a2 b2 i1 i2 i3");
}

#[test]
fn beside_a_queue_that_always_has_work_it_is_never_served() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let idle = idle(&ex, "idle");
    idle.spawn(compute(&sim, us(10)));
    ex.spawn(compute(&sim, us(10)));
    sim.run(&ex, sim.sleep_until(SECOND));
    assert_eq!((idle.stats().polls, ex.default_queue().stats().busy), (0, SECOND));
}

/// A queue wakes in each microsecond of an idle queue's polls, by a timer: it is polled after the poll under way.
#[test]
fn it_delays_others_by_one_poll_at_most() {
    let poll = us(20);
    let (sim, late) = (VirtualTime::new(), Rc::new(RefCell::new(Vec::new())));
    let ex = sim.executor();
    for name in ["one", "two"] {
        idle(&ex, name).spawn(compute(&sim, poll));
    }
    ex.spawn({
        let (sim, late) = (sim.clone(), Rc::clone(&late));
        async move {
            for round in 0..1_000 {
                let due = sim.now() + us(90 + round % 20);
                sim.sleep_until(due).await;
                late.borrow_mut().push(sim.now() - due);
                sim.work(us(4));
            }
        }
    });
    sim.run(&ex, sim.sleep_until(us(150_000)));
    let late = late.borrow();
    assert_eq!((late.len(), late.iter().max()), (1_000, Some(&us(19))));
    assert!((0..20).all(|delay| late.contains(&us(delay))), "at each point of a poll");
}

/// The same by a spawn, by a wake and by another thread's spawn, in the middle of one of its polls.
#[test]
fn its_slice_ends_whatever_makes_another_queue_ready() {
    let (sim, trace, signal) = (VirtualTime::new(), Trace::new(), Signal::new());
    let ex = Rc::new(sim.executor());
    let handle = ex.handle();
    let waits = signal.clone();
    let noted = trace.clone();
    ex.spawn(async move {
        waits.wait().await;
        noted.note("woken");
    });
    let (sim2, trace2, ex2) = (sim.clone(), trace.clone(), Rc::clone(&ex));
    let last = idle(&ex, "idle").spawn(async move {
        for poll in 1..=5 {
            trace2.note(format!("i{poll}"));
            match poll {
                2 => drop(ex2.spawn(poller(&sim2, &trace2, "spawned", 2, us(5)))),
                3 => signal.set(),
                4 => {
                    let handle = handle.clone();
                    drop(std::thread::spawn(move || handle.spawn(|| async {})).join().unwrap());
                }
                _ => {}
            }
            sim2.work(us(10));
            yield_now().await;
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "i1 i2 spawned1 spawned2 i3 woken i4 i5");
    let idle = ex.stats().queues[1].clone();
    assert_eq!((idle.slices, idle.preemptions, idle.overruns), (4, 3, 0));
}

#[test]
fn idle_queues_share_among_themselves() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (one, three) = (idle(&ex, "one"), ex.new_queue("three").share(3).idle().create().unwrap());
    for queue in [&one, &three] {
        queue.spawn(compute(&sim, us(10)));
    }
    // Another has work for half of the time, in pieces.
    ex.spawn({
        let sim = sim.clone();
        async move {
            loop {
                sim.work(us(130));
                sim.sleep(us(130)).await;
            }
        }
    });
    sim.run(&ex, sim.sleep_until(SECOND));
    let (one, three) = (one.stats().busy, three.stats().busy);
    let all = one + three;
    assert!(all > SECOND * 2 / 5, "{all:?}");
    // Requests of 500 µs and polls of 10.
    assert!((one * 3).abs_diff(three) <= us(4 * 510), "{one:?} {three:?}");
}

#[test]
fn an_idle_queue_with_a_small_request_preempts_another() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let small = ex.new_queue("small").request(us(10)).idle().create().unwrap();
    let (sim2, trace2) = (sim.clone(), trace.clone());
    let last = idle(&ex, "long").spawn(async move {
        for poll in 1..=3 {
            trace2.note(format!("l{poll}"));
            sim2.work(us(20));
            if poll == 1 {
                small.spawn(poller(&sim2, &trace2, "s", 1, us(5)));
            }
            yield_now().await;
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "l1 s1 l2 l3");
}

/// What an idle queue had while the others slept is not held against them, nor them against each other.
#[test]
fn it_owes_nothing_and_is_owed_nothing() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let idle = idle(&ex, "idle");
    let [a, b] = ["a", "b"].map(|name| ex.new_queue(name).request(us(100)).create().unwrap());
    let run = |name, queue: &Queue| drop(queue.spawn(poller(&sim, &trace, name, 2, us(100))));
    for _ in 0..3 {
        let busy = idle.spawn(compute(&sim, us(50)));
        sim.run(&ex, sim.sleep(us(5_000)));
        busy.abort();
        run("a", &a);
        run("b", &b);
        sim.drain(&ex);
        assert_eq!(trace.take(), "a1 b1 a2 b2");
    }
    assert_eq!(idle.stats().busy, us(15_000));
}

#[test]
fn a_change_of_share_counts_among_idle_queues() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queues = ["a", "b"].map(|name| idle(&ex, name));
    queues.iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(10)))));
    sim.run(&ex, sim.sleep_until(us(100_000)));
    queues[0].set_share(4).unwrap();
    queues[0].set_request(us(100)).unwrap();
    let before = queues[0].stats().busy;
    sim.run(&ex, sim.sleep_until(us(200_000)));
    let got = queues[0].stats().busy - before;
    assert!(got.abs_diff(us(80_000)) <= us(1_000), "{got:?}");
}

// ---- Aborts, closing, shutdown

/// Aborts `tasks` tasks of an idle queue whose futures take `drop` to drop, beside a queue that always has work, in polls of
/// 10 µs: when each was dropped, and what the other queue had by the last.
fn aborted(tasks: usize, drop: Duration) -> (Vec<Duration>, Duration) {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let idle = idle(&ex, "idle");
    let dropped = Rc::new(RefCell::new(Vec::new()));
    let handles: Vec<_> = (0..tasks)
        .map(|_| {
            let (sim, dropped) = (sim.clone(), Rc::clone(&dropped));
            let guard = OnDrop::new(move || {
                sim.work(drop);
                dropped.borrow_mut().push(sim.now());
            });
            idle.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            })
        })
        .collect();
    // One of them goes on afterwards, and is not to be polled because of the drops.
    let stays = idle.spawn(compute(&sim, us(1)));
    ex.spawn(compute(&sim, us(10)));
    handles.iter().for_each(|handle| handle.abort());
    let busy = ex.default_queue();
    sim.run(&ex, async {
        for handle in handles {
            assert!(handle.await.unwrap_err().is_cancelled());
        }
    });
    assert_eq!(idle.stats().polls, 0);
    let had = busy.stats().busy;
    sim.run(&ex, sim.sleep(us(100_000)));
    assert_eq!((idle.stats().polls, stays.is_finished()), (0, false));
    (dropped.take(), had)
}

#[test]
fn aborted_futures_of_an_idle_queue_are_dropped_although_others_always_have_work() {
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
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let idle = idle(&ex, "idle");
    let noted = trace.clone();
    let guard = OnDrop::new(move || noted.note("dropped"));
    let victim = idle.spawn(async move {
        let _guard = guard;
        pending::<()>().await;
    });
    let (sim2, trace2) = (sim.clone(), trace.clone());
    let last = idle.spawn(async move {
        for poll in 1..=3 {
            trace2.note(format!("i{poll}"));
            if poll == 2 {
                victim.abort();
            }
            sim2.work(us(10));
            yield_now().await;
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "i1 i2 dropped i3");
}

#[test]
fn a_closed_idle_queue_drains_when_it_can() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let closed = idle(&ex, "idle");
    let last = closed.spawn(poller(&sim, &trace, "i", 2, us(10)));
    closed.close();
    ex.spawn(poller(&sim, &trace, "a", 2, us(10)));
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "a1 a2 i1 i2");
    assert_eq!(ex.stats().queues.len(), 1, "it is gone");
    // Its place may be any queue's.
    ex.new_queue("next").create().unwrap().spawn(poller(&sim, &trace, "n", 1, us(1)));
    idle(&ex, "last").spawn(poller(&sim, &trace, "l", 1, us(1)));
    sim.drain(&ex);
    assert_eq!(trace.take(), "n1 l1");
}

#[test]
fn a_shutdown_cancels_an_idle_queues_tasks_at_its_deadline() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let idle = idle(&ex, "idle");
    let starved = idle.spawn(compute(&sim, us(10)));
    ex.spawn(compute(&sim, us(10)));
    let report = ex.block_on_shutdown(ready(()));
    assert_eq!((report.cancelled, report.drained), (2, false));
    assert!(starved.is_finished());
}

#[test]
fn queues_of_both_kinds_come_and_go_by_the_hundred() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    for round in 0..300_u32 {
        let mut queue = ex.new_queue("some").share(1 + round % 7);
        if round % 3 != 0 {
            queue = queue.idle();
        }
        let queue = queue.create().unwrap();
        let tasks: Vec<_> = (0..round % 4).map(|_| queue.spawn(some_polls(&sim))).collect();
        queue.close();
        if round % 5 == 0 {
            tasks.iter().for_each(|task| task.abort());
        }
        if round % 2 == 0 {
            sim.drain(&ex);
        }
    }
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.queues.len(), stats.live), (1, 0));
}

fn some_polls(sim: &VirtualTime) -> impl Future<Output = ()> + use<> {
    poller(sim, &Trace::new(), "", 3, us(5))
}
