//! Writes a timeline as a page for a browser, which needs no network.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{EventKind, TaskRef, Timeline};
use serde::Serialize;

use crate::summary::Summary;
use crate::waits::{Wait, Waits};

/// The page, with [`DATA`] where the timeline goes.
const PAGE: &str = include_str!("page.html");
const DATA: &str = "/*DATA*/";

/// Writes the timeline as a page of HTML: who held the thread, who waited for it, and when, to look at in any browser, without
/// network.
///
/// A row for the host's turns, and two for each queue: its slices and polls, and how many of its tasks were waiting. Takes some 30 bytes an
/// event; from some 100,000 events on [`write_perfetto`](crate::write_perfetto) is quicker to look at.
///
/// # Errors
///
/// Those of the writer. What was written until then stays.
pub fn write_html(timeline: &Timeline, writer: impl Write) -> io::Result<()> {
    let mut writer = BufWriter::new(writer);
    // In a script, where nothing but its end tag is looked for.
    let data = serde_json::to_string(&Page::of(timeline))?.replace('<', "\\u003c");
    let (before, after) = PAGE.split_once(DATA).unwrap_or((PAGE, ""));
    writer.write_all(before.as_bytes())?;
    writer.write_all(data.as_bytes())?;
    writer.write_all(after.as_bytes())?;
    writer.flush()
}

/// What the page is given. Times are nanoseconds from its first event on; places are indices into `places`, or -1.
#[derive(Debug, Default, Serialize)]
struct Page {
    took: u64,
    is_cut: bool,
    is_stopped: bool,
    queues: Vec<Queue>,
    places: Vec<String>,
    /// From, to, and whether it was idle: what the host had.
    host: Vec<(u64, u64, u8)>,
    /// Longest first.
    held: Vec<Long>,
    waited: Vec<Long>,
}

#[derive(Debug, Serialize)]
struct Queue {
    name: String,
    share: Option<u32>,
    busy: u64,
    polls_made: u64,
    wait_p50: Option<u64>,
    wait_p99: Option<u64>,
    longest_wait: Option<u64>,
    /// From, to, and why it ended.
    slices: Vec<(u64, u64, String)>,
    /// From, how long, place, slot, how many were measured together.
    polls: Vec<(u64, u64, i32, u32, u32)>,
    /// From when on so many tasks were ready.
    ready: Vec<(u64, u32)>,
}

#[derive(Debug, Serialize)]
struct Long {
    from: u64,
    took: u64,
    queue: String,
    slot: u32,
    place: Option<String>,
}

impl Page {
    fn of(timeline: &Timeline) -> Self {
        let summary = Summary::of(timeline);
        let mut page = Builder::new(timeline, &summary);
        for event in &timeline.events {
            if let Some(wait) = page.waits.next(event) {
                page.add_wait(wait);
            }
            page.add(event.at, event.kind);
        }
        page.end(summary)
    }
}

/// A page as far as it got.
struct Builder<'a> {
    timeline: &'a Timeline,
    page: Page,
    began: Duration,
    /// Where the queue of an index is in the page.
    seats: HashMap<u32, usize>,
    places: HashMap<&'static Location<'static>, i32>,
    waits: Waits,
    /// By queue: when one more task is ready, or one less.
    steps: Vec<Vec<(u64, i32)>>,
    slice: Option<(u32, u64)>,
    host: Option<(u64, bool)>,
}

impl<'a> Builder<'a> {
    fn new(timeline: &'a Timeline, summary: &Summary) -> Self {
        let page = Page {
            took: nanos(summary.time),
            is_cut: timeline.is_cut,
            is_stopped: timeline.is_stopped,
            ..Page::default()
        };
        Self {
            timeline,
            page,
            began: timeline.events.first().map_or(Duration::ZERO, |event| event.at),
            seats: HashMap::new(),
            places: HashMap::new(),
            waits: Waits::default(),
            steps: Vec::new(),
            slice: None,
            host: None,
        }
    }

    fn add(&mut self, at: Duration, kind: EventKind) {
        let at = self.since(at);
        match kind {
            EventKind::Polled { task, took, measured_with, .. } => {
                let place = self.place(task);
                let queue = self.queue(task.queue);
                self.page.queues[queue].polls.push((at, nanos(took), place, task.slot, measured_with));
            }
            EventKind::SliceBegan { queue, .. } => self.slice = Some((queue, at)),
            EventKind::SliceEnded { queue, reason } => {
                if let Some((_, from)) = self.slice.take_if(|(began, _)| *began == queue) {
                    let queue = self.queue(queue);
                    self.page.queues[queue].slices.push((from, at, format!("{reason:?}")));
                }
            }
            EventKind::TurnBegan => {
                if let Some((from, idle)) = self.host.take() {
                    self.page.host.push((from, at, u8::from(idle)));
                }
            }
            EventKind::TurnEnded { idle } => self.host = Some((at, idle)),
            _ => {}
        }
    }

    fn add_wait(&mut self, wait: Wait) {
        let (from, to) = (self.since(wait.from), self.since(wait.to));
        let queue = self.queue(wait.task.queue);
        self.steps[queue].extend([(from, 1), (to, -1)]);
    }

    fn end(mut self, summary: Summary) -> Page {
        if let Some((queue, from)) = self.slice.take() {
            let queue = self.queue(queue);
            self.page.queues[queue].slices.push((from, self.page.took, "after the timeline".into()));
        }
        let unfinished = self.waits.unfinished(self.began + summary.time);
        unfinished.into_iter().for_each(|wait| self.add_wait(wait));
        for (queue, steps) in self.page.queues.iter_mut().zip(&mut self.steps) {
            queue.ready = ready(steps);
        }
        let began = self.began;
        let long = |at: Duration, took, queue, task: TaskRef, place: Option<&Location<'_>>| Long {
            from: nanos(at.saturating_sub(began)),
            took: nanos(took),
            queue,
            slot: task.slot,
            place: place.map(place_name),
        };
        let polls = summary.longest_polls.into_iter();
        self.page.held =
            polls.map(|poll| long(poll.at, poll.took, poll.queue, poll.task, poll.location)).collect();
        let waits = summary.longest_waits.into_iter();
        self.page.waited =
            waits.map(|wait| long(wait.at, wait.waited, wait.queue, wait.task, wait.location)).collect();
        for queue in summary.queues {
            let found = self.page.queues.iter_mut().find(|known| known.name == queue.name);
            let Some(known) = found else { continue };
            let wait = |part| queue.waits.quantile(part).map(nanos);
            (known.busy, known.polls_made) = (nanos(queue.busy), queue.polls);
            (known.wait_p50, known.wait_p99, known.longest_wait) = (wait(0.5), wait(0.99), wait(1.0));
        }
        self.page
    }

    /// Where that queue is in the page.
    fn queue(&mut self, index: u32) -> usize {
        let (page, steps, timeline) = (&mut self.page, &mut self.steps, self.timeline);
        *self.seats.entry(index).or_insert_with(|| {
            let known = timeline.queues.iter().find(|queue| queue.index == index);
            page.queues.push(Queue {
                name: known.map_or_else(|| format!("gone ({index})"), |queue| queue.name.clone()),
                share: known.map(|queue| queue.share),
                busy: 0,
                polls_made: 0,
                wait_p50: None,
                wait_p99: None,
                longest_wait: None,
                slices: Vec::new(),
                polls: Vec::new(),
                ready: Vec::new(),
            });
            steps.push(Vec::new());
            page.queues.len() - 1
        })
    }

    /// The index of where the task was spawned.
    fn place(&mut self, task: TaskRef) -> i32 {
        let Some(location) = self.waits.location(task) else { return -1 };
        let places = &mut self.page.places;
        *self.places.entry(location).or_insert_with(|| {
            places.push(place_name(location));
            i32::try_from(places.len() - 1).unwrap_or(-1)
        })
    }

    fn since(&self, at: Duration) -> u64 {
        nanos(at.saturating_sub(self.began))
    }
}

fn place_name(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

/// How many tasks are ready from when on, given when one more and one less is.
fn ready(steps: &mut [(u64, i32)]) -> Vec<(u64, u32)> {
    steps.sort_unstable();
    let mut ready: Vec<(u64, u32)> = Vec::new();
    let mut now = 0_i32;
    for &(at, step) in &*steps {
        now += step;
        let tasks = u32::try_from(now).unwrap_or(0);
        match ready.last_mut() {
            Some(last) if last.0 == at => last.1 = tasks,
            _ => ready.push((at, tasks)),
        }
    }
    ready.dedup_by_key(|(_, tasks)| *tasks);
    ready
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
