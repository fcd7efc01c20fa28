//! What an executor does, through the facade of the crate `metrics`: for Prometheus, StatsD, and whatever else has a
//! recorder for it.
//!
//! [`Exporter::publish`] takes an executor's [stats](clockworker::Executor::stats) and passes on what happened since it was last called.
//! When that is is yours to say: a task that sleeps with the host's timers, or whoever answers a scrape, as the example `metrics`
//! does, which has each scrape see the state of that moment.
//!
//! # Series
//!
//! Each has the label `executor` if the exporter was [given a name](Exporter::named). Those of queues have the label `queue`: its name.
//!
//! | Series | Kind | What |
//! |---|---|---|
//! | `clockworker_time_seconds_total` | sum | where the thread's time went, by label `account`: `queues`, `main`, `own`, `host` |
//! | `clockworker_host_polls_total`, `clockworker_host_yields_total` | counter | the host's polls of the executor, and how often it went back with work left |
//! | `clockworker_turn_seconds`, `clockworker_host_visit_seconds` | histogram | turns of the executor, and of its host between them |
//! | `clockworker_longest_turn_seconds`, `…_held_seconds` | gauge | the longest turn so far, in which the host was not looked at; what took longest in it, by labels `queue` and `spawned_at` |
//! | `clockworker_stalls_total`, `clockworker_longest_stall_seconds` | counter, gauge | of `Exporter::publish_stalls`, with the feature `stalls` |
//! | `clockworker_queue_polls_total`, `…_slices_total`, `…_preemptions_total`, `…_overruns_total` | counter | |
//! | `clockworker_queue_busy_seconds_total`, `…_branch_busy_seconds_total`, `…_overrun_seconds_total`, `…_throttled_seconds_total` | sum | |
//! | `clockworker_queue_tasks_{spawned,moved,completed,cancelled,panicked,refused}_total` | counter | |
//! | `clockworker_queue_local_wakes_total`, `…_remote_wakes_total` | counter | tasks that waited, woken on the executor's thread and on others |
//! | `clockworker_queue_periods_total`, `…_throttled_periods_total` | counter | of its [cap](clockworker::Cap) |
//! | `clockworker_queue_share`, `…_ready_tasks`, `…_live_tasks`, `…_waiting_spawns` | gauge | |
//! | `clockworker_queue_longest_poll_seconds` | gauge | the longest poll so far of those that were timed, in the call after it; otherwise 0 |
//! | `clockworker_queue_wait_seconds`, `…_poll_seconds`, `…_slice_seconds` | histogram | ready to polled; polls; slices |
//!
//! Each says what the field of that name in [`ExecutorStats`] and [`QueueStats`] says, or of [`ObservedQueue`](crate::ObservedQueue).
//! Histograms, `longest_poll` and `longest_turn` need [latency](crate::Observation::latency) to be asked for, wakes anything. A time goes into histograms as
//! the middle of its bucket: off by 3 % at most.
//!
//! Counters of the facade are whole numbers. So a sum of seconds is a gauge there, which only rises, and `rate` takes it as it takes a
//! counter: `rate(clockworker_queue_busy_seconds_total[1m])` is the part of a core that a queue had.

mod series;

use ::metrics::Label;
use clockworker::{ExecutorStats, QueueStats};

use crate::{LongTurn, Observed};

/// Passes what an executor does on to the recorder of the crate `metrics`: the global one, or the local one of the
/// thread. See the [module](self) for the series.
///
/// Two exporters of the same name, and queues of the same name one after the other, add to the same counters. Without a recorder
/// nothing happens, and what happened by then is not passed on later.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::Observe;
/// use clockworker_observe::metrics::Exporter;
///
/// let ex = Executor::new();
/// let mut exporter = Exporter::new().named("shard 0");
/// ex.block_on(ex.spawn(async {})).unwrap();
/// exporter.publish(&ex.stats(), &ex.observed()); // every second or so, or when Prometheus asks
/// ```
#[derive(Debug, Default)]
pub struct Exporter {
    labels: Vec<Label>,
    /// What was passed on so far.
    last: Option<(ExecutorStats, Observed)>,
    /// Stalls that were passed on so far.
    #[cfg(feature = "stalls")]
    stalls: u64,
    is_described: bool,
}

impl Exporter {
    /// One that passes on all that its executor did since it was made.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of the label `executor` of all series, which tells executors apart. Without it they have no such label.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.labels = vec![Label::new("executor", name.into())];
        self
    }

    /// Passes on what happened since the last call; `stats` are from [`Executor::stats`](clockworker::Executor::stats) or
    /// [`Handle::stats`](clockworker::Handle::stats), and `observed` from [`Observe::observed`](crate::Observe::observed) or
    /// [`Observer::observed`](crate::Observer::observed), always of the same executor. One that is not observed has
    /// `Observed::default()`.
    ///
    /// What a queue did after the last call before it was gone is in none of its own series, but in `clockworker_time`. Its gauges go
    /// to zero.
    ///
    /// It looks up some thirty series a queue, each a few hundred nanoseconds with the exporter for Prometheus.
    pub fn publish(&mut self, stats: &ExecutorStats, observed: &Observed) {
        self.describe();
        let (since, newly) = match &self.last {
            Some((last, earlier)) => (stats.since(last), observed.since(earlier)),
            None => (stats.clone(), observed.clone()),
        };
        series::publish_executor(&since, &newly, &self.labels);
        for queue in &since.queues {
            series::publish_queue(queue, newly.queue(queue.number), &self.labels_of(queue));
        }
        for gone in self.last.iter().flat_map(|(last, _)| &last.queues) {
            if stats.queues.iter().all(|queue| queue.name != gone.name) {
                series::clear_gauges(&self.labels_of(gone));
            }
        }
        let before = self.last.as_ref().and_then(|(_, observed)| longest_turn(observed));
        series::publish_longest_turn(longest_turn(observed), before, &self.labels);
        self.last = Some((stats.clone(), observed.clone()));
    }

    /// Passes on how many stalls there were since the last call, and how long the longest so far has run; `stalls` are from
    /// [`StallGuard::stats`](crate::stalls::StallGuard::stats), always of the same guard.
    #[cfg(feature = "stalls")]
    pub fn publish_stalls(&mut self, stalls: &crate::stalls::StallStats) {
        self.describe();
        let earlier = std::mem::replace(&mut self.stalls, stalls.seen);
        series::publish_stalls(stalls.seen.saturating_sub(earlier), stalls.longest, &self.labels);
    }

    fn describe(&mut self) {
        if !std::mem::replace(&mut self.is_described, true) {
            series::describe();
        }
    }

    fn labels_of(&self, queue: &QueueStats) -> Vec<Label> {
        let mut labels = self.labels.clone();
        labels.push(Label::new("queue", queue.name.clone()));
        labels
    }
}

fn longest_turn(observed: &Observed) -> Option<&LongTurn> {
    observed.latency.as_ref()?.longest_turn.as_ref()
}
