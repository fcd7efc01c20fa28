//! [`Summary`]: who held the thread, and who waited for it.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use clockworker::observe::{EventKind, Histogram, TaskRef, Timeline};

use crate::waits::{Wait, Waits};

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
    pub longest_polls: Vec<LongPoll>,
    /// The longest waits, longest first; those that were not over too.
    pub longest_waits: Vec<LongWait>,
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
    /// Of these, the ones that were not measured by themselves.
    pub shared_out: u64,
    /// What its polls took.
    pub busy: Duration,
    /// How long its tasks waited.
    pub waits: Histogram,
}

/// A poll that took long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// When it began.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
    /// Of which task.
    pub task: TaskRef,
    /// The name of its queue.
    pub queue: String,
    /// Where that was spawned, if the timeline has it.
    pub location: Option<&'static Location<'static>>,
}

/// A task that waited long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongWait {
    /// When it became ready.
    pub at: Duration,
    /// How long it waited.
    pub waited: Duration,
    /// Which task.
    pub task: TaskRef,
    /// The name of its queue.
    pub queue: String,
    /// Where it was spawned, if the timeline has it.
    pub location: Option<&'static Location<'static>>,
}

impl Summary {
    /// Sums a timeline up.
    pub fn of(timeline: &Timeline) -> Self {
        let mut sums = Sums::new(timeline);
        timeline.events.iter().for_each(|event| {
            if let Some(wait) = sums.waits.next(event) {
                sums.add_wait(wait);
            }
            sums.now = sums.now.max(event.at);
            if let EventKind::Polled { task, took, measured_with, .. } = event.kind {
                sums.now = sums.now.max(event.at + took);
                sums.add_poll(event.at, task, took, measured_with);
            }
        });
        sums.waits.unfinished(sums.now).into_iter().for_each(|wait| sums.add_wait(wait));
        let began = timeline.events.first().map_or(Duration::ZERO, |event| event.at);
        Summary {
            time: sums.now.saturating_sub(began),
            queues: sums.queues.into_values().collect(),
            longest_polls: sums.polls,
            longest_waits: sums.long_waits,
            is_cut: timeline.is_cut,
        }
    }
}

/// A summary as far as it got.
struct Sums<'a> {
    timeline: &'a Timeline,
    waits: Waits,
    queues: BTreeMap<u32, QueueSummary>,
    polls: Vec<LongPoll>,
    long_waits: Vec<LongWait>,
    now: Duration,
}

impl<'a> Sums<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let (polls, long_waits) = (Vec::new(), Vec::new());
        Self {
            timeline,
            waits: Waits::default(),
            queues: BTreeMap::new(),
            polls,
            long_waits,
            now: Duration::ZERO,
        }
    }

    fn queue(&mut self, index: u32) -> &mut QueueSummary {
        let timeline = self.timeline;
        self.queues.entry(index).or_insert_with(|| {
            let known = timeline.queues.iter().find(|queue| queue.index == index);
            let name = known.map_or_else(|| format!("gone ({index})"), |queue| queue.name.clone());
            QueueSummary { name, share: known.map(|queue| queue.share), ..QueueSummary::default() }
        })
    }

    fn add_poll(&mut self, at: Duration, task: TaskRef, took: Duration, measured_with: u32) {
        let queue = self.queue(task.queue);
        queue.polls += 1;
        queue.shared_out += u64::from(measured_with > 1);
        queue.busy += took;
        let (queue, location) = (queue.name.clone(), self.waits.location(task));
        keep_longest(&mut self.polls, LongPoll { at, took, task, queue, location }, |poll| poll.took);
    }

    fn add_wait(&mut self, Wait { task, from, to }: Wait) {
        let waited = to.saturating_sub(from);
        let queue = self.queue(task.queue);
        queue.waits.record(waited);
        let (queue, location) = (queue.name.clone(), self.waits.location(task));
        keep_longest(&mut self.long_waits, LongWait { at: from, waited, task, queue, location }, |wait| {
            wait.waited
        });
    }
}

/// Keeps the longest, longest first; of equal ones the first.
fn keep_longest<T>(longest: &mut Vec<T>, new: T, length: impl Fn(&T) -> Duration) {
    let place = longest.partition_point(|kept| length(kept) >= length(&new));
    if place < LONGEST {
        longest.insert(place, new);
        longest.truncate(LONGEST);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = if self.is_cut { ", cut at its beginning" } else { "" };
        writeln!(f, "{:?}{cut}", self.time)?;
        let width = self.queues.iter().map(|queue| queue.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(
            f,
            "{:width$} {:>5} {:>9} {:>10} {:>10} {:>10} {:>10}",
            "queue", "share", "polls", "busy", "wait p50", "p99", "longest"
        )?;
        for queue in &self.queues {
            let share = queue.share.map_or("–".into(), |share| share.to_string());
            let wait = |part| queue.waits.quantile(part).map_or("–".into(), brief);
            let (p50, p99, longest) = (wait(0.5), wait(0.99), wait(1.0));
            let (name, polls, busy) = (&queue.name, queue.polls, brief(queue.busy));
            writeln!(f, "{name:width$} {share:>5} {polls:>9} {busy:>10} {p50:>10} {p99:>10} {longest:>10}")?;
        }
        let whose = |task: TaskRef, queue: &str, location: Option<&'static Location<'static>>| {
            let place = location.map_or("before".into(), |at| format!("at {}:{}", at.file(), at.line()));
            format!("task {} of {queue}, spawned {place}", task.slot)
        };
        for LongPoll { at, took, task, queue, location } in &self.longest_polls {
            let (took, at) = (brief(*took), brief(*at));
            writeln!(
                f,
                "held the thread for {took:>10} from {at:>10} on: {}",
                whose(*task, queue, *location)
            )?;
        }
        for LongWait { at, waited, task, queue, location } in &self.longest_waits {
            let (waited, at) = (brief(*waited), brief(*at));
            writeln!(
                f,
                "waited for          {waited:>10} from {at:>10} on: {}",
                whose(*task, queue, *location)
            )?;
        }
        Ok(())
    }
}

/// Three digits or so.
fn brief(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    match time.as_nanos() {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}
