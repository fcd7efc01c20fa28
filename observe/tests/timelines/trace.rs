//! Traces, pages and summaries of what executors did, against what is known of it.

use std::collections::BTreeMap;

use clockworker::{Executor, yield_now};
use clockworker_observe::PollOutcome::{Finished, Pending, Yielded};
use clockworker_observe::SliceEndReason::HostDue;
use clockworker_observe::{Observation, Observe, Timeline};
use clockworker_observe::{summary, write_html};
use clockworker_testing::driving::settle;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{HEAVY, Script, everything, executor, ns, run, trace, us};

/// Slices of one track nest or are apart, or Perfetto moves them elsewhere; and what begins ends.
fn assert_well_formed(events: &[Value]) {
    for tid in 0..3 {
        let slices = events.iter().filter(|event| event["ph"] == "X" && event["tid"] == tid);
        let mut slices: Vec<_> =
            slices.map(|event| (ns(&event["ts"]), ns(&event["ts"]) + ns(&event["dur"]))).collect();
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
    let (_ex, timeline) = run(everything(), &[(false, 30, 2), (true, 50, 1)]);
    let events = trace(&timeline);
    assert_well_formed(&events);
    let of_task = |ph: &str| -> Vec<(&str, u64)> {
        let of_ph = events.iter().filter(|event| event["ph"] == ph);
        of_ph.filter_map(|event| Some((event["args"]["task"].as_str()?, ns(&event["ts"]) / 1_000))).collect()
    };
    // The queue of the larger share is due first, and the second poll of the other's task is the last.
    assert_eq!(of_task("X"), [("0.0.1", 50), ("0.0.1", 80), ("1.0.1", 0)]);
    assert_eq!(of_task("b"), [("0.0.1", 0), ("0.0.1", 80), ("1.0.1", 0)]);
    assert_eq!(of_task("e"), [("0.0.1", 50), ("0.0.1", 80), ("1.0.1", 0)]);
    let names: Vec<&Value> = events.iter().filter(|event| event["name"] == "thread_name").collect();
    assert_eq!(names[2]["args"]["name"], "queue other (share 3)");
    let polled = events.iter().find(|event| event["args"]["task"] == "1.0.1").unwrap();
    assert!(polled["name"].as_str().unwrap().contains("support.rs:"), "{polled}");
}

#[test]
fn a_summary_says_who_held_the_thread_and_who_waited() {
    let (_ex, timeline) = run(everything(), &[(true, 700, 1), (false, 30, 2)]);
    let text = summary(&timeline);
    let [all, head, default, other, host, held, .., waited, _, _] = &text.lines().collect::<Vec<_>>()[..]
    else {
        panic!("{text}")
    };
    assert_eq!(*all, "760µs");
    assert_eq!(*head, "queue   share     polls       busy   wait p50        p99    longest");
    assert!(default.starts_with("default     1         2     60.0µs      0.0ns"), "{text}");
    assert!(other.starts_with("other       3         1    700.0µs      0.0ns"), "{text}");
    assert!(host.starts_with("(host)      –         –      0.0ns     30.7µs    700.0µs"), "{text}");
    assert!(held.starts_with("held the thread for    700.0µs from      0.0ns on: task 0 of other"), "{text}");
    assert!(
        waited.starts_with("waited for             700.0µs from      0.0ns on: task 0 of default"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

/// Beside polls of 20 ms no task waits but for its own, and the host for 20 ms.
#[test]
fn a_summary_a_trace_and_a_page_say_how_long_the_host_was_not_looked_at() {
    let (ex, clock) = executor(Observation::new().timeline(1 << 20));
    let reports = ex.new_queue("reports").create().unwrap();
    reports.spawn(async move {
        for _ in 0..3 {
            clock.advance(us(20_000));
            yield_now().await;
        }
    });
    settle(&ex);
    let timeline = ex.timeline();
    let text = summary(&timeline);
    let [_, _, reports, host, ..] = &text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(
        reports.ends_with("  0.0ns      0.0ns      0.0ns") && host.ends_with("20.0ms     20.0ms     20.0ms"),
        "{text}"
    );
    let waited = "host waited for         20.0ms from      0.0ns on: task 0 of reports (20.0ms), at ";
    let line = text.lines().find(|line| line.starts_with("host waited for")).unwrap();
    assert!(line.starts_with(waited) && line.contains("trace.rs:"), "{text}");

    for events in [trace(&timeline), page_with(&timeline).1["traceEvents"].as_array().unwrap().clone()] {
        let turns: Vec<&Value> = events.iter().filter(|event| event["name"] == "turn").collect();
        let longest = &turns[0]["args"]["longest_poll"];
        assert_eq!([&turns[0]["dur"], &longest["dur"]].map(ns), [20_000_000; 2]);
        assert_eq!((&longest["queue"], &longest["task"]), (&"reports".into(), &"1.0.1".into()));
        assert!(longest["spawned_at"].as_str().unwrap().contains("trace.rs:"), "{longest}");
    }
}

/// How many tasks of a queue were ready, in microseconds.
fn ready(timeline: &Timeline, queue: &str) -> Vec<(u64, i64)> {
    let name = format!("ready: {queue}");
    let events = trace(timeline).into_iter().filter(|event| event["ph"] == "C" && event["name"] == *name);
    events.map(|event| (ns(&event["ts"]) / 1_000, event["args"]["tasks"].as_i64().unwrap())).collect()
}

#[test]
fn ready_tasks_are_counted_from_wake_to_poll() {
    let [first, second, third] = [(HEAVY, 0), (HEAVY, 1), (HEAVY, 2)];
    let began = Script::default().spawned(0, first).spawned(1, second).began(5, HEAVY, 2);
    let polled = began.polled(5, first, 10, Yielded).spawned(7, third).polled(15, second, 10, Pending);
    let timeline = polled.polled(30, third, 10, Finished).polled(40, first, 2, Yielded).timeline();
    let expected = [(0, 1), (1, 2), (5, 1), (7, 2), (30, 1), (40, 0), (42, 1)];
    assert_eq!(ready(&timeline, "heavy"), expected, "at 15 one yields and one is polled");
}

#[test]
fn a_slice_tells_of_tasks_that_were_ready_before_and_of_aborted_ones() {
    let began = Script::default().spawned(2, (HEAVY, 7)).began(4, HEAVY, 3);
    let polled = began.polled(4, (HEAVY, 5), 1, Pending).ended(5, HEAVY, HostDue);
    // One was aborted.
    let mut timeline = polled.began(9, HEAVY, 1).timeline();
    assert_eq!(ready(&timeline, "heavy"), [(2, 1), (4, 2), (9, 1)]);
    timeline.queues.clear();
    assert_eq!(ready(&timeline, "gone (0)").len(), 3);
}

/// A page, and the data in it.
fn page_with(timeline: &Timeline) -> (String, Value) {
    let mut page = Vec::new();
    write_html(timeline, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    let data = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    (page, data)
}

/// `.ci/browser` has a browser look at one.
#[test]
fn a_page_has_the_trace_in_it_and_asks_for_nothing_from_elsewhere() {
    let ex = Executor::new();
    let queue = ex.new_queue("</script><b>").create().unwrap();
    ex.observe(Observation::new().timeline(1 << 16)).unwrap();
    ex.block_on(queue.spawn(async {})).unwrap();
    assert_eq!(trace(&Timeline::default()).len(), 3, "nothing is a trace too");
    assert_eq!(summary(&Timeline::default()).lines().count(), 2);
    for timeline in [ex.timeline(), Timeline::default()] {
        let (page, data) = page_with(&timeline);
        for word in ["</script><b>", "http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!page.contains(word), "{word}");
        }
        assert_eq!(data["traceEvents"], Value::Array(trace(&timeline)));
        assert_eq!(data["otherData"], serde_json::json!({"is_cut": false, "is_stopped": false}));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_ran_the_trace_is_well_formed_and_has_all_of_it(
        tasks in prop::collection::vec((any::<bool>(), 0_u64..400, 1_u32..40), 1..20),
        bytes in 10_u32..20,
        every_poll in any::<bool>(),
    ) {
        let asked = Observation::new().timeline(1 << bytes);
        let (ex, timeline) = run(if every_poll { asked.every_poll() } else { asked }, &tasks);
        let events = trace(&timeline);
        assert_well_formed(&events);
        if !timeline.is_cut {
            for (nth, account) in ex.stats().queues.into_iter().enumerate() {
                let is_poll = |event: &&Value| event["tid"] == nth + 1 && event["args"]["outcome"].is_string();
                let polls: Vec<u64> = events.iter().filter(is_poll).map(|event| ns(&event["dur"])).collect();
                prop_assert_eq!(polls.len() as u64, account.polls);
                prop_assert_eq!(polls.iter().sum::<u64>(), account.busy.as_nanos() as u64);
                prop_assert!(ready(&timeline, &account.name).last().is_none_or(|last| last.1 == 0));
            }
        }
    }
}
