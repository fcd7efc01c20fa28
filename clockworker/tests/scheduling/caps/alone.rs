//! One capped queue: when it works, when it is throttled, and what it is charged.

use std::time::Duration;

use clockworker::yield_now;

use super::super::shares::SECOND;
use super::{capped, counts, fifth, in_each, ms, run_until, ticking};
use crate::support::*;

#[test]
fn alone_it_works_for_its_quota_in_each_period() {
    let ex = scene("a cap=20/100\n a a: 5000*");
    run(&ex, ticking(ms(100), SECOND));
    let expected: Vec<_> =
        (0..10).flat_map(|period| (0..4).map(move |poll| ms(100 * period + 5 * poll))).collect();
    assert_eq!(starts("a")[..40], expected);
    assert_eq!(counts(&queue(&ex, "a")), (11, 10, ms(800)));
    assert_eq!(ex.stats().overruns, 0, "no other queue waited");
}

#[test]
fn what_a_poll_overruns_is_paid_from_the_next_periods() {
    let ex = scene("a cap=20/100\n a a: 50000*");
    run(&ex, ticking(ms(10), ms(1_100)));
    // 30 too many after the first: -10 at 100, 10 at 200. Then 40 too many, which need all of two periods.
    assert_eq!(starts("a"), [0, 200, 500, 700, 1_000].map(ms));
    // Throttled in every period, but not in that of 1,100, which has just begun.
    assert_eq!(counts(&queue(&ex, "a")), (12, 11 + 1, ms(1_100 - 5 * 50)));
}

#[test]
fn a_turn_that_comes_late_finds_what_has_come_together_once() {
    let ex = scene("a cap=20/100\n a a: 10000*");
    // The host comes back every 350 ms, and finds one quota.
    run(&ex, ticking(ms(350), ms(700)));
    assert_eq!(starts("a"), [0, 10, 350, 360, 370, 380, 700, 710].map(ms)[..starts("a").len()]);
}

#[test]
fn a_burst_is_what_earlier_periods_left_over() {
    let (ex, signal) = (world(), Signal::new());
    let queue = capped(&ex, fifth().with_burst(ms(15)).unwrap());
    let begin = signal.clone();
    queue.spawn(async move {
        begin.wait().await;
        polls("a", 20, ms(5)).await;
        yield_now().await;
        begin.wait().await;
    });
    run(&ex, async {
        sleep_until(ms(510)).await;
        signal.set();
        ticking(ms(10), ms(890)).await;
    });
    // Five periods left 20 each, of which 15 are kept. Later ones leave nothing.
    assert_eq!(in_each(ms(500), ms(100), 4), [35, 20, 20, 20].map(ms));
    // The first period is that of the poll in which the task began to wait.
    assert_eq!(counts(&queue), (1 + 4, 4, ms(890 - 510 - 95)));
}

#[test]
fn without_work_it_is_not_throttled_and_the_host_is_not_woken() {
    let ex = world();
    let queue = capped(&ex, fifth());
    queue.spawn(polls("a", 1, ms(30)));
    drain(&ex);
    assert_eq!((ex.stats().host_polls, counts(&queue)), (1, (1, 0, ms(0))));
    // Spent, and then there is work: it waits for what is left of its punishment.
    queue.spawn(polls("a", 1, ms(1)));
    run(&ex, ticking(ms(35), ms(130)));
    assert_eq!(starts("a"), [0, 100].map(ms));
    assert_eq!(counts(&queue), (2, 1, ms(70)));
}

/// When it may work for a millisecond, `first` times before a nap and then `second` times, with a fifth of the thread.
fn expected_starts(first: u64, nap: u64, second: u64) -> Vec<Duration> {
    let (mut now, mut left, mut starts) = (0, 20, Vec::new());
    let mut pass = |works: bool| {
        if works {
            starts.push(ms(now));
        }
        left -= i64::from(works);
        now += 1;
        if now % 100 == 0 {
            left = (left + 20).min(20);
        }
        left
    };
    let mut left = 20;
    for works in [first, second] {
        for _ in 0..works {
            while left <= 0 {
                left = pass(false);
            }
            left = pass(true);
        }
        // The poll in which it falls asleep, too, waits for what it needs.
        while left <= 0 {
            left = pass(false);
        }
        for _ in 0..nap {
            left = pass(false);
        }
    }
    starts
}

/// Wherever in a period it sleeps and wakes: it is throttled if it has used its quota, and not before.
#[test]
fn it_may_sleep_and_wake_at_any_point_of_a_period() {
    for (first, nap, second) in (1..=26).flat_map(|a| (1..=120).step_by(7).map(move |b| (a, b, 27 - a))) {
        let ex = world();
        let task = capped(&ex, fifth()).spawn(async move {
            for works in [first, second] {
                polls("a", works as usize, ms(1)).await;
                yield_now().await;
                sleep(ms(nap)).await;
            }
        });
        run_until(&ex, ms(500));
        assert!(task.is_finished());
        assert_eq!(starts("a"), expected_starts(first, nap, second), "{first} {nap} {second}");
    }
}
