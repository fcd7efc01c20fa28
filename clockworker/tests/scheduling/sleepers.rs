//! Queues that sleep now and then: what they are owed and what they owe survives, and no pattern of sleep gains anything.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::shares::SECOND;
use crate::support::{Signal, Trace, VirtualTime, compute, us};

/// A queue that works in polls of `poll` and sleeps for `nap` after each, beside one that always works, for 1 s. What it
/// got, and how long it was asleep.
fn napper(share: u32, request: Duration, poll: Duration, nap: Duration) -> (Duration, Duration) {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let busy = ex.new_queue("busy").share(1).create().unwrap();
    let napping = ex.new_queue("napping").share(share).request(request).create().unwrap();
    busy.spawn(compute(&sim, us(1)));
    let asleep = Rc::new(Cell::new(Duration::ZERO));
    napping.spawn({
        let (sim, asleep) = (sim.clone(), Rc::clone(&asleep));
        async move {
            loop {
                sim.work(poll);
                let wake = sim.now() + nap;
                sim.sleep_until(wake).await;
                asleep.set(asleep.get() + nap);
            }
        }
    });
    sim.run(&ex, sim.sleep_until(SECOND));
    (napping.stats().busy, asleep.get())
}

/// A queue that sleeps for a moment after each poll gets no more than one that does not, to the request and poll that
/// anybody may be ahead by; and loses no more than it slept, and a request and poll.
#[test]
fn a_micro_sleeper_gains_nothing_and_loses_only_its_sleep() {
    for (share, poll, nap) in [(1, 90, 1), (1, 300, 1), (1, 7, 3), (9, 90, 1), (3, 500, 20), (1, 1_000, 10)] {
        for request in [us(50), us(500)] {
            let (got, asleep) = napper(share, request, us(poll), us(nap));
            let owed = SECOND * share / (share + 1);
            let slack = request + us(poll);
            assert!(got <= owed + slack, "{share} {poll} {nap} {request:?}: got {got:?} of {owed:?}");
            // What it may be behind, 500 µs and a poll, is less than the two requests that it keeps, so it loses none.
            if 2 * request > us(500) + us(poll) / 2 {
                let due = owed.saturating_sub(asleep).saturating_sub(us(500) + us(poll));
                assert!(
                    got >= due,
                    "{share} {poll} {nap} {request:?}: got {got:?}, slept {asleep:?} of {owed:?}"
                );
            }
        }
    }
}

/// One that wants less than its share gets what it wants.
#[test]
fn a_sleeper_gets_what_it_wants_up_to_its_share() {
    let (got, asleep) = napper(1, us(50), us(100), us(900));
    // Turns of 100 µs of work and 900 µs of sleep, and a wait of at most a poll of the other, 1 µs, in between.
    assert_eq!(asleep, us(900) * 999);
    assert!(got >= us(99_800) && got <= us(100_000), "{got:?}");
}

#[test]
fn a_long_sleeper_is_forgiven_its_debt() {
    let (sim, trace, signal) = (VirtualTime::new(), Trace::new(), Signal::new());
    let ex = sim.executor();
    let busy = ex.new_queue("busy").request(us(100)).create().unwrap();
    let debtor = ex.new_queue("debtor").request(us(50)).create().unwrap();
    debtor.spawn({
        let (sim, trace, signal) = (sim.clone(), trace.clone(), signal.clone());
        async move {
            trace.note("d1");
            sim.work(us(300));
            signal.wait().await;
            trace.note("d2");
            sim.work(us(300));
            signal.wait().await;
            trace.note("d3");
        }
    });
    let last = busy.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            for poll in 1..=10 {
                trace.note(format!("b{poll}"));
                sim.work(us(100));
                if poll == 1 || poll == 9 {
                    signal.set();
                }
                clockworker::yield_now().await;
            }
        }
    });
    sim.run(&ex, last).unwrap();
    // d1 is 300 µs ahead of the busy queue. Woken after b1 it is still ahead by 200, so it waits for b2 and b3. Asleep
    // during b4 to b9 it is forgiven what d2 took, and goes before b10.
    assert_eq!(trace.take(), "d1 b1 b2 b3 d2 b4 b5 b6 b7 b8 b9 d3 b10");
}

/// What a queue was owed when it fell asleep is kept, also if it is more than two of its requests, where the polls of
/// others are that long.
#[test]
fn what_is_owed_to_a_queue_beside_long_polls_survives_its_sleep() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let long = ex.new_queue("long").request(us(10_000)).create().unwrap();
    let owed = ex.new_queue("owed").request(us(100)).create().unwrap();
    let first = Signal::new();
    let turns = Rc::new(RefCell::new(Vec::new()));
    // One poll of 10 ms, with the other queue runnable: it is owed 5 ms afterwards.
    let hog = long.spawn({
        let (sim, owed, first) = (sim.clone(), owed.clone(), first.clone());
        let turns = Rc::clone(&turns);
        async move {
            let task = owed.spawn({
                let sim = sim.clone();
                async move {
                    // Its only work for now, so the queue falls asleep being owed nearly 5 ms.
                    sim.work(us(1));
                    first.wait().await;
                    let start = sim.now();
                    loop {
                        turns.borrow_mut().push(sim.now() - start);
                        sim.work(us(1));
                        clockworker::yield_now().await;
                    }
                }
            });
            sim.work(us(10_000));
            clockworker::yield_now().await;
            drop(task);
            for _ in 0..2_000 {
                sim.work(us(1));
                clockworker::yield_now().await;
            }
        }
    });
    sim.run(&ex, async {
        // Let it fall asleep, then wake it.
        sim.sleep_until(us(10_500)).await;
        first.set();
        hog.await.unwrap();
    });
    // It goes on at once, before the hog, whose poll of 10 ms began when both were owed nothing: it gets as much.
    let turns = turns.borrow();
    assert_eq!(turns[..9_999], (0..9_999).map(us).collect::<Vec<_>>());
}

#[test]
fn closing_a_queue_and_creating_it_again_is_no_way_out_of_a_debt() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let victim = ex.new_queue("victim").create().unwrap();
    victim.spawn(compute(&sim, us(20)));
    sim.run(&ex, async {
        while sim.now() < SECOND {
            let queue = ex.new_queue("again").request(us(10)).create().unwrap();
            let sim = sim.clone();
            let task = queue.spawn(async move { sim.work(us(1_000)) });
            queue.close();
            task.await.unwrap();
        }
    });
    let (got, all) = (victim.stats().busy, ex.stats().busy);
    assert!(got + us(2_000) >= all / 2, "{got:?} of {all:?}");
}
