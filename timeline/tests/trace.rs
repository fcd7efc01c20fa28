//! Traces and summaries of what executors did, against what is known of it.

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::observe::{Observation, Timeline};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_timeline::{Summary, write_perfetto};
use proptest::prelude::*;
use serde_json::Value;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// Tasks of two queues: for each its queue, how long each of its polls takes, and how often it yields.
fn run(tasks: &[(bool, u64, u32)], asked: Observation) -> (Executor, Timeline) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let other = ex.new_queue("other").share(3).create().unwrap();
    ex.observe(asked).unwrap();
    for &(in_other, took, yields) in tasks {
        let clock = clock.clone();
        let task = async move {
            for _ in 0..yields {
                clock.advance(us(took));
                yield_now().await;
            }
            clock.advance(us(took));
        };
        if in_other {
            other.spawn(task)
        } else {
            ex.spawn(task)
        };
    }
    ex.block_on(ex.drained());
    let timeline = ex.timeline();
    (ex, timeline)
}

fn trace(timeline: &Timeline) -> Vec<Value> {
    let mut json = Vec::new();
    write_perfetto(timeline, &mut json).unwrap();
    let mut trace: Value = serde_json::from_slice(&json).unwrap();
    match trace["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("{other}"),
    }
}

/// Slices of a track as (from, to), in nanoseconds.
fn slices(events: &[Value], tid: u64) -> Vec<(u64, u64)> {
    let ns = |value: &Value| (value.as_f64().unwrap() * 1_000.0).round() as u64;
    let of_track = events.iter().filter(|event| event["ph"] == "X" && event["tid"] == tid);
    of_track.map(|event| (ns(&event["ts"]), ns(&event["ts"]) + ns(&event["dur"]))).collect()
}

/// Slices of one track nest or are apart, or Perfetto moves them elsewhere; and what begins ends.
fn assert_well_formed(events: &[Value]) {
    for tid in 0..3 {
        let mut slices = slices(events, tid);
        slices.sort_by_key(|&(from, to)| (from, std::cmp::Reverse(to)));
        let mut open: Vec<u64> = Vec::new();
        for (from, to) in slices {
            while open.last().is_some_and(|&end| end <= from) {
                open.pop();
            }
            assert!(open.last().is_none_or(|&end| to <= end), "{from} to {to} overlaps on track {tid}");
            open.push(to);
        }
    }
    let mut waits: BTreeMap<&str, i32> = BTreeMap::new();
    for event in events {
        let by = match event["ph"].as_str().unwrap() {
            "b" => 1,
            "e" => -1,
            _ => continue,
        };
        let open = waits.entry(event["id"].as_str().unwrap()).or_default();
        *open += by;
        assert!((0..=1).contains(open), "{event}");
    }
    assert!(waits.values().all(|&open| open == 0));
}

#[test]
fn a_small_run_is_drawn_as_it_was() {
    let asked = Observation::new().timeline(1 << 16).every_poll();
    let (_ex, timeline) = run(&[(false, 30, 1), (true, 50, 0)], asked);
    let events = trace(&timeline);
    assert_well_formed(&events);
    let of_task = |ph: &str| {
        let of_ph = events.iter().filter(move |event| event["ph"] == ph && event["args"]["task"].is_string());
        let ts = |event: &Value| event["ts"].as_f64().unwrap();
        of_ph.map(|event| (event["args"]["task"].as_str().unwrap().to_owned(), ts(event))).collect::<Vec<_>>()
    };
    let named =
        |all: &[(&str, f64)]| all.iter().map(|(name, ts)| ((*name).to_owned(), *ts)).collect::<Vec<_>>();
    // The queue of the larger share is due first, and the second poll of the other's task is the last.
    assert_eq!(of_task("X"), named(&[("1.0.1", 0.0), ("0.0.1", 50.0), ("0.0.1", 80.0)]));
    assert_eq!(of_task("b"), named(&[("1.0.1", 0.0), ("0.0.1", 0.0), ("0.0.1", 80.0)]));
    assert_eq!(of_task("e"), named(&[("1.0.1", 0.0), ("0.0.1", 50.0), ("0.0.1", 80.0)]));
    let names: Vec<&Value> = events.iter().filter(|event| event["name"] == "thread_name").collect();
    assert_eq!(names[2]["args"]["name"], "queue other (share 3)");
    let polled = events.iter().find(|event| event["args"]["task"] == "1.0.1").unwrap();
    assert!(polled["name"].as_str().unwrap().contains("trace.rs:"), "{polled}");
}

#[test]
fn a_summary_says_who_held_the_thread_and_who_waited() {
    let asked = Observation::new().timeline(1 << 16).every_poll();
    let (_ex, timeline) = run(&[(true, 700, 0), (false, 30, 1)], asked);
    let summary = Summary::of(&timeline);
    assert_eq!(summary.time, us(760));
    assert_eq!(summary.longest_polls[0].took, us(700));
    assert_eq!(
        (summary.longest_waits[0].waited, summary.longest_waits[0].queue.as_str()),
        (us(700), "default")
    );
    let text = summary.to_string();
    assert!(text.contains("held the thread for   700.0 µs"), "{text}");
    assert!(text.contains("waited for            700.0 µs"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn nothing_is_a_trace_too() {
    assert_eq!(trace(&Timeline::default()).len(), 3);
    assert!(Summary::of(&Timeline::default()).queues.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_ran_the_trace_is_well_formed_and_has_all_of_it(
        tasks in prop::collection::vec((any::<bool>(), 0_u64..400, 0_u32..40), 1..20),
        bytes in 10_u32..20,
        every_poll in any::<bool>(),
    ) {
        let asked = Observation::new().timeline(1 << bytes);
        let (ex, timeline) = run(&tasks, if every_poll { asked.every_poll() } else { asked });
        assert_well_formed(&trace(&timeline));
        if !timeline.is_cut {
            let stats = ex.stats().queues;
            for queue in Summary::of(&timeline).queues {
                let account = stats.iter().find(|of| of.name == queue.name).unwrap();
                prop_assert_eq!(queue.busy, account.busy);
                prop_assert_eq!(queue.polls, account.polls);
            }
        }
    }
}
