//! The counters of a trace: how many tasks are ready, and what each queue is owed.

use clockworker::observe::PollOutcome::{Finished, Pending, Yielded};
use clockworker::observe::SliceEndReason::{Drained, HostDue, Spent};
use clockworker::observe::{EventKind, ReadyReason, Timeline};
use clockworker::{Executor, yield_now};
use futures::StreamExt;
use futures::channel::mpsc;
use proptest::prelude::*;

use crate::support::{HEAVY, LIGHT, Script, everything, executor, ns, trace, us};

/// What a counter was from when on, in nanoseconds.
fn counter(timeline: &Timeline, name: &str) -> Vec<(u64, i64)> {
    let unit = if name.starts_with("lag") { "ns" } else { "tasks" };
    let events = trace(timeline).into_iter().filter(|event| event["ph"] == "C" && event["name"] == name);
    events.map(|event| (ns(&event["ts"]), event["args"][unit].as_i64().unwrap())).collect()
}

/// From whole microseconds on.
fn counter_us(timeline: &Timeline, name: &str) -> Vec<(u64, i64)> {
    counter(timeline, name).into_iter().map(|(at, number)| (at / 1_000, number)).collect()
}

/// Both queues have work; the light one gets more than its part and sleeps.
fn one_turn_each() -> Script {
    let began = Script::default().spawned(0, (HEAVY, 0)).spawned(0, (LIGHT, 0)).began(0, HEAVY, 1);
    let heavy = began.polled(0, (HEAVY, 0), 60, Yielded).ended(60, HEAVY, Spent).began(60, LIGHT, 1);
    heavy.polled(60, (LIGHT, 0), 40, Pending).ended(100, LIGHT, Drained).began(100, HEAVY, 1)
}

#[test]
fn a_lag_is_what_a_queue_is_owed_by_its_share() {
    let script = one_turn_each().polled(100, (HEAVY, 0), 45, Pending).ended(145, HEAVY, Drained);
    let timeline = script.timeline();
    // Of 60 µs the light queue is owed 15, of 100 it is owed 25 and has had 40. Then no queue has work: all is forgiven.
    assert_eq!(counter_us(&timeline, "lag: heavy"), [(0, 0), (60, -15_000), (100, 15_000), (145, 0)]);
    assert_eq!(counter_us(&timeline, "lag: light"), [(0, 0), (60, 15_000), (100, -15_000), (145, 0)]);
}

#[test]
fn a_debt_survives_a_sleep_and_is_less_by_what_others_got() {
    let polled = one_turn_each().polled(100, (HEAVY, 0), 45, Yielded);
    let script = polled.ready(120, (LIGHT, 0), ReadyReason::Local).ended(145, HEAVY, Spent);
    let timeline = script.timeline();
    // Asleep at v = 40 µs, while V goes from 25 to 35: it wakes after the poll, and V to the mean of 3·35 and 40.
    assert_eq!(counter_us(&timeline, "lag: light").last(), Some(&(145, -3_750)));
    assert_eq!(counter_us(&timeline, "lag: heavy").last(), Some(&(145, 3_750)));
}

#[test]
fn a_slice_that_the_timeline_does_not_end_is_charged_up_to_its_last_poll() {
    let timeline = one_turn_each().polled(100, (HEAVY, 0), 4, Yielded).timeline();
    assert_eq!(counter_us(&timeline, "lag: heavy").last(), Some(&(104, 11_000)));
}

#[test]
fn a_queue_that_is_constrained_or_gone_has_no_lag() {
    let mut timeline = one_turn_each().timeline();
    timeline.queues[1].is_constrained = true;
    assert!(counter(&timeline, "lag: light").is_empty());
    assert_eq!(counter_us(&timeline, "lag: heavy"), [(0, 0)], "alone among those that share");
    timeline.queues.remove(1);
    assert!(counter(&timeline, "lag: gone (1)").is_empty());
    assert!(!counter(&timeline, "ready: gone (1)").is_empty());
    // The executor says which are.
    let ex = Executor::new();
    let parent = ex.new_queue("parent").create().unwrap();
    parent.new_queue("child").create().unwrap();
    ex.new_queue("idle").idle().create().unwrap();
    ex.new_queue("free").create().unwrap();
    let free = ex.timeline().queues.into_iter().filter(|queue| !queue.is_constrained);
    assert_eq!(free.map(|queue| queue.name).collect::<Vec<_>>(), ["default", "free"]);
}

#[test]
fn ready_tasks_are_counted_from_wake_to_poll() {
    let [first, second, third] = [(HEAVY, 0), (HEAVY, 1), (HEAVY, 2)];
    let began = Script::default().spawned(0, first).spawned(1, second).began(5, HEAVY, 2);
    let polled = began.polled(5, first, 10, Yielded).spawned(7, third).polled(15, second, 10, Pending);
    let timeline = polled.polled(30, third, 10, Finished).polled(40, first, 2, Yielded).timeline();
    let expected = [(0, 1), (1, 2), (5, 1), (7, 2), (30, 1), (40, 0), (42, 1)];
    assert_eq!(counter_us(&timeline, "ready: heavy"), expected, "at 15 one yields and one is polled");
}

#[test]
fn a_slice_tells_of_tasks_that_were_ready_before_and_of_aborted_ones() {
    let began = Script::default().spawned(2, (HEAVY, 7)).began(4, HEAVY, 3);
    let polled = began.polled(4, (HEAVY, 5), 1, Pending).ended(5, HEAVY, HostDue);
    // One was aborted.
    let timeline = polled.began(9, HEAVY, 1).timeline();
    assert_eq!(counter_us(&timeline, "ready: heavy"), [(2, 1), (4, 2), (9, 1)]);
}

/// Tasks in three queues that pass wakes round: each works, wakes the next, and waits until it is woken.
fn run_ring(tasks: &[(usize, u64)], rounds: u32) -> Timeline {
    let (ex, clock) = executor(everything());
    let queues = [1, 2, 5].map(|share| ex.new_queue(&share.to_string()).share(share).create().unwrap());
    let (wakers, mut waiters): (Vec<_>, Vec<_>) = tasks.iter().map(|_| mpsc::unbounded::<()>()).unzip();
    let nexts = wakers.iter().cycle().skip(1);
    for ((&(queue, took), mut mine), next) in tasks.iter().zip(waiters.drain(..)).zip(nexts) {
        let (clock, next) = (clock.clone(), next.clone());
        queues[queue].spawn(async move {
            for round in 0..rounds {
                clock.advance(us(took));
                next.unbounded_send(()).unwrap_or_default();
                if round % 3 == 2 {
                    yield_now().await;
                }
                clock.advance(us(took / 2));
                mine.next().await;
            }
        });
    }
    ex.block_on(ex.drained());
    ex.timeline()
}

/// What it was then.
fn at(points: &[(u64, i64)], now: u64) -> i64 {
    points.iter().rev().find(|point| point.0 <= now).map_or(0, |point| point.1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_executor_picks_who_is_owed_something(
        tasks in prop::collection::vec((0_usize..3, 1_u64..400), 2..9),
        rounds in 1_u32..30,
    ) {
        let timeline = run_ring(&tasks, rounds);
        let counters = |kind: &str| ["1", "2", "5"].map(|name| counter(&timeline, &format!("{kind}: {name}")));
        let (lags, ready) = (counters("lag"), counters("ready"));
        for points in lags.iter().chain(&ready) {
            prop_assert_eq!(at(points, u64::MAX), 0, "all is done");
        }
        for event in &timeline.events {
            let EventKind::SliceBegan { queue, .. } = event.kind else { continue };
            let now = event.at.as_nanos() as u64;
            // Beside creditors that sleep, the mean of those awake is enough.
            let sleeps_with_credit = |of: &usize| at(&ready[*of], now) == 0 && at(&lags[*of], now) > 0;
            let picked = queue as usize - 1;
            if (0..3).filter(|&of| of != picked).all(|of| !sleeps_with_credit(&of)) {
                prop_assert!(at(&lags[picked], now) >= 0, "{queue} at {now}: {lags:?}");
            }
        }
    }
}
