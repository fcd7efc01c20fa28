//! Clocks that jump: backwards, forwards, and to the end of time. What is charged, and who is served, exactly.

use std::time::Duration;

use clockworker::schedulers::{Las, Qlas};
use clockworker::{Executor, yield_now};

use crate::support::{NEVER, Trace, VirtualTime, compute, poller, us};

const HOUR: Duration = Duration::from_secs(3_600);

/// Runs until the clock has moved on by that much.
fn run(sim: &VirtualTime, ex: &Executor, time: Duration) {
    let until = sim.now() + time;
    sim.run(ex, async {
        while sim.now() < until {
            yield_now().await;
        }
    });
}

#[test]
fn a_clock_set_back_goes_on_from_there_and_shares_are_kept() {
    let sim = VirtualTime::new();
    sim.clock().set(HOUR * 2);
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    let queues =
        [1, 3].map(|share| ex.new_queue(&share.to_string()).share(share).request(us(100)).create().unwrap());
    queues.iter().for_each(|queue| drop(queue.spawn(compute(&sim, us(10)))));
    run(&sim, &ex, us(40_000));
    let before = queues.each_ref().map(|queue| queue.stats().busy);
    sim.clock().set(HOUR);
    run(&sim, &ex, us(40_000));
    let after = queues.each_ref().map(|queue| queue.stats().busy);
    // As much again, to a request and a poll.
    for (before, after) in before.into_iter().zip(after) {
        assert!((after - before).abs_diff(before) <= us(110), "{before:?} {after:?}");
    }
    // Nothing was for free.
    assert_eq!(ex.stats().busy, us(10 * ex.stats().polls));
}

#[test]
fn a_poll_during_which_the_clock_is_set_back_is_charged_what_was_done_in_it() {
    for back in [Duration::from_nanos(1), us(30), us(60), HOUR] {
        let sim = VirtualTime::new();
        sim.clock().set(HOUR * 2);
        let ex = sim.executor();
        let (las, other) = (
            ex.new_queue("las").scheduler(Las::new()).create().unwrap(),
            ex.new_queue("other").create().unwrap(),
        );
        let task = las.spawn({
            let sim = sim.clone();
            async move {
                sim.work(us(30));
                sim.clock().set(sim.now() - back);
                sim.work(us(5));
                yield_now().await;
                sim.work(us(20));
            }
        });
        other.spawn(poller(&sim, &Trace::new(), "", 3, us(7)));
        sim.drain(&ex);
        assert!(task.is_finished());
        assert_eq!((las.stats().busy, other.stats().busy), (us(55), us(21)));
        assert_eq!(sim.now(), HOUR * 2 + us(76) - back);
    }
}

#[test]
fn a_jump_of_an_hour_inside_a_poll_is_charged_as_a_poll_of_an_hour() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let jumper = ex.new_queue("jumper").request(us(100)).create().unwrap();
    let other = ex.new_queue("other").request(us(100)).create().unwrap();
    let trace = Trace::new();
    jumper.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            trace.note("jump");
            sim.work(HOUR);
            yield_now().await;
            trace.note("jumper");
        }
    });
    other.spawn(poller(&sim, &trace, "o", 3, us(50)));
    sim.drain(&ex);
    // It comes again once the other has nothing to do, not after an hour of nothing.
    assert_eq!(trace.take(), "jump o1 o2 o3 jumper");
    assert_eq!((jumper.stats().busy, other.stats().busy), (HOUR, us(150)));
    assert_eq!((jumper.stats().overruns, jumper.stats().overrun_time), (1, HOUR - us(100)));
}

#[test]
fn a_jump_of_an_hour_between_turns_is_nobodys() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queues = ["a", "b"].map(|name| ex.new_queue(name).scheduler(Qlas::new()).create().unwrap());
    let trace = Trace::new();
    for (queue, name) in queues.iter().zip(["a", "b"]) {
        queue.spawn(poller(&sim, &trace, name, 1, us(10)));
    }
    sim.drain(&ex);
    sim.clock().advance(HOUR);
    for (queue, name) in queues.iter().zip(["a", "b"]) {
        queue.spawn(poller(&sim, &trace, name, 2, us(10)));
    }
    sim.drain(&ex);
    assert_eq!(queues.each_ref().map(|queue| queue.stats().busy), [us(30); 2]);
    assert_eq!(ex.stats().overruns, 0);
}

#[test]
fn a_jump_of_an_hour_sends_the_executor_back_to_its_host_once() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    ex.spawn(poller(&sim, &Trace::new(), "", 1, HOUR));
    ex.spawn(poller(&sim, &Trace::new(), "", 3, us(10)));
    sim.drain(&ex);
    assert_eq!((ex.stats().host_yields, ex.stats().host_polls), (1, 2));
    assert_eq!(ex.stats().busy, HOUR + us(30));
}

#[test]
fn at_the_end_of_time_tasks_still_run_and_the_host_has_its_turns() {
    let sim = VirtualTime::new();
    sim.clock().set(Duration::from_nanos(u64::MAX - 15_000));
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    let queues = [Duration::from_nanos(1), us(500), Duration::MAX].map(|request| {
        ex.new_queue(&format!("{request:?}")).request(request).scheduler(Las::new()).create().unwrap()
    });
    for queue in &queues {
        queue.spawn(poller(&sim, &Trace::new(), "", 3, us(10)));
    }
    sim.drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.completed, stats.polls, stats.live), (3, 9, 0));
    // What is left of time, and no more.
    assert_eq!(stats.busy, us(15));
    assert!(stats.host_yields >= 7, "{stats:?}");
}

#[test]
fn time_that_went_round_stands_still() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let queue = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
    for now in [u64::MAX, 0, u64::MAX, 1, u64::MAX / 2] {
        sim.clock().set(Duration::from_nanos(now));
        queue.spawn(poller(&sim, &Trace::new(), "", 2, us(10)));
        sim.drain(&ex);
    }
    assert_eq!((ex.stats().completed, ex.stats().live), (5, 0));
    assert!(ex.stats().busy <= us(20), "{:?}", ex.stats().busy);
}

#[test]
fn budgets_and_requests_without_end_end_nothing() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(Duration::MAX).request(Duration::MAX).build().unwrap();
    let other = ex.new_queue("other").request(Duration::MAX).create().unwrap();
    let trace = Trace::new();
    ex.spawn(poller(&sim, &trace, "a", 2, NEVER / 2));
    other.spawn(poller(&sim, &trace, "b", 2, NEVER / 2));
    sim.drain(&ex);
    assert_eq!(trace.take(), "a1 a2 b1 b2");
    assert_eq!((ex.stats().host_yields, ex.stats().overruns, ex.stats().slices), (0, 0, 2));
}
