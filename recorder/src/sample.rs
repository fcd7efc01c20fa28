//! [`Sample`], [`Values`] and [`SeriesSample`]: what happened in a period.

use std::time::Duration;

use clockworker::QueueStats;
use serde::{Deserialize, Serialize};

use crate::layout::LIVE_WORDS;

/// What a queue did in a period. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sample {
    /// Its share at the end.
    pub share: u64,
    /// Time its slices took.
    pub busy_ns: u64,
    /// Polls of its tasks.
    pub polls: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Spawns that were refused.
    pub refused: u64,
    /// Slices that ended late, as a poll was too long.
    pub overruns: u64,
    /// Tasks that were ready at the end.
    pub ready: u64,
    /// Tasks that had not finished at the end.
    pub live: u64,
    /// How many waits of ready tasks were counted.
    pub waits: u64,
    /// The p99 of these waits.
    pub wait_p99_ns: u64,
    /// The longest poll of those that were timed.
    pub longest_poll_ns: u64,
}

impl Sample {
    /// What a queue did, given its [difference](QueueStats::since) to an earlier look.
    pub(crate) fn of_queue(since: &QueueStats) -> Self {
        let latency = since.latency.as_deref();
        let wait_p99 = latency.and_then(|latency| latency.wait.quantile(0.99));
        let longest_poll = latency.and_then(|latency| latency.longest_poll).map(|poll| poll.took);
        Self {
            share: u64::from(since.share),
            busy_ns: nanos(since.busy),
            polls: since.polls,
            completed: since.completed,
            panicked: since.panicked,
            refused: since.refused,
            overruns: since.overruns,
            ready: since.ready as u64,
            live: since.live as u64,
            waits: latency.map_or(0, |latency| latency.wait.count()),
            wait_p99_ns: nanos(wait_p99.unwrap_or_default()),
            longest_poll_ns: nanos(longest_poll.unwrap_or_default()),
        }
    }

    /// Adds the next period: counts and times become sums, `ready` and latencies the greater, `share` and `live` the later.
    pub fn add(&mut self, later: &Sample) {
        (self.share, self.live) = (later.share, later.live);
        self.busy_ns = self.busy_ns.saturating_add(later.busy_ns);
        self.polls = self.polls.saturating_add(later.polls);
        self.completed = self.completed.saturating_add(later.completed);
        self.panicked = self.panicked.saturating_add(later.panicked);
        self.refused = self.refused.saturating_add(later.refused);
        self.overruns = self.overruns.saturating_add(later.overruns);
        self.ready = self.ready.max(later.ready);
        self.waits = self.waits.saturating_add(later.waits);
        self.wait_p99_ns = self.wait_p99_ns.max(later.wait_p99_ns);
        self.longest_poll_ns = self.longest_poll_ns.max(later.longest_poll_ns);
    }
}

/// Some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Values {
    /// How many.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴.
    pub sum: u64,
    /// The least of them; 0 if there is none.
    pub min: u64,
    /// The greatest of them; 0 if there is none.
    pub max: u64,
}

impl Values {
    /// The mean. None if there are no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Adds more values.
    pub fn add(&mut self, more: &Values) {
        if more.count > 0 {
            self.min = if self.count == 0 { more.min } else { self.min.min(more.min) };
            self.max = self.max.max(more.max);
            self.count = self.count.saturating_add(more.count);
            self.sum = self.sum.wrapping_add(more.sum);
        }
    }
}

/// What was recorded into a [`Series`](crate::Series) in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SeriesSample {
    /// Its name.
    pub name: String,
    /// The values of the period.
    pub values: Values,
    /// How many values it had up to the end of the period.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴.
    pub sum: u64,
}

impl SeriesSample {
    /// What came after it, by the live words.
    pub(crate) fn next(&self, [count, sum, greatest, inverse_least]: [u64; LIVE_WORDS]) -> Self {
        let mut values = Values { count: count.saturating_sub(self.count), ..Values::default() };
        if values.count > 0 {
            values.sum = sum.wrapping_sub(self.sum);
            (values.min, values.max) = (!inverse_least, greatest);
        }
        if values.min > values.max {
            // Their period was filed, and is torn: the extremes are gone.
            (values.min, values.max) = (values.sum / values.count, values.sum / values.count);
        }
        Self { name: self.name.clone(), values, count, sum }
    }
}

/// Some 580 years at most.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
