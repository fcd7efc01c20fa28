//! [`Sample`]: what a queue did in a period.

use std::time::Duration;

use clockworker::{ExecutorStats, QueueStats};
use serde::Serialize;

use crate::entry::Entry;

/// What a queue did in a period. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Sample {
    /// Its share, as it was last.
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
    /// Ready tasks, as many as were seen at once.
    pub ready: u64,
    /// Tasks that had not finished, at the end.
    pub live: u64,
    /// How many waits of ready tasks were counted.
    pub waits: u64,
    /// The p99 of these waits: in a period of several parts, that of the worst part.
    pub wait_p99_ns: u64,
    /// The longest poll, of those that were timed.
    pub longest_poll_ns: u64,
}

impl Sample {
    /// What a queue did, given its [difference](QueueStats::since) to an earlier look.
    pub(crate) fn of_queue(since: &QueueStats) -> Self {
        let latency = since.latency.as_deref();
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
            wait_p99_ns: nanos(latency.and_then(|latency| latency.wait.quantile(0.99)).unwrap_or_default()),
            longest_poll_ns: nanos(
                latency.and_then(|latency| latency.longest_poll).map(|poll| poll.took).unwrap_or_default(),
            ),
        }
    }

    /// What the whole executor did: its busy time is all but the host's.
    pub(crate) fn of_executor(since: &ExecutorStats) -> Self {
        Self {
            busy_ns: nanos(since.busy + since.main + since.own),
            polls: since.polls,
            completed: since.completed,
            panicked: since.panicked,
            refused: since.refused,
            overruns: since.overruns,
            ready: since.ready as u64,
            live: since.live as u64,
            ..Self::default()
        }
    }

    /// Adds what came later: counts are sums, `ready` and times of waits and polls the greater, `share` and `live` the later.
    pub fn add(&mut self, later: &Sample) {
        self.share = later.share;
        self.busy_ns = self.busy_ns.saturating_add(later.busy_ns);
        self.polls = self.polls.saturating_add(later.polls);
        self.completed = self.completed.saturating_add(later.completed);
        self.panicked = self.panicked.saturating_add(later.panicked);
        self.refused = self.refused.saturating_add(later.refused);
        self.overruns = self.overruns.saturating_add(later.overruns);
        self.ready = self.ready.max(later.ready);
        self.live = later.live;
        self.waits = self.waits.saturating_add(later.waits);
        self.wait_p99_ns = self.wait_p99_ns.max(later.wait_p99_ns);
        self.longest_poll_ns = self.longest_poll_ns.max(later.longest_poll_ns);
    }
}

impl Entry for Sample {
    const WORDS: usize = 12;
    type Words = [u64; Self::WORDS];

    fn add_later(&mut self, later: &Self) {
        self.add(later);
    }

    fn words(&self) -> Self::Words {
        [
            self.share,
            self.busy_ns,
            self.polls,
            self.completed,
            self.panicked,
            self.refused,
            self.overruns,
            self.ready,
            self.live,
            self.waits,
            self.wait_p99_ns,
            self.longest_poll_ns,
        ]
    }

    fn from_words(words: &[u64]) -> Option<Self> {
        let &[
            share,
            busy_ns,
            polls,
            completed,
            panicked,
            refused,
            overruns,
            ready,
            live,
            waits,
            p99,
            longest,
        ] = words
        else {
            return None;
        };
        Some(Self {
            share,
            busy_ns,
            polls,
            completed,
            panicked,
            refused,
            overruns,
            ready,
            live,
            waits,
            wait_p99_ns: p99,
            longest_poll_ns: longest,
        })
    }
}

/// Some 580 years at most.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
