//! Numbers over time: how many tasks of each queue are ready, and what each queue is owed.

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, PollOutcome, SliceEndReason, Timeline};
use clockworker_schedulers::{Eevdf, Lag, QueueId, Share};

use crate::spans::nanos;

/// A lag is noted when it has moved by so many parts of the queue's request.
const PARTS: u64 = 8;

/// A number, from when on it was what: only where it became another.
#[derive(Debug, Default)]
pub(crate) struct Series {
    pub(crate) points: Vec<(Duration, i64)>,
}

impl Series {
    /// The number is that from `at` on, which is not before the last time.
    fn set(&mut self, at: Duration, number: i64) {
        self.points.pop_if(|last| last.0 == at);
        if self.points.last().is_none_or(|last| last.1 != number) {
            self.points.push((at, number));
        }
    }

    fn last(&self) -> i64 {
        self.points.last().map_or(0, |last| last.1)
    }
}

/// How many tasks of each queue are ready, the one that is being polled not among them.
///
/// One more for each that becomes ready, one less for each poll. At the beginning of each slice it is what the executor said then: so
/// tasks count that were ready before the timeline began, and aborted ones no longer.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// By index.
    queues: BTreeMap<u32, Series>,
    /// The queue of a task that is ready again once its poll is over.
    yielding: Option<(u32, Duration)>,
}

impl Ready {
    pub(crate) fn next(&mut self, event: &Event) {
        self.end_poll(event.at);
        match event.kind {
            EventKind::Spawned { task, .. } | EventKind::Ready { task, .. } => {
                self.add(task.queue, event.at, 1);
            }
            EventKind::Polled { task, took, outcome, .. } => {
                self.add(task.queue, event.at, -1);
                self.yielding = (outcome == PollOutcome::Yielded).then_some((task.queue, event.at + took));
            }
            EventKind::SliceBegan { queue, ready } => {
                self.queues.entry(queue).or_default().set(event.at, ready.into());
            }
            _ => {}
        }
    }

    /// How many tasks of the queue are ready.
    pub(crate) fn count(&self, queue: u32) -> i64 {
        self.queues.get(&queue).map_or(0, Series::last)
    }

    /// Ends the poll under way if it was over by then.
    fn end_poll(&mut self, now: Duration) {
        if let Some((queue, at)) = self.yielding.take_if(|yielding| yielding.1 <= now) {
            self.add(queue, at, 1);
        }
    }

    fn add(&mut self, queue: u32, at: Duration, tasks: i64) {
        let series = self.queues.entry(queue).or_default();
        series.set(at, (series.last() + tasks).max(0));
    }
}

/// What each queue is owed, in nanoseconds of service: its lag, w·(V − v), by the [`Eevdf`] that the executor uses. That gets what
/// the timeline says: which queue woke and fell asleep, and how long its slices took. Zero for all where no task is ready, and
/// where the timeline begins.
struct Lags {
    eevdf: Eevdf,
    /// By index.
    queues: BTreeMap<u32, QueueLag>,
    /// The queue of the slice under way, and up to when that was charged.
    running: Option<(u32, Duration)>,
    /// When the last poll was over.
    polled_until: Duration,
    /// Up to when lags are noted.
    now: Duration,
}

struct QueueLag {
    id: QueueId,
    series: Series,
    step_ns: u64,
}

impl Lags {
    /// Of the queues that were there when the timeline was taken and were not capped, idle or nested.
    fn new(timeline: &Timeline) -> Self {
        let mut eevdf = Eevdf::new();
        let began = timeline.events.first().map(|first| (first.at, 0));
        let queues = timeline.queues.iter().filter(|queue| !queue.is_constrained).map(|queue| {
            let request_ns = nanos(queue.request);
            let id = eevdf.add(Share::new(queue.share).unwrap_or_default(), request_ns);
            let series = Series { points: began.into_iter().collect() };
            (queue.index, QueueLag { id, series, step_ns: request_ns / PARTS })
        });
        let queues = queues.collect();
        Self { eevdf, queues, running: None, polled_until: Duration::ZERO, now: Duration::ZERO }
    }

    /// `ready` has the event already.
    fn next(&mut self, &Event { at, kind }: &Event, ready: &Ready) {
        match kind {
            EventKind::Spawned { task, .. } => self.wake(task.queue, at),
            // Between polls the executor looks who was woken.
            EventKind::Ready { task, .. } => self.wake(task.queue, at.max(self.polled_until)),
            EventKind::Polled { took, .. } => self.polled_until = at + took,
            EventKind::SliceBegan { queue, .. } => {
                self.wake(queue, at);
                self.running = Some((queue, at));
                self.note(at, Some(queue));
            }
            EventKind::SliceEnded { queue, reason } => {
                self.charge(at);
                self.running = None;
                let has_work = reason != SliceEndReason::Drained && ready.count(queue) > 0;
                if let Some(known) = self.queues.get(&queue).filter(|_| !has_work) {
                    self.eevdf.sleep(known.id);
                }
                self.note(at, Some(queue));
            }
            _ => {}
        }
    }

    fn wake(&mut self, queue: u32, at: Duration) {
        let Some(id) = self.queues.get(&queue).map(|queue| queue.id) else { return };
        if !self.eevdf.is_runnable(id) {
            self.charge(at);
            self.eevdf.wake(id);
            self.note(at, Some(queue));
        }
    }

    /// Charges the queue that has the slice.
    fn charge(&mut self, now: Duration) {
        if let Some((queue, charged_until)) = &mut self.running
            && let Some(known) = self.queues.get(queue)
        {
            let service = now.saturating_sub(*charged_until);
            *charged_until = now.max(*charged_until);
            self.eevdf.charge(known.id, nanos(service));
        }
    }

    /// Notes the lag of that queue, and those that have moved far, or are nothing now.
    fn note(&mut self, at: Duration, of: Option<u32>) {
        // A spawn is looked at in the poll, a wake after it.
        self.now = self.now.max(at);
        for (queue, QueueLag { id, series, step_ns }) in &mut self.queues {
            let lag = nearest_ns(self.eevdf.lag(*id));
            if of == Some(*queue) || lag == 0 || lag.abs_diff(series.last()) >= *step_ns {
                series.set(self.now, lag);
            }
        }
    }

    /// Charges the slice that was under way where the timeline ends, and notes all lags.
    fn end(&mut self, last: &Event) {
        let now = last.at.max(self.polled_until);
        self.charge(now);
        self.queues.values_mut().for_each(|queue| queue.step_ns = 0);
        self.note(now, None);
    }
}

/// Of a whole timeline, by the index of the queue: how many tasks are ready, and what it is owed.
pub(crate) fn ready_and_lags(timeline: &Timeline) -> (BTreeMap<u32, Series>, BTreeMap<u32, Series>) {
    let (mut ready, mut lags) = (Ready::default(), Lags::new(timeline));
    for event in &timeline.events {
        ready.next(event);
        lags.next(event, &ready);
    }
    ready.end_poll(Duration::MAX);
    timeline.events.last().into_iter().for_each(|last| lags.end(last));
    let lags = lags.queues.into_iter().map(|(index, queue)| (index, queue.series));
    (ready.queues, lags.collect())
}

/// In whole nanoseconds, the nearest: a share of 3 is charged a trifle too little.
fn nearest_ns(lag: Lag) -> i64 {
    let ns = (lag.raw() + (1 << 39)) >> 40;
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
