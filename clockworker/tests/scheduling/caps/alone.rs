//! One capped queue: when it works, when it is throttled, and what it is charged.

use std::time::Duration;

use clockworker::yield_now;

use super::super::shares::SECOND;
use super::{capped, counts, fifth, ms, ticking, work};
use crate::support::{Signal, Spans, VirtualTime};

#[test]
fn alone_it_works_for_its_quota_in_each_period() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(5)]));
    sim.run(&ex, ticking(&sim, ms(100), SECOND));
    let starts: Vec<_> =
        (0..10).flat_map(|period| (0..4).map(move |poll| ms(100 * period + 5 * poll))).collect();
    assert_eq!(spans.starts()[..40], starts);
    assert_eq!(counts(&queue), (11, 10, ms(800)));
    assert_eq!(queue.stats().overruns, 0, "no other queue waited");
}

#[test]
fn what_a_poll_overruns_is_paid_from_the_next_periods() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(50)]));
    sim.run(&ex, ticking(&sim, ms(10), ms(1_100)));
    // 30 too many after the first: -10 at 100, 10 at 200. Then 40 too many, which need all of two periods.
    assert_eq!(spans.starts(), [0, 200, 500, 700, 1_000].map(ms));
    // Throttled in every period, but not in that of 1,100, which has just begun.
    assert_eq!(counts(&queue), (12, 11 + 1, ms(1_100 - 5 * 50)));
}

#[test]
fn a_turn_that_comes_late_finds_what_has_come_together_once() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    queue.spawn(work(&sim, &spans, vec![ms(10)]));
    // The host comes back every 350 ms, and finds one quota.
    sim.run(&ex, ticking(&sim, ms(350), ms(700)));
    assert_eq!(spans.starts(), [0, 10, 350, 360, 370, 380, 700, 710].map(ms)[..spans.starts().len()]);
}

#[test]
fn a_burst_is_what_earlier_periods_left_over() {
    let (sim, spans, signal) = (VirtualTime::new(), Spans::new(), Signal::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth().with_burst(ms(15)).unwrap());
    queue.spawn({
        let (sim, spans, signal) = (sim.clone(), spans.clone(), signal.clone());
        async move {
            loop {
                signal.wait().await;
                for _ in 0..20 {
                    spans.work(&sim, ms(5));
                    yield_now().await;
                }
            }
        }
    });
    sim.run(&ex, async {
        sim.sleep_until(ms(510)).await;
        signal.set();
        ticking(&sim, ms(10), ms(890)).await;
    });
    // Five periods left 20 each, of which 15 are kept. Later ones leave nothing.
    let per_period: Vec<_> =
        (5..9).map(|period| spans.within(ms(100 * period), ms(100 * period + 100))).collect();
    assert_eq!(per_period, [35, 20, 20, 20].map(ms));
    // The first period is that of the poll in which the task began to wait.
    assert_eq!(counts(&queue), (1 + 4, 4, ms(890 - 510 - 95)));
}

#[test]
fn without_work_it_is_not_throttled_and_the_host_is_not_woken() {
    let (sim, spans) = (VirtualTime::new(), Spans::new());
    let ex = sim.executor();
    let queue = capped(&ex, "a", fifth());
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move { spans2.work(&sim2, ms(30)) });
    sim.drain(&ex);
    assert_eq!((ex.stats().host_polls, counts(&queue)), (1, (1, 0, ms(0))));
    // Spent, and then there is work: it waits for what is left of its punishment.
    let (sim2, spans2) = (sim.clone(), spans.clone());
    queue.spawn(async move { spans2.work(&sim2, ms(1)) });
    sim.run(&ex, ticking(&sim, ms(35), ms(130)));
    assert_eq!(spans.starts(), [0, 100].map(ms));
    assert_eq!(counts(&queue), (2, 1, ms(70)));
}

/// When it may work for a millisecond, `first` times before a nap and then `second` times, with a fifth of the thread.
fn starts(first: u64, nap: u64, second: u64) -> Vec<Duration> {
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
        let (sim, spans) = (VirtualTime::new(), Spans::new());
        let ex = sim.executor();
        let queue = capped(&ex, "a", fifth());
        let (sim2, spans2) = (sim.clone(), spans.clone());
        queue.spawn(async move {
            for works in [first, second] {
                for _ in 0..works {
                    spans2.work(&sim2, ms(1));
                    yield_now().await;
                }
                sim2.sleep(ms(nap)).await;
            }
        });
        sim.run(&ex, ticking(&sim, ms(1), ms(500)));
        assert_eq!(queue.stats().completed, 1);
        assert_eq!(spans.starts(), starts(first, nap, second), "{first} {nap} {second}");
    }
}
