//! Writes a timeline as a trace of dial9.
//!
//! The format describes itself (`dial9-trace-format`): what its readers go by are the names of events and fields. These are those that
//! dial9 0.5 records of tokio, with a queue for a worker.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use crate::{Event, EventKind, PollOutcome, TaskRef, Timeline, WokenBy, nanos};
use dial9_trace_format::InternedString;
use dial9_trace_format::encoder::{Encoder, Schema};
use dial9_trace_format::schema::FieldDef;
use dial9_trace_format::types::FieldType;
use dial9_trace_format::types::FieldValue::{self, Bool, PooledString, StringMap, Varint};

/// dial9 has no other word for a worker that is not known: another thread, or the host.
const NO_WORKER: u64 = 255;
/// Those above mean something else.
const MOST_WORKERS: u32 = 253;
/// Where a task was spawned that is older than the timeline.
const BEFORE: &str = "(before the timeline)";

/// Writes the timeline as a trace of [dial9](https://github.com/dial9-rs/dial9), for its viewer and its tools: some 15 bytes an event.
///
/// dial9 shows workers of tokio, so each queue is a worker here, whose number is its index, in a runtime of the queue's name. A worker is
/// awake while its queue has a slice, and has as many tasks in its local queue as the queue has ready tasks, up to 255. A task's
/// first wake is its spawn; one that yields wakes itself at the end of its poll. Which task woke another is not known, nor how much of a
/// slice the thread was off its CPU: all of it counts as CPU time. Times are since the executor was made. Turns of the executor, why
/// slices ended and groups have no place in it: [`write_perfetto`](crate::write_perfetto) has more.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_dial9(timeline: &Timeline, writer: impl Write) -> io::Result<()> {
    let mut trace = Trace {
        encoder: Encoder::new_to(BufWriter::new(writer))?,
        schemas: HashMap::new(),
        tasks: HashMap::new(),
        workers: HashMap::new(),
        slice: None,
        poll: None,
    };
    let runtime = |name: &str, index: u32| (format!("runtime.{name}").into(), index.to_string().into());
    let runtimes = timeline.queues.iter().map(|queue| runtime(&queue.name, queue.index)).collect();
    let began = timeline.events.first().map_or(0, |event| nanos(event.at));
    trace.write("SegmentMetadataEvent", began, [("entries", StringMap(runtimes))])?;
    timeline.events.iter().try_for_each(|event| trace.add(event))?;
    trace.end_poll(u64::MAX)?;
    trace.encoder.flush()
}

/// The file.
struct Trace<W: Write> {
    encoder: Encoder<BufWriter<W>>,
    /// By the names of events.
    schemas: HashMap<&'static str, Schema>,
    /// The number of each task, and where it was spawned.
    tasks: HashMap<TaskRef, (u64, InternedString)>,
    workers: HashMap<u32, Worker>,
    /// The queue that has the slice, and since when.
    slice: Option<(u32, u64)>,
    /// The poll under way: its task, when it ends, and how.
    poll: Option<(TaskRef, u64, PollOutcome)>,
}

/// What is known of a queue.
#[derive(Default)]
struct Worker {
    /// Its ready tasks, the one that is polled not among them.
    ready: u32,
    /// Its slices, in nanoseconds.
    busy: u64,
}

impl<W: Write> Trace<W> {
    fn add(&mut self, event: &Event) -> io::Result<()> {
        let now = nanos(event.at);
        self.end_poll(now)?;
        match event.kind {
            EventKind::Spawned { task, location, .. } => {
                let (number, place) = self.task(task, &location.to_string())?;
                let place = PooledString(place);
                let fields =
                    [("task_id", Varint(number)), ("spawn_loc", place), ("instrumented", Bool(true))];
                self.write("TaskSpawnEvent", now, fields)?;
                self.wake(now, task, (0, number), self.running())
            }
            EventKind::Ready { task, reason } => {
                let by = if reason == WokenBy::Remote { NO_WORKER } else { self.running() };
                let woken = self.task(task, BEFORE)?.0;
                self.wake(now, task, (0, woken), by)
            }
            EventKind::Left { task } => {
                let worker = self.worker(task.queue);
                worker.ready = worker.ready.saturating_sub(1);
                Ok(())
            }
            EventKind::SliceBegan { queue, ready } => {
                self.slice = Some((queue, now));
                self.worker(queue).ready = ready;
                let [worker, ready, busy, thread] = self.slice_fields(queue);
                let unknown = ("sched_wait_ns", FieldValue::None);
                self.write("WorkerUnparkEvent", now, [worker, ready, busy, unknown, thread])
            }
            EventKind::SliceEnded { queue, .. } => {
                let since = self.slice.take().map_or(now, |(_, since)| since);
                self.worker(queue).busy += now.saturating_sub(since);
                let fields = self.slice_fields(queue);
                self.write("WorkerParkEvent", now, fields)
            }
            EventKind::Polled { task, took, outcome, .. } => {
                self.poll = Some((task, now + nanos(took), outcome));
                let worker = self.worker(task.queue);
                worker.ready = worker.ready.saturating_sub(1);
                let [worker, ready, ..] = self.slice_fields(task.queue);
                let (number, place) = self.task(task, BEFORE)?;
                let fields = [worker, ready, ("task_id", Varint(number)), ("spawn_loc", PooledString(place))];
                self.write("PollStartEvent", now, fields)
            }
            _ => Ok(()),
        }
    }

    /// Writes an event. Those of one name have the same fields.
    fn write<const N: usize>(
        &mut self,
        name: &'static str,
        at: u64,
        fields: [(&str, FieldValue); N],
    ) -> io::Result<()> {
        let field_type = |value: &FieldValue| match value {
            // Nothing else is optional.
            FieldValue::None => FieldType::OptionalVarint,
            value => FieldType::from_tag(value.field_type_tag()).unwrap_or(FieldType::Varint),
        };
        let define = || fields.iter().map(|(name, value)| FieldDef::new(*name, field_type(value))).collect();
        let schema = self.schemas.entry(name).or_insert_with(|| Schema::new(name, define()));
        self.encoder.write_event(schema, at, &fields.map(|(_, value)| value))
    }

    fn wake(&mut self, at: u64, task: TaskRef, (waker, woken): (u64, u64), worker: u64) -> io::Result<()> {
        self.worker(task.queue).ready += 1;
        let fields = [
            ("waker_task_id", Varint(waker)),
            ("woken_task_id", Varint(woken)),
            ("target_worker", Varint(worker)),
        ];
        self.write("WakeEventEvent", at, fields)
    }

    fn slice_fields(&mut self, queue: u32) -> [(&'static str, FieldValue); 4] {
        let Worker { ready, busy } = *self.worker(queue);
        [
            ("worker_id", Varint(queue.into())),
            ("local_queue", Varint(ready.min(255).into())),
            ("cpu_time_ns", Varint(busy)),
            ("tid", Varint(queue.saturating_add(1).into())),
        ]
    }

    /// Ends the poll under way if it was over by then: what is written is in the order of its times.
    fn end_poll(&mut self, now: u64) -> io::Result<()> {
        let Some((task, at, outcome)) = self.poll.take_if(|poll| poll.1 <= now) else {
            return Ok(());
        };
        let number = self.task(task, BEFORE)?.0;
        self.write("PollEndEvent", at, [("worker_id", Varint(task.queue.into()))])?;
        match outcome {
            PollOutcome::Yielded => self.wake(at, task, (number, number), number_of(task.queue)),
            PollOutcome::Finished => self.write("TaskTerminateEvent", at, [("task_id", Varint(number))]),
            _ => Ok(()),
        }
    }

    /// The number of the worker that has the thread.
    fn running(&self) -> u64 {
        self.slice.map_or(NO_WORKER, |(queue, _)| number_of(queue))
    }

    fn worker(&mut self, queue: u32) -> &mut Worker {
        self.workers.entry(queue).or_default()
    }

    /// The number of a task, and where it was spawned: there, unless that is known.
    fn task(&mut self, task: TaskRef, place: &str) -> io::Result<(u64, InternedString)> {
        let (next, place) = (self.tasks.len() as u64 + 1, self.encoder.intern_string(place)?);
        Ok(*self.tasks.entry(task).or_insert((next, place)))
    }
}

fn number_of(queue: u32) -> u64 {
    if queue < MOST_WORKERS { queue.into() } else { NO_WORKER }
}
