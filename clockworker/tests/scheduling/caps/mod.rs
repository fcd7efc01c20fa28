//! Caps: a queue gets its quota per period and its burst, pays for what a poll overruns, and leaves the rest to others.

use std::future::Future;
use std::time::Duration;

use clockworker::{Cap, Executor, Queue, yield_now};

use crate::support::{Spans, VirtualTime};

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

fn capped(ex: &Executor, name: &str, cap: Cap) -> Queue {
    ex.new_queue(name).cap(cap).create().unwrap()
}

/// Computes for ever in polls of these lengths, one after the other.
fn work(sim: &VirtualTime, spans: &Spans, polls: Vec<Duration>) -> impl Future<Output = ()> + use<> {
    let (sim, spans) = (sim.clone(), spans.clone());
    async move {
        for poll in polls.into_iter().cycle() {
            spans.work(&sim, poll);
            yield_now().await;
        }
    }
}

/// A manual clock has no alarm: something looks at it every `tick`, until `end`.
async fn ticking(sim: &VirtualTime, tick: Duration, end: Duration) {
    while sim.now() < end {
        sim.sleep(tick).await;
    }
}

fn counts(queue: &Queue) -> (u64, u64, Duration) {
    let stats = queue.stats();
    (stats.periods, stats.throttled_periods, stats.throttled_time)
}

#[test]
fn a_cap_has_bounds() {
    let text = |result: Result<Cap, clockworker::CapError>| result.unwrap_err().to_string();
    for (quota, period, says) in [
        (ms(1), ms(0), "a cap's period must be more than zero"),
        (ms(0), ms(100), "a cap's quota is more than zero and at most its period, 100ms, not 0ns"),
        (ms(101), ms(100), "a cap's quota is more than zero and at most its period, 100ms, not 101ms"),
    ] {
        assert_eq!(text(Cap::new(quota, period)), says);
    }
    assert_eq!(text(Cap::percent(0, ms(1))), "a cap is between 1 and 100 percent of its period, not 0");
    assert_eq!(text(Cap::percent(101, ms(1))), "a cap is between 1 and 100 percent of its period, not 101");
    assert!(Cap::percent(1, Duration::from_nanos(99)).unwrap_err().is_quota(), "less than a nanosecond");
    assert_eq!(text(fifth().with_burst(ms(21))), "a cap's burst is at most its quota, 20ms, not 21ms");
    let kinds = |error: clockworker::CapError| [error.is_period(), error.is_quota(), error.is_burst()];
    assert_eq!(kinds(Cap::new(ms(1), ms(0)).unwrap_err()), [true, false, false]);
    assert_eq!(kinds(Cap::new(ms(2), ms(1)).unwrap_err()), [false, true, false]);
    assert_eq!(kinds(Cap::percent(0, ms(1)).unwrap_err()), [false, true, false]);
    assert_eq!(kinds(fifth().with_burst(ms(30)).unwrap_err()), [false, false, true]);
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
    let queue = capped(&ex, "a", burst);
    assert_eq!((queue.cap(), ex.default_queue().cap()), (Some(burst), None));
    queue.set_cap(None).unwrap();
    queue.set_cap(None).unwrap();
    assert_eq!(queue.cap(), None);
    queue.close();
    assert!(queue.set_cap(Some(burst)).unwrap_err().is_closed());
    assert_eq!(queue.cap(), None);
}
