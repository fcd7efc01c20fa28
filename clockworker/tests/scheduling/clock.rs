//! Clocks that jump: backwards, forwards, and to the end of time. What is charged, and who is served, exactly.

use std::time::Duration;

use clockworker::schedulers::Las;
use clockworker::{Executor, yield_now};

use crate::support::*;

const HOUR: Duration = Duration::from_secs(3_600);

/// Runs until the clock has moved on by that much.
fn pass(ex: &Executor, length: Duration) {
    let until = now() + length;
    run(ex, async {
        while now() < until {
            yield_now().await;
        }
    });
}

#[test]
fn a_clock_set_back_goes_on_from_there_and_shares_are_kept() {
    let builder = builder().host_budget(us(200));
    time().clock().set(HOUR * 2);
    let ex = builder.build().unwrap();
    let queues =
        [1, 3].map(|share| ex.new_queue(&share.to_string()).share(share).request(us(100)).create().unwrap());
    queues.iter().for_each(|queue| drop(queue.spawn(compute(us(10)))));
    let busy = || queues.each_ref().map(|queue| queue.stats().busy);
    pass(&ex, us(40_000));
    let before = busy();
    time().clock().set(HOUR);
    pass(&ex, us(40_000));
    // As much again, to a request and a poll.
    for (before, after) in before.into_iter().zip(busy()) {
        assert!((after - before).abs_diff(before) <= us(110), "{before:?} {after:?}");
    }
    // Nothing was for free.
    assert_eq!(ex.stats().busy, us(10 * ex.stats().polls));
}

#[test]
fn a_poll_during_which_the_clock_is_set_back_is_charged_its_work() {
    for back in [Duration::from_nanos(1), us(30), us(60), HOUR] {
        let builder = builder();
        time().clock().set(HOUR * 2);
        let ex = builder.build().unwrap();
        add(&ex, "las policy=Las\n other\n other -: 7*3");
        let task = queue(&ex, "las").spawn(async move {
            work(us(30));
            time().clock().set(now() - back);
            work(us(5));
            yield_now().await;
            work(us(20));
        });
        drain(&ex);
        assert!(task.is_finished());
        assert_eq!((busy(&ex, "las"), busy(&ex, "other")), (us(55), us(21)));
        assert_eq!(now(), HOUR * 2 + us(76) - back);
    }
}

#[test]
fn a_jump_of_an_hour_inside_a_poll_is_charged_as_a_poll_of_an_hour() {
    let ex = scene(
        "jumper request=100
        other request=100
        jumper j: 3600000000 0
        other o: 50*3",
    );
    // It comes again once the other has nothing to do, not after an hour of nothing.
    assert_eq!(drain(&ex), "j1 o1 o2 o3 j2");
    assert_eq!((busy(&ex, "jumper"), busy(&ex, "other")), (HOUR, us(150)));
    let jumper = queue(&ex, "jumper").stats();
    assert_eq!((jumper.overruns, jumper.overrun_time), (1, HOUR - us(100)));
}

#[test]
fn a_jump_of_an_hour_between_turns_is_nobodys() {
    let ex = scene("a policy=Qlas\n b policy=Qlas\n a -: 10\n b -: 10");
    drain(&ex);
    time().clock().advance(HOUR);
    add(&ex, "a -: 10*2\n b -: 10*2");
    drain(&ex);
    assert_eq!((busy(&ex, "a"), busy(&ex, "b"), ex.stats().overruns), (us(30), us(30), 0));
}

#[test]
fn a_jump_of_an_hour_sends_the_executor_back_to_its_host_once() {
    let ex = builder().host_budget(us(200)).build().unwrap();
    ex.spawn(polls("", 1, HOUR));
    ex.spawn(polls("", 3, us(10)));
    drain(&ex);
    assert_eq!((ex.stats().host_yields, ex.stats().host_polls), (1, 2));
    assert_eq!(ex.stats().busy, HOUR + us(30));
}

#[test]
fn at_the_end_of_time_tasks_still_run_and_the_host_has_its_turns() {
    let builder = builder().host_budget(us(200));
    time().clock().set(Duration::from_nanos(u64::MAX - 15_000));
    let ex = builder.build().unwrap();
    for request in [Duration::from_nanos(1), us(500), Duration::MAX] {
        let name = format!("{request:?}");
        let queue = ex.new_queue(&name).request(request).scheduler(Las::new()).create().unwrap();
        queue.spawn(polls("", 3, us(10)));
    }
    drain(&ex);
    let stats = ex.stats();
    assert_eq!((stats.completed, stats.polls, stats.live), (3, 9, 0));
    // What is left of time, and no more.
    assert_eq!(stats.busy, us(15));
    assert!(stats.host_yields >= 7, "{stats:?}");
}

#[test]
fn time_that_went_round_stands_still() {
    let ex = scene("las policy=Las");
    for now in [u64::MAX, 0, u64::MAX, 1, u64::MAX / 2] {
        time().clock().set(Duration::from_nanos(now));
        add(&ex, "las -: 10*2");
        drain(&ex);
    }
    assert_eq!((ex.stats().completed, ex.stats().live), (5, 0));
    assert!(ex.stats().busy <= us(20), "{:?}", ex.stats().busy);
}

#[test]
fn budgets_and_requests_without_end_end_nothing() {
    let ex = builder().host_budget(Duration::MAX).request(Duration::MAX).build().unwrap();
    let other = ex.new_queue("other").request(Duration::MAX).create().unwrap();
    ex.spawn(polls("a", 2, NEVER / 2));
    other.spawn(polls("b", 2, NEVER / 2));
    assert_eq!(drain(&ex), "a1 a2 b1 b2");
    assert_eq!((ex.stats().host_yields, ex.stats().overruns, ex.stats().slices), (0, 0, 2));
}
