//! The series: their names, units, and what they say of the stats.

use std::time::Duration;

use ::metrics::{Label, Unit, counter, describe_counter, describe_gauge, gauge};

use clockworker::{ExecutorStats, QueueStats};

use crate::{Observed, ObservedQueue};

/// A series of queues whose values come one at a time, from what is known of each.
struct Series<Q, T> {
    name: &'static str,
    unit: Unit,
    about: &'static str,
    value: fn(&Q) -> T,
}

const fn counted<Q>(name: &'static str, about: &'static str, value: fn(&Q) -> u64) -> Series<Q, u64> {
    Series { name, unit: Unit::Count, about, value }
}

const fn timed<Q>(name: &'static str, about: &'static str, value: fn(&Q) -> u64) -> Series<Q, u64> {
    Series { name, unit: Unit::Nanoseconds, about, value }
}

const QUEUE_COUNTERS: &[Series<QueueStats, u64>] = &[
    counted("clockworker_queue_polls_total", "Polls of tasks", |q| q.polls),
    counted("clockworker_queue_slices_total", "Slices it got", |q| q.slices),
    counted("clockworker_queue_preemptions_total", "Slices cut short for another queue", |q| q.preemptions),
    counted("clockworker_queue_overruns_total", "Slices that ended late", |q| q.overruns),
    timed("clockworker_queue_busy_nanoseconds_total", "Time its slices took", |q| nanos(q.busy)),
    timed("clockworker_queue_branch_busy_nanoseconds_total", "Time of it and of those below", |q| {
        nanos(q.branch_busy)
    }),
    timed("clockworker_queue_overrun_nanoseconds_total", "By how much slices ended late", |q| {
        nanos(q.overrun_time)
    }),
    timed("clockworker_queue_throttled_nanoseconds_total", "Time with work and no cap left", |q| {
        nanos(q.throttled_time)
    }),
    counted("clockworker_queue_tasks_spawned_total", "Tasks spawned", |q| q.spawned),
    counted("clockworker_queue_tasks_completed_total", "Tasks that gave an output", |q| q.completed),
    counted("clockworker_queue_tasks_cancelled_total", "Tasks aborted or cancelled", |q| q.cancelled),
    counted("clockworker_queue_tasks_panicked_total", "Tasks that panicked", |q| q.panicked),
    counted("clockworker_queue_tasks_refused_total", "Spawns refused", |q| q.refused),
    counted("clockworker_queue_tasks_shed_total", "Spawns refused for overload", |q| q.shed),
    counted("clockworker_queue_periods_total", "Periods of its cap with work", |q| q.periods),
    counted("clockworker_queue_throttled_periods_total", "Periods in which its cap was used up", |q| {
        q.throttled_periods
    }),
];

const OBSERVED_COUNTERS: &[Series<ObservedQueue, u64>] = &[
    counted("clockworker_queue_local_wakes_total", "Tasks woken on the executor's thread", |q| q.wakes.local),
    counted("clockworker_queue_remote_wakes_total", "Tasks woken from other threads", |q| q.wakes.remote),
];

const fn state<Q>(name: &'static str, about: &'static str, value: fn(&Q) -> f64) -> Series<Q, f64> {
    Series { name, unit: Unit::Count, about, value }
}

const QUEUE_GAUGES: &[Series<QueueStats, f64>] = &[
    state("clockworker_queue_share", "Its share of the CPU, relative to the others'", |q| f64::from(q.share)),
    state("clockworker_queue_ready_tasks", "Tasks ready to be polled", |q| q.ready as f64),
    state("clockworker_queue_live_tasks", "Tasks that have not finished", |q| q.live as f64),
    state("clockworker_queue_waiting_spawns", "Spawns that wait for room", |q| q.waiting as f64),
];

const OBSERVED_GAUGES: &[Series<ObservedQueue, f64>] = &[Series {
    name: "clockworker_queue_longest_poll_seconds",
    unit: Unit::Seconds,
    about: "The longest poll since the last report",
    value: |q| {
        let longest = q.latency.as_ref().and_then(|latency| latency.longest_poll);
        longest.map_or(0.0, |poll| poll.took.as_secs_f64())
    },
}];

const TIME: &str = "clockworker_time_nanoseconds_total";
const HOST_POLLS: &str = "clockworker_host_polls_total";
const HOST_YIELDS: &str = "clockworker_host_yields_total";

/// Tells the recorder each series' unit and meaning.
pub(super) fn describe() {
    describe_counter!(TIME, Unit::Nanoseconds, "Where the thread's time went");
    describe_counter!(HOST_POLLS, Unit::Count, "Polls of the executor by its host");
    describe_counter!(HOST_YIELDS, Unit::Count, "Returns to the host with work left");
    for series in QUEUE_COUNTERS {
        describe_counter!(series.name, series.unit, series.about);
    }
    for series in OBSERVED_COUNTERS {
        describe_counter!(series.name, series.unit, series.about);
    }
    for series in QUEUE_GAUGES {
        describe_gauge!(series.name, series.unit, series.about);
    }
    for series in OBSERVED_GAUGES {
        describe_gauge!(series.name, series.unit, series.about);
    }
    super::histograms::describe();
}

/// Adds what happened to the series without a queue.
pub(super) fn publish_executor(since: &ExecutorStats, observed: &Observed, labels: &[Label]) {
    let accounts = [("queues", since.busy), ("main", since.main), ("own", since.own), ("host", since.host)];
    for (account, time) in accounts {
        let mut labels = labels.to_vec();
        labels.push(Label::new("account", account));
        counter!(TIME, labels).increment(nanos(time));
    }
    counter!(HOST_POLLS, labels.to_vec()).increment(since.host_polls);
    counter!(HOST_YIELDS, labels.to_vec()).increment(since.host_yields);
    super::histograms::publish_executor(observed, labels);
}

/// Adds what happened to a queue's series, and sets its gauges.
pub(super) fn publish_queue(since: &QueueStats, labels: &[Label]) {
    for series in QUEUE_COUNTERS {
        counter!(series.name, labels.to_vec()).increment((series.value)(since));
    }
    for series in QUEUE_GAUGES {
        gauge!(series.name, labels.to_vec()).set((series.value)(since));
    }
}

/// Adds what was observed of a queue to its series.
pub(super) fn publish_observed(since: &ObservedQueue, labels: &[Label]) {
    for series in OBSERVED_COUNTERS {
        counter!(series.name, labels.to_vec()).increment((series.value)(since));
    }
    for series in OBSERVED_GAUGES {
        gauge!(series.name, labels.to_vec()).set((series.value)(since));
    }
    super::histograms::publish_queue(since, labels);
}

/// Sets the gauges of a queue that is gone to zero.
pub(super) fn clear_gauges(labels: &[Label]) {
    for series in QUEUE_GAUGES {
        gauge!(series.name, labels.to_vec()).set(0.0);
    }
    for series in OBSERVED_GAUGES {
        gauge!(series.name, labels.to_vec()).set(0.0);
    }
}

/// Some 580 years at most.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
