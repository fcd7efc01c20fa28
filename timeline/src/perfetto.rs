//! Writes a timeline as a trace in Chrome's JSON format, which Perfetto opens.
//!
//! Times are microseconds (*Trace Event Format*, Google, 2016). A queue is a track: its slices, with polls in them. Waits are
//! asynchronous slices, one track per queue below it; numbers of ready tasks and what each queue is owed are counters; turns and visits
//! of the host have a track of their own.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use clockworker::observe::{Event, EventKind, SliceEndReason, TaskRef, Timeline};
use serde_json::{Value, json};

use crate::lags::Lags;
use crate::ready::Ready;
use crate::series::Series;
use crate::waits::{Wait, Waits};

/// There is one process.
const PROCESS: u32 = 1;
/// The track of turns, before those of the queues.
const HOST: u32 = 0;

/// Writes the timeline as a JSON trace: for [ui.perfetto.dev](https://ui.perfetto.dev) or `chrome://tracing`.
///
/// What the timeline has the beginning or the end of only is left out or drawn up to its end, so that every slice has both. Takes
/// some 200 bytes an event.
///
/// # Counters
///
/// Two for each queue, each from when on it was what:
///
/// - `ready: NAME`, in tasks: how many were ready, the one that was being polled not among them. One more for each that became
///   ready, one less for each poll; where a slice began, what the executor said then.
/// - `lag: NAME`, in nanoseconds of service: what the queue was owed; below zero, what it had had too much. That is w·(V − v) by an
///   [`Eevdf`](clockworker_schedulers::Eevdf) that is told what the timeline says: when the queue had work and when not, and how long
///   its slices took. So while the same queues contend, it rises by the queue's part w/W of each slice, and falls by a slice of its own
///   ([the bounds](https://github.com/nikhilgarg28/clockworker/blob/main/docs/BOUNDS.md#lag)). A queue without work keeps a credit of at
///   most two turns, or its debt until V has passed it; when no queue has work all is forgiven. It is written where the queue woke, fell
///   asleep or had a slice, at both its ends, and where it has moved by an eighth of its request.
///
/// What queues were owed when the timeline began is not known, and taken for zero; each has the share that it had when the timeline was
/// taken. Queues that were gone by then have no lag here, nor have those that were capped, idle or nested, whose parts do not follow from
/// their shares alone: beside them, it is the lag in what the others got together.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_perfetto(timeline: &Timeline, writer: impl Write) -> io::Result<()> {
    let mut trace = Trace::begin(BufWriter::new(writer))?;
    trace.name_tracks(timeline)?;
    let mut tracks = Tracks::new(timeline);
    for event in &timeline.events {
        tracks.write(&mut trace, event)?;
    }
    tracks.end(&mut trace)?;
    for (queue, ready) in Ready::of(timeline) {
        trace.counter(&format!("ready: {}", tracks.queue(queue)), "tasks", &ready)?;
    }
    for (queue, lag) in Lags::of(timeline) {
        trace.counter(&format!("lag: {}", tracks.queue(queue)), "ns", &lag)?;
    }
    trace.end()
}

/// The file.
struct Trace<W> {
    writer: W,
    is_first: bool,
}

impl<W: Write> Trace<W> {
    fn begin(mut writer: W) -> io::Result<Self> {
        writer.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        Ok(Self { writer, is_first: true })
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.writer.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.writer, event)?;
        Ok(())
    }

    fn end(mut self) -> io::Result<()> {
        self.writer.write_all(b"\n]}\n")?;
        self.writer.flush()
    }

    fn name_tracks(&mut self, timeline: &Timeline) -> io::Result<()> {
        self.write(
            &json!({"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": "clockworker"}}),
        )?;
        let host = (HOST, "host: turns".to_owned());
        let queues = timeline.queues.iter().map(|queue| {
            let name = format!("queue {} (share {})", queue.name, queue.share);
            (track(queue.index), name)
        });
        for (tid, name) in std::iter::once(host).chain(queues) {
            self.write(&json!({"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": tid, "args": {"name": name}}))?;
            self.write(&json!({"ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": tid, "args": {"sort_index": tid}}))?;
        }
        Ok(())
    }

    /// A number over time.
    fn counter<T>(&mut self, name: &str, unit: &str, series: &Series<T>) -> io::Result<()>
    where
        T: Copy + PartialEq + Into<Value>,
    {
        series.points().iter().try_for_each(|&(at, number)| {
            self.write(&json!({"ph": "C", "name": name, "pid": PROCESS, "ts": micros(at), "args": {unit: number.into()}}))
        })
    }

    /// A slice that is over.
    fn complete(
        &mut self,
        tid: u32,
        name: &str,
        (from, to): (Duration, Duration),
        args: Value,
    ) -> io::Result<()> {
        let (ts, dur) = (micros(from), micros(to.saturating_sub(from)));
        self.write(
            &json!({"ph": "X", "name": name, "pid": PROCESS, "tid": tid, "ts": ts, "dur": dur, "args": args}),
        )
    }
}

/// What is under way on the tracks.
struct Tracks<'a> {
    timeline: &'a Timeline,
    waits: Waits,
    /// The waits written so far: each has a number of its own.
    written: u64,
    /// The slice under way: its queue, and when it began.
    slice: Option<(u32, Duration)>,
    turn: Option<Duration>,
    /// When the last turn was over, and whether nothing was left to do.
    host: Option<(Duration, bool)>,
    /// The end of the last event.
    now: Duration,
}

impl<'a> Tracks<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let (waits, now) = (Waits::default(), Duration::ZERO);
        Self { timeline, waits, written: 0, slice: None, turn: None, host: None, now }
    }

    fn write<W: Write>(&mut self, trace: &mut Trace<W>, event: &Event) -> io::Result<()> {
        self.now = self.now.max(event.at);
        if let Some(wait) = self.waits.next(event) {
            self.write_wait(trace, wait)?;
        }
        match event.kind {
            EventKind::Polled { task, took, measured_with, outcome } => {
                self.now = self.now.max(event.at + took);
                let args = json!({"task": name_of(task), "outcome": format!("{outcome:?}"), "measured_with": measured_with});
                trace.complete(track(task.queue), &self.label(task), (event.at, event.at + took), args)
            }
            EventKind::SliceBegan { queue, .. } => {
                self.slice = Some((queue, event.at));
                Ok(())
            }
            EventKind::SliceEnded { queue, reason } => self.end_slice(trace, event.at, queue, reason),
            EventKind::TurnBegan => {
                self.end_host(trace, event.at)?;
                self.turn = Some(event.at);
                Ok(())
            }
            EventKind::TurnEnded { idle } => {
                self.host = Some((event.at, idle));
                self.end_turn(trace, event.at)
            }
            _ => Ok(()),
        }
    }

    fn end_slice<W: Write>(
        &mut self,
        trace: &mut Trace<W>,
        at: Duration,
        queue: u32,
        reason: SliceEndReason,
    ) -> io::Result<()> {
        if let Some((began_of, from)) = self.slice.take()
            && began_of == queue
        {
            trace.complete(track(queue), "slice", (from, at), json!({"ended": format!("{reason:?}")}))?;
        }
        match reason {
            SliceEndReason::Preempted => trace.write(&json!({
                "ph": "i", "s": "t", "name": "preempted", "pid": PROCESS, "tid": track(queue), "ts": micros(at),
            })),
            _ => Ok(()),
        }
    }

    fn end_turn<W: Write>(&mut self, trace: &mut Trace<W>, at: Duration) -> io::Result<()> {
        let turn = self.turn.take().map(|from| trace.complete(HOST, "turn", (from, at), json!({})));
        turn.unwrap_or(Ok(()))
    }

    fn end_host<W: Write>(&mut self, trace: &mut Trace<W>, at: Duration) -> io::Result<()> {
        let Some((from, idle)) = self.host.take() else { return Ok(()) };
        trace.complete(HOST, if idle { "idle" } else { "visit" }, (from, at), json!({}))
    }

    fn write_wait<W: Write>(&mut self, trace: &mut Trace<W>, wait: Wait) -> io::Result<()> {
        self.written += 1;
        let (label, id) = (self.label(wait.task), format!("w{}", self.written));
        let cat = format!("waits: {}", self.queue(wait.task.queue));
        for (ph, at) in [("b", wait.from), ("e", wait.to)] {
            trace.write(&json!({
                "ph": ph, "cat": cat, "name": label, "id": id, "pid": PROCESS, "tid": track(wait.task.queue),
                "ts": micros(at), "args": {"task": name_of(wait.task)},
            }))?;
        }
        Ok(())
    }

    /// Ends what is under way where the timeline ends.
    fn end<W: Write>(&mut self, trace: &mut Trace<W>) -> io::Result<()> {
        if let Some((queue, from)) = self.slice.take() {
            trace.complete(
                track(queue),
                "slice",
                (from, self.now),
                json!({"ended": "after the timeline"}),
            )?;
        }
        for wait in self.waits.unfinished(self.now) {
            self.write_wait(trace, wait)?;
        }
        self.end_turn(trace, self.now)
    }

    fn queue(&self, index: u32) -> String {
        self.timeline.queue_name(index).map_or_else(|| format!("gone ({index})"), str::to_owned)
    }

    /// Where the task was spawned, or its number.
    fn label(&self, task: TaskRef) -> String {
        let location = self.waits.location(task);
        location.map_or_else(|| name_of(task), |at| format!("{}:{}", at.file(), at.line()))
    }
}

fn name_of(task: TaskRef) -> String {
    format!("{}.{}.{}", task.queue, task.slot, task.generation)
}

/// The track of a queue.
fn track(queue: u32) -> u32 {
    queue.saturating_add(1)
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1_000.0
}
