//! Timelines: what is in them, what is kept of them, and when they stop.

use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};
use clockworker_observe::{EventKind, Observation, Observe, PollOutcome, Timeline, WokenBy};

use super::observing;
use crate::support::*;

/// The events in short, each with its time in microseconds.
fn lines(timeline: &Timeline) -> Vec<String> {
    let name = |queue| timeline.queue_name(queue).unwrap_or("?").to_owned();
    let text = |kind| match kind {
        EventKind::Spawned { task, .. } => format!("spawn {}{}", name(task.queue), task.slot),
        EventKind::Ready { task, reason: WokenBy::Local } => {
            format!("wake {}{}", name(task.queue), task.slot)
        }
        EventKind::Ready { task, .. } => format!("remote wake {}{}", name(task.queue), task.slot),
        EventKind::SliceBegan { queue, ready } => format!("slice of {} with {ready}", name(queue)),
        EventKind::Polled { task, took, measured_with, outcome } => {
            let outcome = match outcome {
                PollOutcome::Pending => "waits",
                PollOutcome::Yielded => "yields",
                _ => "ends",
            };
            let (task, us) = (format!("{}{}", name(task.queue), task.slot), took.as_micros());
            format!("poll {task} {us} us /{measured_with} {outcome}")
        }
        EventKind::SliceEnded { reason, .. } => format!("end: {reason:?}"),
        EventKind::TurnBegan => "turn".into(),
        EventKind::TurnEnded { idle } => format!("turn over, idle {idle}"),
        _ => "?".into(),
    };
    let line = |at: Duration, kind| format!("{} {}", at.as_micros(), text(kind));
    timeline.events.iter().map(|event| line(event.at, event.kind)).collect()
}

#[test]
fn events_are_in_their_order_with_their_times() {
    let ex = observing(Observation::new().timeline(1 << 16).every_poll());
    let other = ex.new_queue("b").create().unwrap();
    work(us(1));
    let task = other.spawn(async {
        polls("", 1, us(30)).await;
        yield_now().await;
        work(us(4));
    });
    ex.spawn(async move { task.await.unwrap() });
    work(us(2));
    settle(&ex);
    let expected = "1 spawn b0
        1 spawn default0
        3 turn
        3 slice of default with 1
        3 poll default0 0 us /1 waits
        3 end: Drained
        3 slice of b with 1
        3 poll b0 30 us /1 yields
        33 end: HostDue
        33 turn over, idle false
        33 turn
        33 slice of b with 1
        33 poll b0 4 us /1 ends
        37 wake default0
        37 end: Drained
        37 slice of default with 1
        37 poll default0 0 us /1 ends
        37 end: Drained
        37 turn over, idle true";
    assert_eq!(lines(&ex.timeline()), expected.lines().map(str::trim).collect::<Vec<_>>());
}

/// How long polls took, and how many were measured together.
fn polled(ex: &Executor) -> Vec<(Duration, u32)> {
    let events = ex.timeline().events;
    let polls = events.iter().filter_map(|event| match event.kind {
        EventKind::Polled { took, measured_with, .. } => Some((took, measured_with)),
        _ => None,
    });
    polls.collect()
}

#[test]
fn polls_that_were_not_timed_share_the_time() {
    let ex = observing(Observation::new().timeline(1 << 20));
    ex.spawn(polls("", 10_000, Duration::from_nanos(100)));
    settle(&ex);
    let polls = polled(&ex);
    assert_eq!(polls.len(), 10_000);
    assert_eq!(polls.iter().map(|poll| poll.0).sum::<Duration>(), ex.stats().busy);
    assert!(polls.iter().any(|poll| poll.1 > 8), "most are not timed by themselves");
}

#[test]
fn the_oldest_is_overwritten_and_what_is_left_can_be_read() {
    let ex = observing(Observation::new().timeline(1 << 10).every_poll());
    for _ in 0..100 {
        ex.spawn(async {
            work(us(1));
            yield_now().await;
            work(us(2));
        });
        settle(&ex);
    }
    let timeline = ex.timeline();
    assert!(timeline.is_cut && !timeline.is_stopped);
    assert!((10..128).contains(&timeline.events.len()), "{}", timeline.events.len());
    assert!(timeline.events.is_sorted_by_key(|event| event.at));
    assert_eq!(lines(&timeline).last().unwrap(), "300 turn over, idle true");
}

/// What stops after a wait of more than 999 µs.
fn stopping() -> Observation {
    Observation::new().latency().timeline(1 << 16).every_poll().stop_after_wait(us(999))
}

/// Tasks of one poll each: whether the timeline is stopped then.
fn is_stopped_by(ex: &Executor, queue: &Queue, lengths: &[u64]) -> bool {
    lengths.iter().for_each(|&length| drop(queue.spawn(polls("", 1, us(length)))));
    settle(ex);
    ex.timeline().is_stopped
}

#[test]
fn it_stops_after_a_long_wait_with_what_led_to_it() {
    let ex = observing(stopping());
    let queue = ex.default_queue();
    assert!(!is_stopped_by(&ex, queue, &[999, 1]), "999 us are no longer than 999");
    assert!(is_stopped_by(&ex, queue, &[1_000, 1]));
    let kept = polled(&ex).len();
    assert!(is_stopped_by(&ex, queue, &[7]) && polled(&ex).len() == kept);
    ex.observe(Observation::new().latency().timeline(1 << 16).every_poll()).unwrap();
    assert!(!is_stopped_by(&ex, queue, &[7]) && polled(&ex).len() == 1, "it begins anew");
}

#[test]
fn it_stops_for_the_queue_that_is_meant_and_for_no_other() {
    let ex = observing(Observation::new());
    let requests = ex.new_queue("requests").create().unwrap();
    ex.observe(stopping().stop_for_queue(requests.stats().number)).unwrap();
    assert!(!is_stopped_by(&ex, ex.default_queue(), &[1_000; 3]));
    assert!(is_stopped_by(&ex, &requests, &[1_000; 2]));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let ex = observing(Observation::new());
    for bytes in [0, 1_023, usize::MAX] {
        let error = ex.observe(Observation::new().timeline(bytes)).unwrap_err();
        assert!(error.is_timeline_bytes());
        assert!(error.to_string().contains(&bytes.to_string()), "{error}");
    }
    for asked in [
        Observation::new().latency().stop_after_wait(us(1)),
        Observation::new().timeline(4_096).stop_after_wait(us(1)),
        Observation::new().stop_for_queue(0),
        Observation::new().latency().timeline(4_096).stop_for_queue(0),
    ] {
        let error = ex.observe(asked).unwrap_err();
        assert!(error.is_stop_after_wait(), "{error}");
    }
    assert!(ex.timeline().events.is_empty());
}

#[test]
fn a_preempted_slice_says_so() {
    let ex = observing(Observation::new().timeline(1 << 16).every_poll());
    ex.new_queue("urgent").share(1_000).request(us(10)).create().unwrap();
    let urgent = queue(&ex, "urgent");
    ex.spawn(async move {
        work(us(50));
        urgent.spawn(async {});
        yield_now().await;
    });
    settle(&ex);
    let mut ends = lines(&ex.timeline());
    ends.retain(|what| what.contains("end:"));
    assert_eq!(ends, ["50 end: Preempted", "50 end: HostDue", "50 end: Drained"]);
}

/// The place of the first event that says so.
#[track_caller]
fn place(lines: &[String], what: &str) -> usize {
    let says = |said: &String| said.split_once(' ').unwrap().1.starts_with(what);
    lines.iter().position(says).unwrap_or_else(|| panic!("{what}: {lines:?}"))
}

/// The executor takes them in without another reading of its clock: by that it is earlier than they say.
#[test]
fn what_comes_from_another_thread_comes_before_it_is_polled() {
    let ex = observing(Observation::new().timeline(1 << 16));
    let handle = ex.handle();
    let (wake, woken) = futures::channel::oneshot::channel::<()>();
    ex.spawn(async { _ = woken.await });
    ex.spawn(async move {
        // Until polls are timed rarely.
        yields(500).await;
        work(us(1));
        elsewhere(|| {
            drop(handle.spawn(|| async {}));
            wake.send(()).unwrap();
        });
        yield_now().await;
    });
    settle(&ex);
    let lines = lines(&ex.timeline());
    assert!(place(&lines, "spawn default2") < place(&lines, "poll default2"), "{lines:?}");
    let waking = place(&lines, "remote wake default0");
    assert!(lines[waking..].iter().any(|said| said.contains(" poll default0")), "{lines:?}");
}

#[test]
fn what_came_before_the_timeline_began_comes_with_it() {
    let ex = observing(Observation::new());
    let handle = ex.handle();
    let (wake, woken) = futures::channel::oneshot::channel::<()>();
    ex.spawn(async { _ = woken.await });
    settle(&ex);
    elsewhere(|| {
        drop(handle.spawn(|| async {}));
        wake.send(()).unwrap();
    });
    work(us(5));
    ex.observe(Observation::new().timeline(1 << 16)).unwrap();
    elsewhere(|| handle.spawn(|| async {})).abort();
    settle(&ex);
    let lines = lines(&ex.timeline());
    assert!(lines.iter().all(|said| said.starts_with("5 ")), "{lines:?}");
    assert!(place(&lines, "spawn default1") < place(&lines, "poll default1"), "{lines:?}");
    assert!(place(&lines, "remote wake default0") < place(&lines, "poll default0"), "{lines:?}");
}

/// From the queue that a task has left it waits no more: its wait is one, and ends where it is polled.
#[cfg(feature = "timeline")]
#[test]
fn a_ready_task_that_moves_waits_in_one_queue() {
    for is_polled_before in [false, true] {
        let ex = observing(Observation::new().timeline(1 << 16).every_poll());
        let (idle, front) = (ex.new_queue("idle").create().unwrap(), ex.new_queue("front").create().unwrap());
        let task = idle.spawn(async { yield_now().await });
        let budget = ex.spawn(async { work(us(500)) });
        if is_polled_before {
            tick(&ex);
        }
        work(us(10));
        task.move_to(&front).unwrap();
        settle(&ex);
        work(us(1_000));
        settle(&ex);
        assert!(task.is_finished() && budget.is_finished());
        let timeline = ex.timeline();
        let waits = clockworker_observe::summary(&timeline);
        // At most that of its first poll there.
        let longest = "waited for             510.0µs from      0.0ns on: task 0 of front";
        assert!(waits.contains("waited for") && !waits.contains("1.5ms from"), "{waits}");
        assert!(is_polled_before || waits.contains(longest) && !waits.contains("idle"), "{waits}");
    }
}
