//! Writes a timeline as a trace in Chrome's JSON format, which Perfetto opens, and as a page of HTML that has the trace in it.
//!
//! Times are microseconds (*Trace Event Format*, Google, 2016). A queue is a track: its slices, with polls in them. Waits are
//! asynchronous slices, one track per queue below it; numbers of ready tasks are counters; turns and visits
//! of the host have a track of their own.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use crate::{TaskRef, Timeline, TimelineQueue};
use serde_json::{Value, json};

use super::spans::{QueueSpans, Span, Spans, place_name};

/// There is one process.
const PROCESS: u32 = 1;
/// The track of turns, before those of the queues.
const HOST: u32 = 0;

/// The page, with [`DATA`] where the trace goes.
const PAGE: &str = include_str!("page.html");
const DATA: &str = "/*DATA*/";

/// Writes the timeline as a page of HTML: who held the thread, who waited for it, and when, to look at in any browser, without
/// network.
///
/// It has the trace of [`write_perfetto`] in it, and draws a row for the host's turns, and two for each queue: its slices and polls, and
/// how many of its tasks were waiting. From some 100,000 events on Perfetto is quicker to look at.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_html(timeline: &Timeline, mut writer: impl Write) -> io::Result<()> {
    let mut trace = Vec::new();
    write_perfetto(timeline, &mut trace)?;
    // In a script, where nothing but its end tag is looked for.
    let trace = String::from_utf8_lossy(&trace).replace('<', "\\u003c");
    let (before, after) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    [before, &trace, after].iter().try_for_each(|part| writer.write_all(part.as_bytes()))?;
    writer.flush()
}

/// Writes the timeline as a JSON trace: for [ui.perfetto.dev](https://ui.perfetto.dev) or `chrome://tracing`.
///
/// What the timeline has the beginning or the end of only is left out or drawn up to its end, so that every slice has both. Takes
/// some 200 bytes an event.
///
/// A counter `ready: NAME` for each queue says how many of its tasks were ready, the one that was being polled not among them. One
/// more for each that became ready, one less for each poll; where a slice began, what the executor said then.
///
/// A turn says for how long the host was not looked at; its argument `longest_poll` says who held the thread for longest in that.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::{Observation, Observe, Workload, summary, write_perfetto};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// ex.observe(Observation::new().timeline(1 << 20))?;
/// ex.block_on(async { clockworker::spawn_local(async {}).await })?;
/// let timeline = ex.timeline();
/// let mut trace = Vec::new();
/// write_perfetto(&timeline, &mut trace)?; // or a file
/// println!("{}", summary(&timeline));
/// assert_eq!(Workload::of(&timeline).measured().len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_perfetto(timeline: &Timeline, writer: impl Write) -> io::Result<()> {
    let mut trace = Trace { writer: BufWriter::new(writer), waits: 0 };
    let about = json!({"is_cut": timeline.is_cut, "is_stopped": timeline.is_stopped});
    writeln!(trace.writer, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[")?;
    let process = json!({"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": "clockworker"}});
    // It has no comma before it.
    serde_json::to_writer(&mut trace.writer, &process)?;
    trace.name_track(HOST, json!({"name": "host: turns"}))?;
    for TimelineQueue { index, name, share, .. } in &timeline.queues {
        let shown = format!("queue {name} (share {share})");
        trace.name_track(track(*index), json!({"name": shown, "queue": name, "share": share}))?;
    }
    let spans = Spans::of(timeline);
    for turn in &spans.turns {
        let longest = turn.longest.map(|poll| longest_poll(&poll, &spans));
        let args = longest.map_or(json!({}), |poll| json!({"longest_poll": poll}));
        trace.complete(HOST, turn.name, (turn.from, turn.to), args)?;
    }
    spans.queues.iter().try_for_each(|(&index, queue)| trace.queue(track(index), queue))?;
    trace.writer.write_all(b"\n]}\n")?;
    trace.writer.flush()
}

/// The file.
struct Trace<W> {
    writer: W,
    /// Each wait has a number.
    waits: u64,
}

impl<W: Write> Trace<W> {
    fn write(&mut self, event: &Value) -> io::Result<()> {
        self.writer.write_all(b",\n")?;
        Ok(serde_json::to_writer(&mut self.writer, event)?)
    }

    fn name_track(&mut self, tid: u32, args: Value) -> io::Result<()> {
        self.write(&json!({"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": tid, "args": args}))?;
        self.write(&json!({"ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": tid, "args": {"sort_index": tid}}))
    }

    /// A slice of a track.
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

    fn queue(&mut self, tid: u32, queue: &QueueSpans) -> io::Result<()> {
        for slice in &queue.slices {
            let ended = slice.ended.map_or("after the timeline".into(), |reason| format!("{reason:?}"));
            self.complete(tid, "slice", (slice.from, slice.to), json!({"ended": ended}))?;
        }
        for poll in &queue.polls {
            let (span, outcome) = (poll.span, format!("{:?}", poll.outcome));
            let args =
                json!({"task": name_of(span.task), "outcome": outcome, "measured_with": poll.measured_with});
            self.complete(tid, &label(&span), (span.from, span.to), args)?;
        }
        queue.waits.iter().try_for_each(|wait| self.wait(tid, &queue.name, wait))?;
        let counter = format!("ready: {}", queue.name);
        queue.ready.iter().try_for_each(|&(at, tasks)| {
            self.write(&json!({"ph": "C", "name": counter, "pid": PROCESS, "ts": micros(at), "args": {"tasks": tasks}}))
        })
    }

    fn wait(&mut self, tid: u32, queue: &str, wait: &Span) -> io::Result<()> {
        self.waits += 1;
        let (cat, id) = (format!("waits: {queue}"), format!("w{}", self.waits));
        for (ph, at) in [("b", wait.from), ("e", wait.to)] {
            self.write(&json!({
                "ph": ph, "cat": cat, "name": label(wait), "id": id, "pid": PROCESS, "tid": tid,
                "ts": micros(at), "args": {"task": name_of(wait.task)},
            }))?;
        }
        Ok(())
    }
}

/// The longest poll of a turn.
fn longest_poll(poll: &Span, spans: &Spans) -> Value {
    let (queue, place) = (spans.queue_name(poll.task.queue), poll.location.map(place_name));
    json!({"dur": micros(poll.length()), "queue": queue, "task": name_of(poll.task), "spawned_at": place})
}

/// Where the task was spawned, or its number.
fn label(span: &Span) -> String {
    span.location.map_or_else(|| name_of(span.task), place_name)
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
