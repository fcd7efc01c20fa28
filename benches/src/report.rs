//! What a run found, as data: the tables, the conclusions and the JSON file are made from this.

use serde::Serialize;

use crate::cli::{Options, Scenario};
use crate::harness::conclusion::Conclusion;
use crate::harness::heading::Heading;
use crate::latencies::Percentiles;
use crate::stats::Estimate;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Arguments>,
    /// What a poll costs, if that was asked for.
    pub overhead: Option<OverheadReport>,
    /// Foreground beside background, if that was asked for.
    pub background: Option<BackgroundReport>,
    /// What follows.
    pub conclusions: Vec<Conclusion>,
}

/// The command line's part in the result; the name of the file is not among it.
#[derive(Clone, Debug, Serialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    pub quick: bool,
    /// The scenarios run.
    pub scenarios: Vec<Scenario>,
    /// Overhead rounds asked for; `null` for as many as usual.
    pub rounds: Option<u32>,
    /// The share of clockworker's foreground queue, where the background's is 2.
    pub foreground_share: u32,
    /// Background repetitions asked for; `null` for as many as usual.
    pub repetitions: Option<u32>,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Arguments {
    /// What of `options` has a part in the result.
    pub fn of(options: &Options) -> Self {
        Arguments {
            quick: options.quick,
            scenarios: Scenario::ALL.into_iter().filter(|&scenario| options.wants(scenario)).collect(),
            rounds: options.rounds,
            repetitions: options.repetitions,
            foreground_share: options.foreground_share,
            seed: options.seed,
        }
    }

    /// Why numbers found with these arguments by this build mean nothing, if they do not.
    pub fn note(&self) -> Option<&'static str> {
        note(self.quick)
    }
}

pub use crate::harness::heading::note;

/// The overhead scenario's result.
#[derive(Debug, Serialize)]
pub struct OverheadReport {
    /// By shape.
    pub shapes: Vec<OverheadShape>,
}

impl OverheadReport {
    /// How often each arm was run at each shape.
    pub fn rounds(&self) -> usize {
        self.shapes.first().and_then(|shape| shape.arms.first()).map_or(0, |arm| arm.samples_ns.len())
    }
}

/// One shape of the overhead scenario.
#[derive(Debug, Serialize)]
pub struct OverheadShape {
    /// Tasks spawned.
    pub tasks: usize,
    /// Yields of each.
    pub yields: u32,
    /// tasks × (yields + 1).
    pub polls: u64,
    /// By arm.
    pub arms: Vec<OverheadArm>,
}

/// One arm at one shape.
#[derive(Debug, Serialize)]
pub struct OverheadArm {
    /// Its key.
    pub arm: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The median sample over the number of polls.
    pub ns_per_poll: f64,
    /// The median of the ratios to LocalSet's sample of the same round, with its 95 % bootstrap interval.
    pub ratio: Option<Estimate>,
    /// The samples, by round.
    pub samples_ns: Vec<u64>,
}

/// The background scenario's result.
#[derive(Debug, Serialize)]
pub struct BackgroundReport {
    /// Seconds of arrivals that were served and not counted, in each repetition.
    pub warm_up_s: f64,
    /// Seconds of arrivals that were counted, in each repetition.
    pub counted_s: f64,
    /// Seconds that tasks had after the last arrival.
    pub drain_limit_s: f64,
    /// The foreground's CPU time as a part of one core's.
    pub offered_load: f64,
    /// The share of clockworker's foreground queue, where the background's is 2.
    pub foreground_share: u32,
    /// By arm.
    pub arms: Vec<BackgroundArm>,
}

impl BackgroundReport {
    /// How often each arm was run.
    pub fn repetitions(&self) -> usize {
        self.arms.first().map_or(0, |arm| arm.repetitions.len())
    }
}

/// One arm of the background scenario.
#[derive(Debug, Serialize)]
pub struct BackgroundArm {
    /// Its key.
    pub arm: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Foreground tasks that arrived and count.
    pub offered: usize,
    /// Those of them that ended within the drain limit.
    pub completed: usize,
    /// Intended arrival until first poll, all repetitions together, in nanoseconds.
    pub queueing_delay: Percentiles,
    /// Intended arrival until completion, all repetitions together, in nanoseconds.
    pub total_latency: Percentiles,
    /// The total latency's p99 over that of the foreground alone: median and range over the repetitions.
    pub total_p99_ratio: Option<Estimate>,
    /// Background iterations per second, the median of the repetitions.
    pub background_rate: Option<f64>,
    /// Background iterations over those of LocalSet with background: median and range over the repetitions.
    pub background_ratio: Option<Estimate>,
    /// How late the generator sent, in nanoseconds: 99 of 100 arrivals no later than this.
    pub generator_lateness_p99: u64,
    /// CPU time that the tasks used up, as a part of one core's, the median of the repetitions: how near the
    /// core is to saturation, its schedulers' own time left out.
    pub cpu_used: f64,
    /// By repetition.
    pub repetitions: Vec<Repetition>,
}

/// One arm in one repetition.
#[derive(Debug, Serialize)]
pub struct Repetition {
    /// Intended arrival until first poll, in nanoseconds.
    pub queueing_delay: Percentiles,
    /// Intended arrival until completion, in nanoseconds.
    pub total_latency: Percentiles,
    /// Background iterations per second.
    pub background_rate: f64,
    /// CPU time of the tasks that ended and of the background, as a part of one core's.
    pub cpu_used: f64,
    /// Each task's queueing delay, in order of arrival; `null` for one that was never polled.
    pub queueing_delays_ns: Vec<Option<u64>>,
    /// Each task's total latency, in order of arrival; `null` for one that did not end.
    pub total_latencies_ns: Vec<Option<u64>>,
    /// How late each arrival was sent.
    pub generator_lateness_ns: Vec<u64>,
}

impl Repetition {
    /// Tasks that ended.
    pub fn completed(&self) -> usize {
        self.total_latencies_ns.iter().flatten().count()
    }
}
