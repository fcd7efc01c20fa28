//! Traces for dial9, read back by its own decoder.

use std::collections::BTreeMap;

use clockworker_observe::PollOutcome::{Finished, Pending, Yielded};
use clockworker_observe::write_dial9;
use clockworker_observe::{EventKind, SliceEndReason, Timeline, WokenBy};
use dial9_trace_format::decoder::Decoder;
use dial9_trace_format::types::FieldValueRef;

use crate::support::{LIGHT, Script, everything, run};

/// The events of its trace: name, nanoseconds, and fields as text. And how many bytes they take.
fn read(timeline: &Timeline) -> (Vec<(String, u64, String)>, usize) {
    let mut bytes = Vec::new();
    write_dial9(timeline, &mut bytes).unwrap();
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
    (events, bytes.len())
}

#[test]
fn a_scripted_timeline_is_read_back_as_it_was() {
    let (a, b) = ((LIGHT, 0), (LIGHT, 4));
    let script = Script::default()
        .push(0, EventKind::TurnBegan)
        .spawned(1, a)
        .began(2, LIGHT, 1)
        .polled(2, a, 6, Yielded)
        // In the poll.
        .ready(5, b, WokenBy::Local)
        .polled(8, b, 1, Pending)
        .polled(9, a, 1, Finished)
        .ended(10, LIGHT, SliceEndReason::Drained)
        .ready(30_000, b, WokenBy::Remote);
    let timeline = script.timeline();
    let EventKind::Spawned { location, .. } = timeline.events[1].kind else { panic!() };
    let place = location.to_string();
    let expected = [
        ("SegmentMetadataEvent", 0, "entries \"runtime.heavy\"\"0\"\"runtime.light\"\"1\""),
        ("TaskSpawnEvent", 1, "task_id 1, spawn_loc PLACE, instrumented true"),
        ("WakeEventEvent", 1, "waker_task_id 0, woken_task_id 1, target_worker 255"),
        ("WorkerUnparkEvent", 2, "worker_id 1, local_queue 1, cpu_time_ns 0, sched_wait_ns none, tid 2"),
        ("PollStartEvent", 2, "worker_id 1, local_queue 0, task_id 1, spawn_loc PLACE"),
        ("WakeEventEvent", 5, "waker_task_id 0, woken_task_id 2, target_worker 1"),
        ("PollEndEvent", 8, "worker_id 1"),
        ("WakeEventEvent", 8, "waker_task_id 1, woken_task_id 1, target_worker 1"),
        ("PollStartEvent", 8, "worker_id 1, local_queue 1, task_id 2, spawn_loc (before the timeline)"),
        ("PollEndEvent", 9, "worker_id 1"),
        ("PollStartEvent", 9, "worker_id 1, local_queue 0, task_id 1, spawn_loc PLACE"),
        ("PollEndEvent", 10, "worker_id 1"),
        ("TaskTerminateEvent", 10, "task_id 1"),
        ("WorkerParkEvent", 10, "worker_id 1, local_queue 0, cpu_time_ns 8000, tid 2"),
        ("WakeEventEvent", 30_000, "waker_task_id 0, woken_task_id 2, target_worker 255"),
    ];
    let expected =
        expected.map(|(name, us, fields)| (name.to_owned(), us * 1_000, fields.replace("PLACE", &place)));
    assert_eq!(read(&timeline).0, expected);
}

#[test]
fn polls_of_each_worker_are_what_its_queue_was_busy() {
    let tasks: Vec<_> = (0..300).map(|nth| (nth % 3 == 0, nth % 300, nth as u32 % 7)).collect();
    let (ex, timeline) = run(everything(), &tasks);
    let (events, bytes) = read(&timeline);
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
    assert!(bytes < 25 * timeline.events.len());
    assert_eq!(read(&Timeline::default()).0.len(), 1, "nothing is a trace too");
}
