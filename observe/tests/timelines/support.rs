//! Timelines, and traces of them.

use std::panic::Location;
use std::time::Duration;

use clockworker::{Executor, ManualClock, yield_now};
use clockworker_observe::write_perfetto;
use clockworker_observe::{
    Event, EventKind, Observation, Observe, PollOutcome, SliceEndReason, TaskRef, Timeline, TimelineQueue,
    WokenBy,
};
use serde_json::Value;

pub(crate) fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// With room for all, each poll measured by itself.
pub(crate) fn everything() -> Observation {
    Observation::new().timeline(1 << 20).every_poll()
}

pub(crate) fn executor(asked: Observation) -> (Executor, ManualClock) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    ex.observe(asked).unwrap();
    (ex, clock)
}

/// Tasks of the default queue and of `other`, which has a share of 3: whether in the latter, how long each poll takes, and how many polls.
pub(crate) fn run(asked: Observation, tasks: &[(bool, u64, u32)]) -> (Executor, Timeline) {
    let (ex, clock) = executor(asked);
    let other = ex.new_queue("other").share(3).request(us(100)).create().unwrap();
    for &(in_other, took, polls) in tasks {
        let clock = clock.clone();
        let task = async move {
            for poll in 0..polls {
                if poll > 0 {
                    yield_now().await;
                }
                clock.advance(us(took));
            }
        };
        let queue = if in_other { &other } else { ex.default_queue() };
        queue.spawn(task);
    }
    ex.block_on(ex.drained());
    let timeline = ex.timeline();
    (ex, timeline)
}

pub(crate) const HEAVY: u32 = 0;
pub(crate) const LIGHT: u32 = 1;

/// A timeline made up, at microseconds: `heavy` has share 3, `light` 1, both a request of 100 µs.
#[derive(Default)]
pub(crate) struct Script(Vec<Event>);

impl Script {
    pub(crate) fn push(mut self, at: u64, kind: EventKind) -> Self {
        self.0.push(Event { at: us(at), kind });
        self
    }

    #[track_caller]
    pub(crate) fn spawned(self, at: u64, task: (u32, u32)) -> Self {
        self.push(at, EventKind::Spawned { task: of(task), location: Location::caller(), group: None })
    }

    pub(crate) fn ready(self, at: u64, task: (u32, u32), reason: WokenBy) -> Self {
        self.push(at, EventKind::Ready { task: of(task), reason })
    }

    pub(crate) fn began(self, at: u64, queue: u32, ready: u32) -> Self {
        self.push(at, EventKind::SliceBegan { queue, ready })
    }

    pub(crate) fn polled(self, at: u64, task: (u32, u32), took: u64, outcome: PollOutcome) -> Self {
        self.push(at, EventKind::Polled { task: of(task), took: us(took), measured_with: 1, outcome })
    }

    pub(crate) fn ended(self, at: u64, queue: u32, reason: SliceEndReason) -> Self {
        self.push(at, EventKind::SliceEnded { queue, reason })
    }

    pub(crate) fn timeline(self) -> Timeline {
        let queues = [(HEAVY, "heavy", 3), (LIGHT, "light", 1)];
        let queues = queues.map(|(index, name, share)| TimelineQueue::new(index, name, share, us(100)));
        Timeline::new(queues.to_vec(), self.0)
    }
}

/// The task of a queue in that slot.
fn of((queue, slot): (u32, u32)) -> TaskRef {
    TaskRef { queue, slot, generation: 1 }
}

/// The events of its trace for Perfetto.
pub(crate) fn trace(timeline: &Timeline) -> Vec<Value> {
    let mut json = Vec::new();
    write_perfetto(timeline, &mut json).unwrap();
    let mut trace: Value = serde_json::from_slice(&json).unwrap();
    match trace["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("{other}"),
    }
}

/// Microseconds of a trace as nanoseconds.
pub(crate) fn ns(us: &Value) -> u64 {
    (us.as_f64().unwrap() * 1_000.0).round() as u64
}
