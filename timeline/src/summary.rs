//! [`Summary`]: who held the thread, and who waited for it.

use std::cmp::Reverse;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{Histogram, TaskRef, Timeline};

use crate::spans::{QueueSpans, Span, Spans, place_name};

/// The longest polls and waits that are kept.
const LONGEST: usize = 5;

/// Who held the thread, and who waited for it. [`Display`](fmt::Display) draws it as text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// From the first event to the last.
    pub time: Duration,
    /// The queues that had a poll or a wait, in the order of their indices.
    pub queues: Vec<QueueSummary>,
    /// The longest polls, longest first.
    pub longest_polls: Vec<Longest>,
    /// The longest waits, longest first; those that were not over too.
    pub longest_waits: Vec<Longest>,
    /// Whether there was more before, for which the timeline had no room.
    pub is_cut: bool,
}

/// What a queue did in the time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QueueSummary {
    /// Its name; its index, if it is gone.
    pub name: String,
    /// Its share, if it is still there.
    pub share: Option<u32>,
    /// Polls.
    pub polls: u64,
    /// What its polls took.
    pub busy: Duration,
    /// How long its tasks waited.
    pub waits: Histogram,
}

/// A poll that took long, or a long wait of a ready task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Longest {
    /// When it began.
    pub at: Duration,
    /// How long it was.
    pub took: Duration,
    /// Of which task.
    pub task: TaskRef,
    /// The name of its queue.
    pub queue: String,
    /// Where that was spawned, if the timeline has it.
    pub location: Option<&'static Location<'static>>,
}

impl Summary {
    /// Sums a timeline up.
    pub fn of(timeline: &Timeline) -> Self {
        let spans = Spans::of(timeline);
        let began = timeline.events.first().map_or(Duration::ZERO, |event| event.at);
        let polls = |queue: &QueueSpans| queue.polls.iter().map(|poll| poll.span).collect();
        Self {
            time: spans.ended.saturating_sub(began),
            longest_polls: longest(&spans, polls),
            longest_waits: longest(&spans, |queue| queue.waits.clone()),
            queues: spans.queues.values().filter_map(QueueSummary::of).collect(),
            is_cut: timeline.is_cut,
        }
    }
}

impl QueueSummary {
    fn of(queue: &QueueSpans) -> Option<Self> {
        let mut waits = Histogram::default();
        queue.waits.iter().for_each(|wait| waits.record(wait.length()));
        let has_any = !queue.polls.is_empty() || !queue.waits.is_empty();
        has_any.then(|| Self {
            name: queue.name.clone(),
            share: queue.share,
            polls: queue.polls.len() as u64,
            busy: queue.polls.iter().map(|poll| poll.span.length()).sum(),
            waits,
        })
    }
}

/// The longest of all queues, longest first; of equal ones the first.
fn longest(spans: &Spans, of: impl Fn(&QueueSpans) -> Vec<Span>) -> Vec<Longest> {
    let longest = |queue: &QueueSpans| {
        let name = queue.name.clone();
        let spans = of(queue).into_iter();
        spans.map(move |Span { task, from, to, location }| Longest {
            at: from,
            took: to.saturating_sub(from),
            task,
            queue: name.clone(),
            location,
        })
    };
    let mut all: Vec<Longest> = spans.queues.values().flat_map(longest).collect();
    all.sort_by_key(|longest| (Reverse(longest.took), longest.at));
    all.truncate(LONGEST);
    all
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = if self.is_cut { ", cut at its beginning" } else { "" };
        writeln!(f, "{:?}{cut}", self.time)?;
        let width = self.queues.iter().map(|queue| queue.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(f, "{:width$} share     polls       busy   wait p50        p99    longest", "queue")?;
        for QueueSummary { name, share, polls, busy, waits } in &self.queues {
            let share = share.map_or("–".into(), |share| share.to_string());
            write!(f, "{name:width$} {share:>5} {polls:>9} {busy:>10.1?}")?;
            for part in [0.5, 0.99, 1.0] {
                let wait = waits.quantile(part).map_or("–".into(), |wait| format!("{wait:.1?}"));
                write!(f, " {wait:>10}")?;
            }
            writeln!(f)?;
        }
        self.longest_polls.iter().try_for_each(|poll| writeln!(f, "held the thread for {poll}"))?;
        self.longest_waits.iter().try_for_each(|wait| writeln!(f, "waited for          {wait}"))
    }
}

impl fmt::Display for Longest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, took, task, queue, location } = self;
        let place = location.map_or("before".into(), |at| format!("at {}", place_name(at)));
        write!(f, "{took:>10.1?} from {at:>10.1?} on: task {} of {queue}, spawned {place}", task.slot)
    }
}
