//! Caps: a queue gets its quota per period and its burst, pays for what a poll overruns, and leaves the rest to others.

use std::time::Duration;

use clockworker::{Cap, CapError, Executor, Queue};

use crate::support::*;

mod alone;
mod beside;
mod bound;
mod changes;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn cap(quota: Duration, period: Duration) -> Cap {
    Cap::new(quota, period).unwrap()
}

/// A fifth of the thread, in periods of 100 ms.
fn fifth() -> Cap {
    cap(ms(20), ms(100))
}

/// A queue `a`, whose task is to be `a`, too.
fn capped(ex: &Executor, cap: Cap) -> Queue {
    ex.new_queue("a").cap(cap).create().unwrap()
}

/// A manual clock has no alarm: something looks at it every `tick`, until `end`.
async fn ticking(tick: Duration, end: Duration) {
    while now() < end {
        sleep(tick).await;
    }
}

/// Runs until `end`, with a look at the clock in each millisecond.
fn run_until(ex: &Executor, end: Duration) {
    run(ex, ticking(ms(1), end));
}

/// What task `a` did in each of so many stretches of that length.
fn in_each(from: Duration, length: Duration, count: u32) -> Vec<Duration> {
    (0..count).map(|n| from + length * n).map(|from| within("a", from, from + length)).collect()
}

fn counts(queue: &Queue) -> (u64, u64, Duration) {
    let stats = queue.stats();
    (stats.periods, stats.throttled_periods, stats.throttled_time)
}

#[test]
fn a_cap_has_bounds() {
    let kinds = |error: &CapError| [error.is_period(), error.is_quota(), error.is_burst()];
    let [period, quota, burst] = [[true, false, false], [false, true, false], [false, false, true]];
    let quota_is = |n: u64| format!("a cap's quota is more than zero and at most its period, 100ms, not {n}");
    let percent_is = |n: u32| format!("a cap is between 1 and 100 percent of its period, not {n}");
    for (cap, kind, says) in [
        (Cap::new(ms(1), ms(0)), period, "a cap's period must be more than zero".to_owned()),
        (Cap::new(ms(0), ms(100)), quota, quota_is(0) + "ns"),
        (Cap::new(ms(101), ms(100)), quota, quota_is(101) + "ms"),
        (Cap::percent(0, ms(1)), quota, percent_is(0)),
        (Cap::percent(101, ms(1)), quota, percent_is(101)),
        (fifth().with_burst(ms(21)), burst, "a cap's burst is at most its quota, 20ms, not 21ms".to_owned()),
    ] {
        let error = cap.unwrap_err();
        assert_eq!((kinds(&error), error.to_string()), (kind, says));
    }
    assert!(Cap::percent(1, Duration::from_nanos(99)).unwrap_err().is_quota(), "less than a nanosecond");
}

#[test]
fn a_cap_is_what_it_was_made_of() {
    assert_eq!(Cap::percent(20, ms(100)).unwrap(), fifth());
    let odd = Cap::percent(33, Duration::from_nanos(1_234_567)).unwrap();
    assert_eq!(odd.quota(), Duration::from_nanos(407_407));
    assert_eq!(Cap::percent(100, Duration::MAX).unwrap().quota(), Duration::MAX);
    let burst = fifth().with_burst(ms(20)).unwrap();
    assert_eq!((burst.quota(), burst.period(), burst.burst()), (ms(20), ms(100), ms(20)));
    let ex = Executor::new();
    let queue = capped(&ex, burst);
    assert_eq!((queue.cap(), ex.default_queue().cap()), (Some(burst), None));
    queue.set_cap(None).unwrap();
    queue.set_cap(None).unwrap();
    assert_eq!(queue.cap(), None);
    queue.close();
    assert!(queue.set_cap(Some(burst)).unwrap_err().is_closed());
    assert_eq!(queue.cap(), None);
}
