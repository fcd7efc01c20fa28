//! Timelines: what is in them, what is kept of them, and when they stop.

use std::time::Duration;

use clockworker::observe::{EventKind, Observation, PollOutcome, ReadyReason, SliceEndReason, Timeline};
use clockworker::yield_now;
use clockworker_testing::driving::settle;

use super::{observing, us};

/// The events in short, with their times in microseconds.
fn told(timeline: &Timeline) -> Vec<(u128, String)> {
    let name = |queue| timeline.queue_name(queue).unwrap_or("?").to_owned();
    let told = |kind| match kind {
        EventKind::Spawned { task, .. } => format!("spawn {}{}", name(task.queue), task.slot),
        EventKind::Ready { task, reason: ReadyReason::Local } => {
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
            format!(
                "poll {}{} {} us /{measured_with} {outcome}",
                name(task.queue),
                task.slot,
                took.as_micros()
            )
        }
        EventKind::SliceEnded { reason, .. } => format!("end: {reason:?}"),
        EventKind::TurnBegan => "turn".into(),
        EventKind::TurnEnded { idle } => format!("turn over, idle {idle}"),
        _ => "?".into(),
    };
    timeline.events.iter().map(|event| (event.at.as_micros(), told(event.kind))).collect()
}

#[test]
fn events_are_in_their_order_with_their_times() {
    let (ex, clock) = observing(Observation::new().timeline(1 << 16).every_poll());
    let other = ex.new_queue("b").create().unwrap();
    let passing = clock.clone();
    clock.advance(us(1));
    let task = other.spawn(async move {
        passing.advance(us(30));
        yield_now().await;
        passing.advance(us(4));
    });
    ex.spawn(async move { task.await.unwrap() });
    clock.advance(us(2));
    settle(&ex);
    let expected = [
        (1, "spawn b0"),
        (1, "spawn default0"),
        (3, "turn"),
        (3, "slice of default with 1"),
        (3, "poll default0 0 us /1 waits"),
        (3, "end: Drained"),
        (3, "slice of b with 1"),
        (3, "poll b0 30 us /1 yields"),
        (33, "end: HostDue"),
        (33, "turn over, idle false"),
        (33, "turn"),
        (33, "slice of b with 1"),
        (33, "poll b0 4 us /1 ends"),
        (37, "wake default0"),
        (37, "end: Drained"),
        (37, "slice of default with 1"),
        (37, "poll default0 0 us /1 ends"),
        (37, "end: Drained"),
        (37, "turn over, idle true"),
    ];
    let told = told(&ex.timeline());
    let told: Vec<(u128, &str)> = told.iter().map(|(at, what)| (*at, what.as_str())).collect();
    assert_eq!(told, expected);
}

#[test]
fn polls_that_were_not_timed_share_the_time() {
    let (ex, clock) = observing(Observation::new().timeline(1 << 20));
    let passing = clock.clone();
    ex.spawn(async move {
        for _ in 0..10_000 {
            passing.advance(Duration::from_nanos(100));
            yield_now().await;
        }
    });
    settle(&ex);
    let timeline = ex.timeline();
    let polls = timeline.events.iter().filter_map(|event| match event.kind {
        EventKind::Polled { took, measured_with, .. } => Some((took, measured_with)),
        _ => None,
    });
    let (took, with): (Vec<Duration>, Vec<u32>) = polls.unzip();
    assert_eq!(took.len(), 10_001);
    assert_eq!(took.iter().sum::<Duration>(), ex.stats().busy);
    assert!(with.iter().any(|&with| with > 8), "most are not timed by themselves");
}

#[test]
fn the_oldest_is_overwritten_and_what_is_left_can_be_read() {
    let (ex, clock) = observing(Observation::new().timeline(1 << 10).every_poll());
    for _ in 0..100 {
        let passing = clock.clone();
        ex.spawn(async move {
            passing.advance(us(1));
            yield_now().await;
            passing.advance(us(2));
        });
        settle(&ex);
    }
    let timeline = ex.timeline();
    assert!(timeline.is_cut && !timeline.is_stopped);
    assert!((10..128).contains(&timeline.events.len()), "{}", timeline.events.len());
    assert!(timeline.events.is_sorted_by_key(|event| event.at));
    let last = timeline.events.last().unwrap();
    assert_eq!((last.at, last.kind), (us(300), EventKind::TurnEnded { idle: true }));
}

#[test]
fn it_stops_after_a_long_wait_with_what_led_to_it() {
    let asked = Observation::new().latency().timeline(1 << 16).every_poll();
    let (ex, clock) = observing(asked.stop_after_wait(us(999)));
    let polls = |ex: &clockworker::Executor| {
        ex.timeline().events.iter().filter(|event| matches!(event.kind, EventKind::Polled { .. })).count()
    };
    let pass = |by: u64| {
        let passing = clock.clone();
        ex.spawn(async move { passing.advance(us(by)) });
    };
    pass(999);
    pass(1);
    settle(&ex);
    assert!(!ex.timeline().is_stopped, "999 us are no longer than 999");
    pass(1_000);
    pass(1);
    settle(&ex);
    assert!(ex.timeline().is_stopped);
    let kept = polls(&ex);
    pass(7);
    settle(&ex);
    assert_eq!(polls(&ex), kept);
    ex.observe(asked).unwrap();
    pass(7);
    settle(&ex);
    assert!(!ex.timeline().is_stopped);
    assert_eq!(polls(&ex), 1, "it begins anew");
}

#[test]
fn it_stops_for_the_queue_that_is_meant_and_for_no_other() {
    let asked = Observation::new().latency().timeline(1 << 16).every_poll().stop_after_wait(us(999));
    let (ex, clock) = observing(Observation::new());
    let requests = ex.new_queue("requests").create().unwrap();
    ex.observe(asked.stop_for_queue(requests.stats().number)).unwrap();
    let pass = |queue: &clockworker::Queue| {
        let passing = clock.clone();
        queue.spawn(async move { passing.advance(us(1_000)) });
    };
    for _ in 0..3 {
        pass(ex.default_queue());
    }
    settle(&ex);
    assert!(!ex.timeline().is_stopped);
    for _ in 0..2 {
        pass(&requests);
    }
    settle(&ex);
    assert!(ex.timeline().is_stopped);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let (ex, _clock) = observing(Observation::new());
    for bytes in [0, 1_023, usize::MAX] {
        let error = ex.observe(Observation::new().timeline(bytes)).unwrap_err();
        assert!(error.is_timeline_bytes());
        assert!(error.to_string().contains(&bytes.to_string()), "{error}");
    }
    for asked in [Observation::new().latency(), Observation::new().timeline(4_096)] {
        let error = ex.observe(asked.stop_after_wait(us(1))).unwrap_err();
        assert!(error.is_stop_after_wait(), "{error}");
    }
    for asked in [Observation::new(), Observation::new().latency().timeline(4_096)] {
        let error = ex.observe(asked.stop_for_queue(0)).unwrap_err();
        assert!(error.is_stop_after_wait(), "{error}");
    }
    assert!(ex.timeline().events.is_empty());
}

#[test]
fn a_preempted_slice_says_so() {
    let (ex, clock) = observing(Observation::new().timeline(1 << 16).every_poll());
    let urgent = ex.new_queue("urgent").share(1_000).request(us(10)).create().unwrap();
    let passing = clock.clone();
    ex.spawn(async move {
        passing.advance(us(50));
        urgent.spawn(async {});
        yield_now().await;
    });
    settle(&ex);
    let timeline = ex.timeline();
    let ends = timeline.events.iter().filter_map(|event| match event.kind {
        EventKind::SliceEnded { reason, .. } => Some(reason),
        _ => None,
    });
    let ends: Vec<SliceEndReason> = ends.collect();
    assert_eq!(ends, [SliceEndReason::Preempted, SliceEndReason::Drained, SliceEndReason::Drained]);
}

/// The place of the first event that says so.
fn place(told: &[(u128, String)], what: &str) -> usize {
    told.iter().position(|(_, said)| said.starts_with(what)).unwrap_or_else(|| panic!("{what}: {told:?}"))
}

/// The executor takes them in without another reading of its clock: by that it is earlier than they say.
#[test]
fn what_comes_from_another_thread_comes_before_it_is_polled() {
    let (ex, clock) = observing(Observation::new().timeline(1 << 16));
    let handle = ex.handle();
    let (wake, woken) = futures::channel::oneshot::channel::<()>();
    ex.spawn(async { _ = woken.await });
    ex.spawn(async move {
        // Until polls are timed rarely.
        for _ in 0..500 {
            yield_now().await;
        }
        clock.advance(us(1));
        std::thread::scope(|scope| {
            scope.spawn(|| handle.spawn(|| async {}));
            scope.spawn(|| wake.send(()));
        });
        yield_now().await;
    });
    settle(&ex);
    let told = told(&ex.timeline());
    assert!(place(&told, "spawn default2") < place(&told, "poll default2"), "{told:?}");
    let waking = place(&told, "remote wake default0");
    assert!(told[waking..].iter().any(|(_, said)| said.starts_with("poll default0")), "{told:?}");
}

#[test]
fn what_came_before_the_timeline_began_comes_with_it() {
    let (ex, clock) = observing(Observation::new());
    let (first, second) = (ex.handle(), ex.handle());
    let (wake, woken) = futures::channel::oneshot::channel::<()>();
    ex.spawn(async { _ = woken.await });
    settle(&ex);
    std::thread::scope(|scope| {
        scope.spawn(move || first.spawn(|| async {}));
        scope.spawn(move || wake.send(()));
    });
    clock.advance(us(5));
    ex.observe(Observation::new().timeline(1 << 16)).unwrap();
    std::thread::scope(|scope| scope.spawn(move || second.spawn(|| async {})).join().unwrap()).abort();
    settle(&ex);
    let told = told(&ex.timeline());
    assert!(told.iter().all(|(at, _)| *at == 5), "{told:?}");
    assert!(place(&told, "spawn default1") < place(&told, "poll default1"), "{told:?}");
    assert!(place(&told, "remote wake default0") < place(&told, "poll default0"), "{told:?}");
}
