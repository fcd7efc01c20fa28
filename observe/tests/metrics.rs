//! What reaches a recorder of the crate `metrics`.

#![allow(missing_docs, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
#[cfg(feature = "stalls")]
use std::sync::mpsc::channel;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use clockworker::{Executor, ManualClock};
use clockworker_observe::metrics::Exporter;
#[cfg(feature = "stalls")]
use clockworker_observe::stalls::StallDetector;
use clockworker_observe::{Observation, Observe, Observed};
use clockworker_testing::driving::settle;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

/// What a recorder holds after `publish`: series as Prometheus writes them, and their values. A histogram's are count and sum.
fn recorded(publish: impl FnOnce()) -> BTreeMap<String, (f64, f64)> {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, publish);
    let snapshot = recorder.snapshotter().snapshot().into_vec();
    let series = snapshot.into_iter().map(|(key, _, _, value)| {
        let (_, key) = key.into_parts();
        let labels: Vec<String> =
            key.labels().map(|label| format!("{}={:?}", label.key(), label.value())).collect();
        let value = match value {
            DebugValue::Counter(value) => (value as f64, 0.0),
            DebugValue::Gauge(value) => (value.into_inner(), 0.0),
            DebugValue::Histogram(values) => {
                (values.len() as f64, values.iter().map(|value| value.into_inner()).sum())
            }
        };
        (format!("{}{{{}}}", key.name(), labels.join(",")), value)
    });
    series.collect()
}

fn executor() -> (Executor, ManualClock) {
    let clock = ManualClock::new();
    (Executor::builder().clock(clock.clone()).build().unwrap(), clock)
}

/// Runs a task that takes 3 ms.
fn work(ex: &Executor, clock: &ManualClock) {
    let clock = clock.clone();
    ex.block_on(ex.spawn(async move { clock.advance(Duration::from_millis(3)) })).unwrap();
}

#[test]
fn a_recorder_gets_what_the_stats_say() {
    let (ex, clock) = executor();
    ex.observe(Observation::new().latency().every_poll()).unwrap();
    work(&ex, &clock);
    let mut exporter = Exporter::new().named("shard 0");
    let series = recorded(|| exporter.publish(&ex.stats(), &ex.observed()));

    let of_queue =
        |name: &str| series[&format!("clockworker_queue_{name}{{executor=\"shard 0\",queue=\"default\"}}")];
    let stats = ex.stats();
    assert_eq!(of_queue("polls_total").0, stats.polls as f64);
    assert_eq!(of_queue("busy_seconds_total").0, 0.003);
    assert_eq!(of_queue("tasks_completed_total").0, 1.0);
    assert_eq!(of_queue("live_tasks").0, 0.0);
    assert_eq!(of_queue("longest_poll_seconds").0, 0.003);
    let account = |name: &str| {
        series[&format!("clockworker_time_seconds_total{{executor=\"shard 0\",account=\"{name}\"}}")].0
    };
    assert_eq!(["queues", "main", "own", "host"].map(account), [0.003, 0.0, 0.0, 0.0]);
    let (count, sum) = of_queue("poll_seconds");
    let observed = ex.observed();
    let polls = &observed.queues[0].latency.as_ref().unwrap().poll;
    assert_eq!(count, polls.count() as f64);
    assert!((sum / 0.003 - 1.0).abs() < 1.0 / 32.0, "{sum}: off by more than half a bucket");
    assert!(series.keys().all(|key| key.starts_with("clockworker_")), "{series:?}");
}

/// The series of who held the thread in the longest turn: their labels, and for how long.
fn held(series: &BTreeMap<String, (f64, f64)>) -> Vec<(&str, f64)> {
    let name = "clockworker_longest_turn_held_seconds";
    series.iter().filter_map(|(key, value)| Some((key.strip_prefix(name)?, value.0))).collect()
}

#[test]
fn the_longest_turn_is_passed_on_with_who_held_the_thread_in_it() {
    let (ex, clock) = executor();
    ex.observe(Observation::new().latency()).unwrap();
    let mut exporter = Exporter::new();
    let mut publish = || recorded(|| exporter.publish(&ex.stats(), &ex.observed()));
    assert_eq!(held(&publish()), [], "there was no turn");
    let (reports, time) = (ex.new_queue("reports").create().unwrap(), clock.clone());
    let line = line!() + 1;
    drop(reports.spawn(async move { time.advance(Duration::from_millis(20)) }));
    settle(&ex);
    let series = publish();
    assert_eq!(series["clockworker_longest_turn_seconds{}"].0, 0.02);
    let place = format!("{{queue=\"reports\",spawned_at=\"{}:{line}\"}}", file!());
    assert_eq!(held(&series), [(&*place, 0.02)]);
    ex.block_on(async { clock.advance(Duration::from_millis(30)) });
    assert_eq!(held(&publish()), [("{queue=\"\",spawned_at=\"\"}", 0.03), (&*place, 0.0)]);
}

/// The poll ends once it has been reported.
#[cfg(feature = "stalls")]
#[test]
fn stalls_are_passed_on_once_with_the_longest() {
    let (tell, told) = channel();
    let ex = Executor::new();
    let detector = StallDetector::new(Duration::from_millis(5)).on_stall(move |_| _ = tell.send(()));
    let guard = detector.watch(&ex).unwrap();
    ex.block_on(ex.spawn(async move { told.recv() })).unwrap().unwrap();
    let stats = guard.stats();
    assert!(stats.seen >= 1 && stats.longest >= Duration::from_millis(5), "{stats:?}");
    let mut exporter = Exporter::new();
    let mut publish = || {
        let series = recorded(|| exporter.publish_stalls(&stats));
        ["stalls_total", "longest_stall_seconds"].map(|name| series[&format!("clockworker_{name}{{}}")].0)
    };
    assert_eq!(publish(), [stats.seen as f64, stats.longest.as_secs_f64()]);
    assert_eq!(publish(), [0.0, stats.longest.as_secs_f64()]);
}

/// As Prometheus would have them: in plain words, and times in seconds.
#[test]
fn names_follow_the_convention() {
    let (ex, clock) = executor();
    ex.observe(Observation::new().latency()).unwrap();
    work(&ex, &clock);
    let series = recorded(|| Exporter::new().publish(&ex.stats(), &ex.observed()));
    for name in series.keys().filter_map(|key| key.split('{').next()) {
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let has_other_unit = ["milli", "micro", "nano", "minutes"].iter().any(|unit| name.contains(unit));
        assert!(is_plain && !has_other_unit, "{name}");
    }
}

#[test]
fn wakes_are_passed_on_by_where_they_came_from() {
    let (ex, _) = executor();
    ex.observe(Observation::new()).unwrap();
    let held = Rc::new(RefCell::new(None::<Waker>));
    let (given, mut left) = (Rc::clone(&held), 4);
    ex.spawn(poll_fn(move |cx| {
        given.replace(Some(cx.waker().clone()));
        left -= 1;
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }));
    settle(&ex);
    for elsewhere in [false, true, false] {
        let waker = held.take().unwrap();
        if elsewhere {
            thread::spawn(|| waker.wake()).join().unwrap()
        } else {
            waker.wake()
        };
        settle(&ex);
    }
    let series = recorded(|| Exporter::new().publish(&ex.stats(), &ex.observed()));
    let wakes = |side: &str| series[&format!("clockworker_queue_{side}_wakes_total{{queue=\"default\"}}")].0;
    assert_eq!((wakes("local"), wakes("remote")), (2.0, 1.0));
}

#[test]
fn each_thing_is_passed_on_once() {
    let (ex, clock) = executor();
    let mut exporter = Exporter::new();
    let mut busy = || {
        recorded(|| exporter.publish(&ex.stats(), &ex.observed()))["clockworker_queue_busy_seconds_total{queue=\"default\"}"].0
    };
    work(&ex, &clock);
    assert_eq!(busy(), 0.003);
    assert_eq!(busy(), 0.0);
    work(&ex, &clock);
    work(&ex, &clock);
    assert_eq!(busy(), 0.006);
}

#[test]
fn a_queue_that_is_gone_leaves_no_gauge_and_its_name_goes_on() {
    let (ex, _) = executor();
    let mut exporter = Exporter::new();
    let mut publish = |ex: &Executor| {
        let series = recorded(|| exporter.publish(&ex.stats(), &ex.observed()));
        let of_queue = |name: &str| {
            series.get(&format!("clockworker_queue_{name}{{queue=\"tenant\"}}")).map(|value| value.0)
        };
        (of_queue("share"), of_queue("tasks_spawned_total"))
    };
    let tenant = ex.new_queue("tenant").share(7).create().unwrap();
    ex.block_on(tenant.spawn(async {})).unwrap();
    assert_eq!(publish(&ex), (Some(7.0), Some(1.0)));
    tenant.close();
    drop(tenant);
    assert_eq!(publish(&ex), (Some(0.0), None));
    assert_eq!(publish(&ex), (None, None));
    let tenant = ex.new_queue("tenant").share(3).create().unwrap();
    drop(tenant.spawn(async {}));
    drop(tenant.spawn(async {}));
    assert_eq!(publish(&ex), (Some(3.0), Some(2.0)));
}

#[test]
fn without_a_recorder_and_for_another_executors_stats_nothing_breaks() {
    let (ex, clock) = executor();
    work(&ex, &clock);
    let mut exporter = Exporter::new();
    exporter.publish(&ex.stats(), &ex.observed());
    let series = recorded(|| exporter.publish(&Executor::new().stats(), &Observed::default()));
    assert_eq!(series["clockworker_queue_polls_total{queue=\"default\"}"].0, 0.0);
}
