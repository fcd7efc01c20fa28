//! Traces for dial9, read back by its own decoder.

#![cfg(feature = "dial9")]

use std::collections::BTreeMap;
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{
    Event, EventKind, Observation, PollOutcome, ReadyReason, SliceEndReason, TaskRef, Timeline, TimelineQueue,
};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_timeline::write_dial9;
use dial9_trace_format::decoder::Decoder;
use dial9_trace_format::types::FieldValueRef;

/// An event as its name, its time in nanoseconds, and its fields as text.
type Read = (String, u64, String);

fn trace(timeline: &Timeline) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_dial9(timeline, &mut bytes).unwrap();
    bytes
}

fn read(timeline: &Timeline) -> Vec<Read> {
    let bytes = trace(timeline);
    let mut events = Vec::new();
    let mut decoder = Decoder::new(&bytes).unwrap();
    let read = decoder.for_each_event(|event| {
        let fields = event.field_names().zip(event.fields).map(|(name, value)| {
            let value = match value {
                FieldValueRef::Varint(number) => number.to_string(),
                FieldValueRef::Bool(yes) => yes.to_string(),
                FieldValueRef::PooledString(id) => event.string_pool.get(*id).unwrap().to_owned(),
                FieldValueRef::StringMap(map) => {
                    map.iter().map(|(key, value)| format!("{key:?}{value:?}")).collect()
                }
                FieldValueRef::None => "none".to_owned(),
                other => panic!("{other:?}"),
            };
            format!("{name} {value}")
        });
        events.push((event.name.to_owned(), event.timestamp_ns, fields.collect::<Vec<_>>().join(", ")));
    });
    read.unwrap();
    events
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

#[test]
fn a_scripted_timeline_is_read_back_as_it_was() {
    let (a, b) = (TaskRef { queue: 1, slot: 0, generation: 1 }, TaskRef { queue: 1, slot: 4, generation: 9 });
    let location = Location::caller();
    let events = [
        (0, EventKind::TurnBegan),
        (1, EventKind::Spawned { task: a, location, group: None }),
        (2, EventKind::SliceBegan { queue: 1, ready: 1 }),
        (2, EventKind::Polled { task: a, took: us(6), measured_with: 1, outcome: PollOutcome::Yielded }),
        // In the poll.
        (5, EventKind::Ready { task: b, reason: ReadyReason::Local }),
        (8, EventKind::Polled { task: b, took: us(1), measured_with: 1, outcome: PollOutcome::Pending }),
        (9, EventKind::Polled { task: a, took: us(1), measured_with: 1, outcome: PollOutcome::Finished }),
        (10, EventKind::SliceEnded { queue: 1, reason: SliceEndReason::Drained }),
        (30_000, EventKind::Ready { task: b, reason: ReadyReason::Remote }),
    ];
    let events = events.map(|(at, kind)| Event { at: us(at), kind }).to_vec();
    let timeline = Timeline::new(vec![TimelineQueue::new(1, "requests", 3, us(500))], events);
    let before = "(before the timeline)";
    let expected = [
        ("SegmentMetadataEvent", 0, "entries \"runtime.requests\"\"1\"".to_owned()),
        ("TaskSpawnEvent", 1, format!("task_id 1, spawn_loc {location}, instrumented true")),
        ("WakeEventEvent", 1, "waker_task_id 0, woken_task_id 1, target_worker 255".to_owned()),
        (
            "WorkerUnparkEvent",
            2,
            "worker_id 1, local_queue 1, cpu_time_ns 0, sched_wait_ns none, tid 2".to_owned(),
        ),
        ("PollStartEvent", 2, format!("worker_id 1, local_queue 0, task_id 1, spawn_loc {location}")),
        ("WakeEventEvent", 5, "waker_task_id 0, woken_task_id 2, target_worker 1".to_owned()),
        ("PollEndEvent", 8, "worker_id 1".to_owned()),
        ("WakeEventEvent", 8, "waker_task_id 1, woken_task_id 1, target_worker 1".to_owned()),
        ("PollStartEvent", 8, format!("worker_id 1, local_queue 1, task_id 2, spawn_loc {before}")),
        ("PollEndEvent", 9, "worker_id 1".to_owned()),
        ("PollStartEvent", 9, format!("worker_id 1, local_queue 0, task_id 1, spawn_loc {location}")),
        ("PollEndEvent", 10, "worker_id 1".to_owned()),
        ("TaskTerminateEvent", 10, "task_id 1".to_owned()),
        ("WorkerParkEvent", 10, "worker_id 1, local_queue 0, cpu_time_ns 8000, tid 2".to_owned()),
        ("WakeEventEvent", 30_000, "waker_task_id 0, woken_task_id 2, target_worker 255".to_owned()),
    ];
    let expected = expected.map(|(name, at, fields)| (name.to_owned(), at * 1_000, fields));
    assert_eq!(read(&timeline), expected);
}

/// Tasks of two queues that work and yield, up to six times.
fn run(tasks: u64) -> Executor {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let other = ex.new_queue("other").share(3).create().unwrap();
    ex.observe(Observation::new().timeline(1 << 24).every_poll()).unwrap();
    for nth in 0..tasks {
        let clock = clock.clone();
        let task = async move {
            for _ in 0..nth % 7 {
                clock.advance(us(nth % 300));
                yield_now().await;
            }
        };
        if nth % 3 == 0 {
            other.spawn(task)
        } else {
            ex.spawn(task)
        };
    }
    ex.block_on(ex.drained());
    ex
}

#[test]
fn polls_of_each_worker_are_what_its_queue_was_busy() {
    let ex = run(300);
    let timeline = ex.timeline();
    let events = read(&timeline);
    assert!(events.is_sorted_by_key(|event| event.1), "in the order of their times");
    let (mut polled, mut began): (BTreeMap<String, u64>, u64) = (BTreeMap::new(), 0);
    for (name, at, fields) in events {
        match &*name {
            "PollStartEvent" => began = at,
            "PollEndEvent" => *polled.entry(fields).or_default() += at - began,
            _ => {}
        }
    }
    let busy = ex.stats().queues.into_iter().zip(["worker_id 0", "worker_id 1"]);
    let busy = busy.map(|(queue, worker)| (worker.to_owned(), queue.busy.as_nanos() as u64));
    assert_eq!(polled, busy.collect());
    assert!(trace(&timeline).len() < 25 * timeline.events.len());
}

#[test]
fn nothing_is_a_trace_too() {
    assert_eq!(read(&Timeline::default()).len(), 1);
}
