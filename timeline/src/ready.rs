//! [`Ready`]: how many tasks of each queue are ready.

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, PollOutcome, Timeline};

/// How many tasks of each queue are ready, the one that is being polled not among them.
///
/// One more for each that becomes ready, one less for each poll. At the beginning of each slice it is what the executor said then: so
/// tasks count that were ready before the timeline began, and aborted ones no longer.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    queues: BTreeMap<u32, QueueReady>,
    /// The queue of a task that is ready again once its poll is over.
    yielding: Option<(u32, Duration)>,
}

#[derive(Debug, Default)]
struct QueueReady {
    series: Series<u32>,
    /// Whether the executor has said how many they are.
    is_known: bool,
}

impl Ready {
    /// Of a whole timeline: the series of each queue.
    pub(crate) fn of(timeline: &Timeline) -> BTreeMap<u32, Series<u32>> {
        let mut ready = Ready::default();
        timeline.events.iter().for_each(|event| ready.next(event));
        ready.settle(Duration::MAX);
        ready.queues.into_iter().map(|(queue, ready)| (queue, ready.series)).collect()
    }

    /// Takes note of the next event.
    pub(crate) fn next(&mut self, event: &Event) {
        self.settle(event.at);
        match event.kind {
            EventKind::Spawned { task, .. } | EventKind::Ready { task, .. } => self.add(task.queue, event.at),
            EventKind::Polled { task, took, outcome, .. } => {
                let count = self.count(task.queue).saturating_sub(1);
                self.queues.entry(task.queue).or_default().series.set(event.at, count);
                self.yielding = (outcome == PollOutcome::Yielded).then_some((task.queue, event.at + took));
            }
            EventKind::SliceBegan { queue, ready } => {
                let known = self.queues.entry(queue).or_default();
                if !std::mem::replace(&mut known.is_known, true) {
                    // Nothing of it was polled until now: what is missing was ready before.
                    let missing = ready.saturating_sub(known.series.last().unwrap_or(0));
                    known.series.points.iter_mut().for_each(|(_, count)| *count += missing);
                }
                known.series.set(event.at, ready);
            }
            _ => {}
        }
    }

    /// How many tasks of the queue are ready.
    pub(crate) fn count(&self, queue: u32) -> u32 {
        self.queues.get(&queue).and_then(|queue| queue.series.last()).unwrap_or(0)
    }

    /// Ends the poll under way if it was over by then.
    fn settle(&mut self, now: Duration) {
        if let Some((queue, at)) = self.yielding.take_if(|yielding| yielding.1 <= now) {
            self.add(queue, at);
        }
    }

    /// Adds a task of the queue. (A task becomes ready when it waits: none is twice.)
    fn add(&mut self, queue: u32, at: Duration) {
        let count = self.count(queue) + 1;
        self.queues.entry(queue).or_default().series.set(at, count);
    }
}

/// A number, from when on it was what: only where it became another.
#[derive(Debug)]
pub(crate) struct Series<T> {
    pub(crate) points: Vec<(Duration, T)>,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { points: Vec::new() }
    }
}

impl<T: Copy + PartialEq> Series<T> {
    /// The number is that from `at` on, which is not before the last time.
    pub(crate) fn set(&mut self, at: Duration, number: T) {
        self.points.pop_if(|last| last.0 == at);
        if self.last() != Some(number) {
            self.points.push((at, number));
        }
    }

    /// What it was last.
    pub(crate) fn last(&self) -> Option<T> {
        self.points.last().map(|&(_, number)| number)
    }
}
