//! Writes a timeline as a trace of dial9.
//!
//! The format describes itself (`dial9-trace-format`): what its readers go by are the names of events and fields. These are those that
//! dial9 0.5 records of tokio, with a queue for a worker.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, PollOutcome, ReadyReason, TaskRef, Timeline};
use dial9_trace_format::encoder::Encoder;
use dial9_trace_format::{InternedString, TraceEvent};

use crate::ready::Ready;

/// dial9 has no other word for a worker that is not known: another thread, or the host.
const NO_WORKER: u8 = 255;
/// Those above mean something else.
const MOST_WORKERS: u32 = 253;
/// Where a task was spawned that is older than the timeline.
const BEFORE: &str = "(before the timeline)";

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct SegmentMetadataEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    entries: Vec<(String, String)>,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct TaskSpawnEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    task_id: u64,
    spawn_loc: InternedString,
    instrumented: bool,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct WakeEventEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    waker_task_id: u64,
    woken_task_id: u64,
    target_worker: u8,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct WorkerUnparkEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    cpu_time_ns: u64,
    sched_wait_ns: Option<u64>,
    tid: u32,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct WorkerParkEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    cpu_time_ns: u64,
    tid: u32,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct PollStartEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
    local_queue: u8,
    task_id: u64,
    spawn_loc: InternedString,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct PollEndEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    worker_id: u64,
}

#[derive(TraceEvent)]
#[traceevent(wire_slot)]
struct TaskTerminateEvent {
    #[traceevent(timestamp)]
    timestamp_ns: u64,
    task_id: u64,
}

/// Writes the timeline as a trace of [dial9](https://github.com/dial9-rs/dial9), for its viewer and its tools. Takes some 15 bytes an
/// event.
///
/// dial9 shows workers of tokio, so each queue is a worker here, whose number is its index, in a runtime of the queue's name. A worker is
/// awake while its queue has a slice, and has as many tasks in its local queue as the queue has ready tasks, up to 255. A task's
/// first wake is its spawn; one that yields wakes itself at the end of its poll. Which task woke another is not known, nor how much of a
/// slice the thread was off its CPU: all of it counts as CPU time. Times are since the executor was made. Turns of the executor, why
/// slices ended, groups and lags have no place in it: [`write_perfetto`](crate::write_perfetto) has more.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_dial9(timeline: &Timeline, writer: impl Write) -> io::Result<()> {
    let mut trace = Trace::begin(timeline, BufWriter::new(writer))?;
    timeline.events.iter().try_for_each(|event| trace.write(event))?;
    trace.end_poll(u64::MAX)?;
    trace.encoder.flush()
}

/// The file.
struct Trace<W: Write> {
    encoder: Encoder<BufWriter<W>>,
    /// The number of each task, and where it was spawned.
    tasks: HashMap<TaskRef, (u64, InternedString)>,
    /// How many tasks there were.
    numbered: u64,
    locations: HashMap<&'static Location<'static>, InternedString>,
    ready: Ready,
    /// The queue that has the slice, and since when.
    running: Option<(u32, u64)>,
    /// The slices of each queue, in nanoseconds.
    busy: HashMap<u32, u64>,
    /// The poll under way: its task, when it ends, and how.
    poll: Option<(TaskRef, u64, PollOutcome)>,
}

impl<W: Write> Trace<W> {
    fn begin(timeline: &Timeline, writer: BufWriter<W>) -> io::Result<Self> {
        let mut encoder = Encoder::new_to(writer)?;
        let timestamp_ns = timeline.events.first().map_or(0, |event| nanos(event.at));
        let runtime = |name: &str, index: u32| (format!("runtime.{name}"), index.to_string());
        let entries = timeline.queues.iter().map(|queue| runtime(&queue.name, queue.index)).collect();
        encoder.write(&SegmentMetadataEvent { timestamp_ns, entries })?;
        Ok(Self {
            encoder,
            tasks: HashMap::new(),
            numbered: 0,
            locations: HashMap::new(),
            ready: Ready::default(),
            running: None,
            busy: HashMap::new(),
            poll: None,
        })
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        let now = nanos(event.at);
        self.end_poll(now)?;
        self.ready.next(event);
        match event.kind {
            EventKind::Spawned { task, location, .. } => {
                let (task_id, spawn_loc) = self.spawn(task, location)?;
                self.encoder.write(&TaskSpawnEvent {
                    timestamp_ns: now,
                    task_id,
                    spawn_loc,
                    instrumented: true,
                })?;
                self.wake(now, (0, task_id), self.worker())
            }
            EventKind::Ready { task, reason } => {
                let by = if reason == ReadyReason::Remote { NO_WORKER } else { self.worker() };
                let woken = self.task(task)?.0;
                self.wake(now, (0, woken), by)
            }
            EventKind::SliceBegan { queue, .. } => self.begin_slice(now, queue),
            EventKind::SliceEnded { queue, .. } => self.end_slice(now, queue),
            EventKind::Polled { task, took, outcome, .. } => {
                self.poll = Some((task, now + nanos(took), outcome));
                self.begin_poll(now, task)
            }
            _ => Ok(()),
        }
    }

    fn wake(&mut self, timestamp_ns: u64, (by, woken): (u64, u64), target_worker: u8) -> io::Result<()> {
        let (waker_task_id, woken_task_id) = (by, woken);
        self.encoder.write(&WakeEventEvent { timestamp_ns, waker_task_id, woken_task_id, target_worker })
    }

    fn begin_slice(&mut self, timestamp_ns: u64, queue: u32) -> io::Result<()> {
        self.running = Some((queue, timestamp_ns));
        self.encoder.write(&WorkerUnparkEvent {
            timestamp_ns,
            worker_id: queue.into(),
            local_queue: self.ready_in(queue),
            cpu_time_ns: self.busy.get(&queue).copied().unwrap_or(0),
            sched_wait_ns: None,
            tid: queue.saturating_add(1),
        })
    }

    fn end_slice(&mut self, timestamp_ns: u64, queue: u32) -> io::Result<()> {
        let since = self.running.take().map_or(timestamp_ns, |(_, since)| since);
        let busy = self.busy.entry(queue).or_default();
        *busy += timestamp_ns.saturating_sub(since);
        let cpu_time_ns = *busy;
        self.encoder.write(&WorkerParkEvent {
            timestamp_ns,
            worker_id: queue.into(),
            local_queue: self.ready_in(queue),
            cpu_time_ns,
            tid: queue.saturating_add(1),
        })
    }

    fn begin_poll(&mut self, timestamp_ns: u64, task: TaskRef) -> io::Result<()> {
        let (task_id, spawn_loc) = self.task(task)?;
        let (worker_id, local_queue) = (task.queue.into(), self.ready_in(task.queue));
        self.encoder.write(&PollStartEvent { timestamp_ns, worker_id, local_queue, task_id, spawn_loc })
    }

    /// Ends the poll under way if it was over by then: what is written is in the order of its times.
    fn end_poll(&mut self, now: u64) -> io::Result<()> {
        let Some((task, timestamp_ns, outcome)) = self.poll.take_if(|poll| poll.1 <= now) else {
            return Ok(());
        };
        let task_id = self.task(task)?.0;
        self.encoder.write(&PollEndEvent { timestamp_ns, worker_id: task.queue.into() })?;
        match outcome {
            PollOutcome::Yielded => self.wake(timestamp_ns, (task_id, task_id), worker(task.queue)),
            PollOutcome::Finished => {
                self.tasks.remove(&task);
                self.encoder.write(&TaskTerminateEvent { timestamp_ns, task_id })
            }
            _ => Ok(()),
        }
    }

    /// The worker that wakes others now.
    fn worker(&self) -> u8 {
        self.running.map_or(NO_WORKER, |(queue, _)| worker(queue))
    }

    fn ready_in(&self, queue: u32) -> u8 {
        u8::try_from(self.ready.count(queue)).unwrap_or(u8::MAX)
    }

    fn spawn(
        &mut self,
        task: TaskRef,
        location: &'static Location<'static>,
    ) -> io::Result<(u64, InternedString)> {
        let place = match self.locations.get(location) {
            Some(&place) => place,
            None => {
                let place = self.encoder.intern_string(&location.to_string())?;
                self.locations.insert(location, place);
                place
            }
        };
        Ok(self.number(task, place))
    }

    /// The number of a task, and where it was spawned.
    fn task(&mut self, task: TaskRef) -> io::Result<(u64, InternedString)> {
        if let Some(&known) = self.tasks.get(&task) {
            return Ok(known);
        }
        let before = self.encoder.intern_string(BEFORE)?;
        Ok(self.number(task, before))
    }

    fn number(&mut self, task: TaskRef, place: InternedString) -> (u64, InternedString) {
        self.numbered += 1;
        self.tasks.insert(task, (self.numbered, place));
        (self.numbered, place)
    }
}

fn worker(queue: u32) -> u8 {
    if queue < MOST_WORKERS { queue as u8 } else { NO_WORKER }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
