//! [`Lags`]: what each queue is owed.

use std::collections::HashMap;
use std::time::Duration;

use clockworker::observe::{EventKind, SliceEndReason, Timeline};
use clockworker_schedulers::{Eevdf, Lag, QueueId, Share};

use crate::ready::{Ready, Series};
use crate::spans::nanos;

/// A lag is noted when it has moved by so many parts of the queue's request.
const PARTS: u64 = 8;

/// What each queue is owed, in nanoseconds of service: its lag, w·(V − v), by the [`Eevdf`] that the executor uses. That is told what
/// the timeline says: which queue woke and fell asleep, and how long its slices took.
///
/// While the same queues contend, a queue's lag rises by its part w/W of each slice, and falls by the slice if that was its own. Asleep
/// it is what the queue keeps: a credit of at most two turns, or a debt until V has passed it. Zero for all where no task is ready.
/// A timeline does not say what was owed when it began: that is taken for zero.
pub(crate) struct Lags {
    eevdf: Eevdf,
    queues: Vec<QueueLag>,
    /// Where the queue of an index is in `queues`.
    places: HashMap<u32, usize>,
    /// The slice under way: the place of its queue in `queues`, and up to when that was charged.
    running: Option<(usize, Duration)>,
    /// When the last poll was over.
    polled_until: Duration,
    /// Up to when lags are noted.
    now: Duration,
}

struct QueueLag {
    index: u32,
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
        lags.queues.into_iter().map(|queue| (queue.index, queue.series))
    }

    fn new(timeline: &Timeline) -> Self {
        let mut eevdf = Eevdf::new();
        let queues = timeline.queues.iter().filter(|queue| !queue.is_constrained).map(|queue| {
            let request_ns = nanos(queue.request);
            let id = eevdf.add(Share::new(queue.share).unwrap_or_default(), request_ns);
            let mut series = Series::default();
            timeline.events.first().into_iter().for_each(|first| series.set(first.at, 0));
            QueueLag { index: queue.index, id, series, step_ns: request_ns / PARTS }
        });
        let queues: Vec<QueueLag> = queues.collect();
        let places = queues.iter().enumerate().map(|(place, queue)| (queue.index, place)).collect();
        Self { eevdf, queues, places, running: None, polled_until: Duration::ZERO, now: Duration::ZERO }
    }

    fn next(&mut self, at: Duration, kind: EventKind, ready: &Ready) {
        match kind {
            EventKind::Spawned { task, .. } => self.wake(task.queue, at),
            // Between polls the executor looks who was woken.
            EventKind::Ready { task, .. } => self.wake(task.queue, at.max(self.polled_until)),
            EventKind::Polled { took, .. } => self.polled_until = at + took,
            EventKind::SliceBegan { queue, .. } => {
                self.wake(queue, at);
                let place = self.place(queue);
                self.running = place.map(|place| (place, at));
                self.note(at, place);
            }
            EventKind::SliceEnded { queue, reason } => {
                let has_work = reason != SliceEndReason::Drained && ready.count(queue) > 0;
                self.end_slice(queue, at, has_work);
            }
            _ => {}
        }
    }

    fn place(&self, index: u32) -> Option<usize> {
        self.places.get(&index).copied()
    }

    fn wake(&mut self, index: u32, at: Duration) {
        if let Some(place) = self.place(index)
            && !self.eevdf.is_runnable(self.queues[place].id)
        {
            self.charge(at);
            self.eevdf.wake(self.queues[place].id);
            self.note(at, Some(place));
        }
    }

    fn end_slice(&mut self, index: u32, at: Duration, has_work: bool) {
        self.charge(at);
        self.running = None;
        let place = self.place(index);
        if let Some(place) = place.filter(|_| !has_work) {
            self.eevdf.sleep(self.queues[place].id);
        }
        self.note(at, place);
    }

    /// Charges the queue that has the slice.
    fn charge(&mut self, now: Duration) {
        if let Some((place, charged_until)) = &mut self.running {
            let service = now.saturating_sub(*charged_until);
            *charged_until = now.max(*charged_until);
            self.eevdf.charge(self.queues[*place].id, nanos(service));
        }
    }

    /// Notes the lag of the queue at that place, and those that have moved far, or are nothing now.
    fn note(&mut self, at: Duration, of: Option<usize>) {
        // A spawn is looked at in the poll, a wake after it.
        self.now = self.now.max(at);
        for (place, QueueLag { id, series, step_ns, .. }) in self.queues.iter_mut().enumerate() {
            let lag = nearest_ns(self.eevdf.lag(*id));
            let moved = lag.abs_diff(series.last().unwrap_or(0));
            if of == Some(place) || lag == 0 || moved >= *step_ns {
                series.set(self.now, lag);
            }
        }
    }

    /// Charges the slice that was under way where the timeline ends, and notes all lags.
    fn end(&mut self, timeline: &Timeline) {
        let Some(last) = timeline.events.last() else { return };
        let now = last.at.max(self.polled_until);
        self.charge(now);
        self.queues.iter_mut().for_each(|queue| queue.step_ns = 0);
        self.note(now, None);
    }
}

/// In whole nanoseconds, the nearest: a share of 3 is charged a trifle too little.
fn nearest_ns(lag: Lag) -> i64 {
    let ns = (lag.raw() + (1 << 39)) >> 40;
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
