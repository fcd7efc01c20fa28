//! The series that are histograms.

use ::metrics::{Label, Unit, describe_histogram, histogram};

use crate::{Histogram, Latency, Observed, ObservedQueue, TurnLatency};

struct Series<T> {
    name: &'static str,
    about: &'static str,
    value: fn(&T) -> &Histogram,
}

const TURNS: &[Series<TurnLatency>] = &[
    Series { name: "clockworker_turn_seconds", about: "Turns of the executor", value: |turns| &turns.turn },
    Series {
        name: "clockworker_host_visit_seconds",
        about: "The host's time between turns, while there was work",
        value: |turns| &turns.visit,
    },
];

const QUEUES: &[Series<Latency>] = &[
    Series {
        name: "clockworker_queue_wait_seconds",
        about: "From ready to polled",
        value: |latency| &latency.wait,
    },
    Series { name: "clockworker_queue_poll_seconds", about: "Polls", value: |latency| &latency.poll },
    Series { name: "clockworker_queue_slice_seconds", about: "Slices", value: |latency| &latency.slice },
];

pub(super) fn describe() {
    let turns = TURNS.iter().map(|series| (series.name, series.about));
    let queues = QUEUES.iter().map(|series| (series.name, series.about));
    for (name, about) in turns.chain(queues) {
        describe_histogram!(name, Unit::Seconds, about);
    }
}

pub(super) fn publish_executor(since: &Observed, labels: &[Label]) {
    if let Some(turns) = &since.latency {
        publish(TURNS, turns, labels);
    }
}

pub(super) fn publish_queue(since: &ObservedQueue, labels: &[Label]) {
    if let Some(latency) = &since.latency {
        publish(QUEUES, &**latency, labels);
    }
}

fn publish<T>(all: &[Series<T>], latency: &T, labels: &[Label]) {
    for series in all {
        let recorded = histogram!(series.name, labels.to_vec());
        for bucket in (series.value)(latency).buckets() {
            let middle = bucket.from + (bucket.to - bucket.from) / 2;
            recorded.record_many(middle.as_secs_f64(), usize::try_from(bucket.count).unwrap_or(usize::MAX));
        }
    }
}
