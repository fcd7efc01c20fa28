//! [`Lags`]: what each queue is owed.

use std::collections::BTreeMap;
use std::time::Duration;

use clockworker::observe::{EventKind, SliceEndReason, Timeline};
use clockworker_schedulers::{Eevdf, Lag, QueueId, Share};

use crate::ready::{Ready, Series};
use crate::spans::nanos;

/// A lag is noted when it has moved by so many parts of the queue's request.
const PARTS: u64 = 8;

/// What each queue is owed, in nanoseconds of service: its lag, w·(V − v), by the [`Eevdf`] that the executor uses. That gets what
/// the timeline says: which queue woke and fell asleep, and how long its slices took.
///
/// While the same queues contend, a queue's lag rises by its part w/W of each slice, and falls by the slice if that was its own. Asleep
/// it is what the queue keeps: a credit of at most two turns, or a debt until V has passed it. Zero for all where no task is ready.
/// A timeline does not say what was owed when it began: that is taken for zero.
pub(crate) struct Lags {
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
    series: Series<i64>,
    step_ns: u64,
}

impl Lags {
    /// Of a whole timeline: the series of each queue that was there when it was taken and was not capped, idle or nested.
    pub(crate) fn of(timeline: &Timeline) -> impl Iterator<Item = (u32, Series<i64>)> {
        let mut lags = Self::new(timeline);
        let mut ready = Ready::default();
        for event in &timeline.events {
            ready.next(event);
            lags.next(event.at, event.kind, &ready);
        }
        lags.end(timeline);
        lags.queues.into_iter().map(|(index, queue)| (index, queue.series))
    }

    fn new(timeline: &Timeline) -> Self {
        let mut eevdf = Eevdf::new();
        let queues = timeline.queues.iter().filter(|queue| !queue.is_constrained).map(|queue| {
            let request_ns = nanos(queue.request);
            let id = eevdf.add(Share::new(queue.share).unwrap_or_default(), request_ns);
            let mut series = Series::default();
            timeline.events.first().into_iter().for_each(|first| series.set(first.at, 0));
            (queue.index, QueueLag { id, series, step_ns: request_ns / PARTS })
        });
        let queues = queues.collect();
        Self { eevdf, queues, running: None, polled_until: Duration::ZERO, now: Duration::ZERO }
    }

    fn next(&mut self, at: Duration, kind: EventKind, ready: &Ready) {
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
            let moved = lag.abs_diff(series.last().unwrap_or(0));
            if of == Some(*queue) || lag == 0 || moved >= *step_ns {
                series.set(self.now, lag);
            }
        }
    }

    /// Charges the slice that was under way where the timeline ends, and notes all lags.
    fn end(&mut self, timeline: &Timeline) {
        let Some(last) = timeline.events.last() else { return };
        let now = last.at.max(self.polled_until);
        self.charge(now);
        self.queues.values_mut().for_each(|queue| queue.step_ns = 0);
        self.note(now, None);
    }
}

/// In whole nanoseconds, the nearest: a share of 3 is charged a trifle too little.
fn nearest_ns(lag: Lag) -> i64 {
    let ns = (lag.raw() + (1 << 39)) >> 40;
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
