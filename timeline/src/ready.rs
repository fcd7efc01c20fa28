//! [`Ready`]: how many tasks of each queue are ready.

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, PollOutcome, Timeline};

use crate::series::Series;

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
    count: u32,
    series: Series<u32>,
    /// Whether the executor has said how many they are.
    is_known: bool,
}

impl Ready {
    /// Of a whole timeline: the series of each queue.
    pub(crate) fn of(timeline: &Timeline) -> impl Iterator<Item = (u32, Series<u32>)> {
        let mut ready = Ready::default();
        timeline.events.iter().for_each(|event| ready.next(event));
        ready.settle(Duration::MAX);
        ready.queues.into_iter().map(|(queue, ready)| (queue, ready.series))
    }

    /// Takes note of the next event.
    pub(crate) fn next(&mut self, event: &Event) {
        self.settle(event.at);
        match event.kind {
            EventKind::Spawned { task, .. } | EventKind::Ready { task, .. } => self.add(task.queue, event.at),
            EventKind::Polled { task, took, outcome, .. } => {
                let count = self.count(task.queue).saturating_sub(1);
                self.queues.entry(task.queue).or_default().set(event.at, count);
                self.yielding = (outcome == PollOutcome::Yielded).then_some((task.queue, event.at + took));
            }
            EventKind::SliceBegan { queue, ready } => {
                self.queues.entry(queue).or_default().correct(event.at, ready);
            }
            _ => {}
        }
    }

    /// How many tasks of the queue are ready.
    pub(crate) fn count(&self, queue: u32) -> u32 {
        self.queues.get(&queue).map_or(0, |queue| queue.count)
    }

    /// Ends the poll under way if it was over by then.
    fn settle(&mut self, now: Duration) {
        if let Some((queue, at)) = self.yielding.take_if(|yielding| yielding.1 <= now) {
            self.add(queue, at);
        }
    }

    /// Adds a task of the queue. (A task becomes ready when it waits: none is twice.)
    fn add(&mut self, queue: u32, at: Duration) {
        let queue = self.queues.entry(queue).or_default();
        queue.set(at, queue.count + 1);
    }
}

impl QueueReady {
    fn set(&mut self, at: Duration, count: u32) {
        self.count = count;
        self.series.set(at, count);
    }

    /// The executor says that they are so many.
    fn correct(&mut self, at: Duration, count: u32) {
        if !std::mem::replace(&mut self.is_known, true) {
            // Nothing of it was polled until now: what is missing was ready before.
            let missing = count.saturating_sub(self.count);
            self.series.change_all(|count| *count += missing);
        }
        self.set(at, count);
    }
}
