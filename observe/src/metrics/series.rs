//! The series: their names, units, and what they say of the stats.

use std::time::Duration;

use ::metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use clockworker::{ExecutorStats, QueueStats};

use crate::{Histogram, Latency, LongTurn, Observed, ObservedQueue};

/// What a series says of a queue.
enum Value {
    Count(fn(&QueueStats) -> u64),
    /// A sum. Counters of the facade are whole numbers, so it is a gauge that is added to.
    Time(fn(&QueueStats) -> Duration),
    Gauge(fn(&QueueStats) -> f64),
    /// Of what was observed, as the next.
    Wakes(fn(&ObservedQueue) -> u64),
    LongestPoll,
    Times(fn(&Latency) -> &Histogram),
}

use Value::{Count, Gauge, LongestPoll, Time, Times, Wakes};

/// The series of queues: names, meanings, values.
const QUEUES: &[(&str, &str, Value)] = &[
    ("clockworker_queue_polls_total", "Polls of tasks", Count(|q| q.polls)),
    ("clockworker_queue_slices_total", "Slices it got", Count(|q| q.slices)),
    ("clockworker_queue_preemptions_total", "Slices cut short for another queue", Count(|q| q.preemptions)),
    ("clockworker_queue_overruns_total", "Slices that ended late", Count(|q| q.overruns)),
    ("clockworker_queue_busy_seconds_total", "Time its slices took", Time(|q| q.busy)),
    ("clockworker_queue_branch_busy_seconds_total", "Time of it and of those below", Time(|q| q.branch_busy)),
    ("clockworker_queue_overrun_seconds_total", "By how much slices ended late", Time(|q| q.overrun_time)),
    (
        "clockworker_queue_throttled_seconds_total",
        "Time with work and no cap left",
        Time(|q| q.throttled_time),
    ),
    ("clockworker_queue_tasks_spawned_total", "Tasks spawned or moved here", Count(|q| q.spawned)),
    ("clockworker_queue_tasks_completed_total", "Tasks that gave an output", Count(|q| q.completed)),
    ("clockworker_queue_tasks_cancelled_total", "Tasks aborted or cancelled", Count(|q| q.cancelled)),
    ("clockworker_queue_tasks_panicked_total", "Tasks that panicked", Count(|q| q.panicked)),
    ("clockworker_queue_tasks_moved_total", "Tasks that went on in another queue", Count(|q| q.moved)),
    ("clockworker_queue_tasks_refused_total", "Spawns refused", Count(|q| q.refused)),
    ("clockworker_queue_periods_total", "Periods of its cap with work", Count(|q| q.periods)),
    (
        "clockworker_queue_throttled_periods_total",
        "Periods in which its cap was used up",
        Count(|q| q.throttled_periods),
    ),
    ("clockworker_queue_share", "Its share of the CPU, relative to the others'", Gauge(|q| q.share.into())),
    ("clockworker_queue_ready_tasks", "Tasks ready to be polled", Gauge(|q| q.ready as f64)),
    ("clockworker_queue_live_tasks", "Tasks that have not finished", Gauge(|q| q.live as f64)),
    ("clockworker_queue_waiting_spawns", "Spawns that wait for room", Gauge(|q| q.waiting as f64)),
    ("clockworker_queue_local_wakes_total", "Tasks woken on the executor's thread", Wakes(|q| q.wakes.local)),
    ("clockworker_queue_remote_wakes_total", "Tasks woken from other threads", Wakes(|q| q.wakes.remote)),
    ("clockworker_queue_longest_poll_seconds", "The longest poll since the last report", LongestPoll),
    ("clockworker_queue_wait_seconds", "From ready to polled", Times(|latency| &latency.wait)),
    ("clockworker_queue_poll_seconds", "Polls", Times(|latency| &latency.poll)),
    ("clockworker_queue_slice_seconds", "Slices", Times(|latency| &latency.slice)),
];

const TIME: &str = "clockworker_time_seconds_total";
const HOST_POLLS: &str = "clockworker_host_polls_total";
const HOST_YIELDS: &str = "clockworker_host_yields_total";
const TURNS: &str = "clockworker_turn_seconds";
const VISITS: &str = "clockworker_host_visit_seconds";
const LONGEST_TURN: &str = "clockworker_longest_turn_seconds";
const HELD: &str = "clockworker_longest_turn_held_seconds";
#[cfg(feature = "stalls")]
const STALLS: &str = "clockworker_stalls_total";
#[cfg(feature = "stalls")]
const LONGEST_STALL: &str = "clockworker_longest_stall_seconds";

/// Tells the recorder each series' unit and meaning.
pub(super) fn describe() {
    // Sums have no unit here, as a recorder might add it to their names.
    describe_gauge!(TIME, "Where the thread's time went");
    describe_counter!(HOST_POLLS, Unit::Count, "Polls of the executor by its host");
    describe_counter!(HOST_YIELDS, Unit::Count, "Returns to the host with work left");
    describe_histogram!(TURNS, Unit::Seconds, "Turns of the executor");
    describe_histogram!(VISITS, Unit::Seconds, "The host's time between turns, while there was work");
    describe_gauge!(LONGEST_TURN, Unit::Seconds, "The longest turn so far");
    describe_gauge!(HELD, Unit::Seconds, "What took longest in the longest turn");
    #[cfg(feature = "stalls")]
    {
        describe_counter!(STALLS, Unit::Count, "Polls that took too long");
        describe_gauge!(LONGEST_STALL, Unit::Seconds, "The longest of these so far");
    }
    for (name, about, value) in QUEUES {
        match value {
            Count(_) | Wakes(_) => describe_counter!(*name, Unit::Count, *about),
            Time(_) => describe_gauge!(*name, *about),
            Gauge(_) => describe_gauge!(*name, Unit::Count, *about),
            LongestPoll => describe_gauge!(*name, Unit::Seconds, *about),
            Times(_) => describe_histogram!(*name, Unit::Seconds, *about),
        }
    }
}

/// Adds what happened to the series without a queue.
pub(super) fn publish_executor(since: &ExecutorStats, observed: &Observed, labels: &[Label]) {
    let accounts = [("queues", since.busy), ("main", since.main), ("own", since.own), ("host", since.host)];
    for (account, time) in accounts {
        let mut labels = labels.to_vec();
        labels.push(Label::new("account", account));
        gauge!(TIME, labels).increment(time.as_secs_f64());
    }
    counter!(HOST_POLLS, labels.to_vec()).increment(since.host_polls);
    counter!(HOST_YIELDS, labels.to_vec()).increment(since.host_yields);
    if let Some(latency) = &observed.latency {
        record(TURNS, &latency.turn, labels);
        record(VISITS, &latency.visit, labels);
    }
}

/// Sets the gauges of the longest turn. Those of who held the thread in the longest before are set to zero.
pub(super) fn publish_longest_turn(now: Option<&LongTurn>, before: Option<&LongTurn>, labels: &[Label]) {
    if let Some(before) = before {
        gauge!(HELD, labels_of_holder(before, labels)).set(0.0);
    }
    if let Some(turn) = now {
        gauge!(LONGEST_TURN, labels.to_vec()).set(turn.took.as_secs_f64());
        gauge!(HELD, labels_of_holder(turn, labels)).set(turn.held.as_secs_f64());
    }
}

/// To Prometheus an empty label is none.
fn labels_of_holder(turn: &LongTurn, labels: &[Label]) -> Vec<Label> {
    let holder = turn.holder.as_ref();
    let queue = holder.and_then(|holder| holder.queue.as_deref()).unwrap_or_default();
    let place = holder.and_then(|holder| holder.spawned_at);
    let place = place.map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
    let mut labels = labels.to_vec();
    labels.extend([Label::new("queue", queue.to_owned()), Label::new("spawned_at", place)]);
    labels
}

/// Adds stalls, and sets the gauge of the longest.
#[cfg(feature = "stalls")]
pub(super) fn publish_stalls(newly_seen: u64, longest: Duration, labels: &[Label]) {
    counter!(STALLS, labels.to_vec()).increment(newly_seen);
    gauge!(LONGEST_STALL, labels.to_vec()).set(longest.as_secs_f64());
}

/// Adds what happened to a queue's series, and sets its gauges.
pub(super) fn publish_queue(since: &QueueStats, observed: Option<&ObservedQueue>, labels: &[Label]) {
    let latency = observed.and_then(|queue| queue.latency.as_deref());
    for (name, _, value) in QUEUES {
        match (value, observed, latency) {
            (Count(of), ..) => counter!(*name, labels.to_vec()).increment(of(since)),
            (Time(of), ..) => gauge!(*name, labels.to_vec()).increment(of(since).as_secs_f64()),
            (Gauge(of), ..) => gauge!(*name, labels.to_vec()).set(of(since)),
            (Wakes(of), Some(queue), _) => counter!(*name, labels.to_vec()).increment(of(queue)),
            (LongestPoll, Some(_), _) => {
                let longest = latency.and_then(|latency| latency.longest_poll);
                let seconds = longest.map_or(0.0, |poll| poll.took.as_secs_f64());
                gauge!(*name, labels.to_vec()).set(seconds);
            }
            (Times(of), _, Some(latency)) => record(name, of(latency), labels),
            _ => {}
        }
    }
}

fn record(name: &'static str, times: &Histogram, labels: &[Label]) {
    let recorded = histogram!(name, labels.to_vec());
    for bucket in times.buckets() {
        let middle = bucket.from + (bucket.to - bucket.from) / 2;
        recorded.record_many(middle.as_secs_f64(), usize::try_from(bucket.count).unwrap_or(usize::MAX));
    }
}

/// Sets the gauges of a queue that is gone to zero.
pub(super) fn clear_gauges(labels: &[Label]) {
    let gauges = QUEUES.iter().filter(|(.., value)| matches!(value, Gauge(_) | LongestPoll));
    gauges.for_each(|(name, ..)| gauge!(*name, labels.to_vec()).set(0.0));
}
