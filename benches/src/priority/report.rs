//! What a run found, as data.

use serde::Serialize;

use super::bars;
use super::options::Options;
use super::scene::Section;
use crate::conclusions::Conclusion;
use crate::facts::Facts;
use crate::heading::Heading;
use crate::report;
use crate::spread::Spread;
use crate::stats::Estimate;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Arguments>,
    /// What was measured.
    pub scenes: Vec<SceneReport>,
    /// Whether it is where it should be.
    pub bars: Vec<Conclusion>,
}

/// The command line's part in the result.
#[derive(Debug, Serialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    pub quick: bool,
    /// Rounds of each scene.
    pub rounds: u32,
    /// Seconds of arrivals that were served and not counted, in each round.
    pub warm_up_s: f64,
    /// Seconds of arrivals that were counted, in each round.
    pub counted_s: f64,
    /// The seed of every random choice.
    pub seed: u64,
}

/// A scene.
#[derive(Debug, Serialize)]
pub struct SceneReport {
    /// The section it belongs to.
    pub section: Section,
    /// Its name for people.
    pub title: String,
    /// How long the background's polls are.
    pub background_poll_us: u64,
    /// By arm: the foreground alone, LocalSet, then clockworker's.
    pub arms: Vec<ArmReport>,
}

/// One arm of a scene, all rounds together unless it says otherwise.
#[derive(Debug, Serialize)]
pub struct ArmReport {
    /// Its name.
    pub title: String,
    /// Foreground tasks that count.
    pub tasks: u64,
    /// Those of them that had not ended at the drain limit.
    pub unfinished: u64,
    /// Intended arrival until first poll.
    pub queueing_delay_ns: Spread,
    /// Intended arrival until the end of the last segment.
    pub total_latency_ns: Spread,
    /// The total latency's p50 over that of the foreground alone in the same round.
    pub p50_ratio: Option<Estimate>,
    /// The total latency's p99 over that of the foreground alone in the same round.
    pub p99_ratio: Option<Estimate>,
    /// CPU time of the background, as a part of one core's: the median of the rounds.
    pub background_cpu: f64,
    /// CPU time of foreground tasks that ended, as a part of one core's: the median of the rounds.
    pub foreground_cpu: f64,
    /// The background's CPU time over that of LocalSet's in the same round.
    pub background_ratio: Option<Estimate>,
    /// How late the generator sent, in the worst round: 99 of 100 arrivals no later than this.
    pub generator_lateness_p99_ns: f64,
    /// Points of the total latencies' distribution: this part of them is no larger than so many nanoseconds.
    pub total_latency_curve: Vec<(f64, f64)>,
    /// By round.
    pub rounds: Vec<Round>,
}

/// One arm in one round.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// Intended arrival until first poll.
    pub queueing_delay_ns: Spread,
    /// Intended arrival until the end of the last segment.
    pub total_latency_ns: Spread,
    /// Foreground tasks that had not ended at the drain limit.
    pub unfinished: u64,
    /// CPU time of the background, as a part of one core's.
    pub background_cpu: f64,
    /// CPU time of foreground tasks that ended, as a part of one core's.
    pub foreground_cpu: f64,
    /// How late the generator sent: 99 of 100 arrivals no later than this.
    pub generator_lateness_p99_ns: f64,
}

impl Report {
    /// Of these scenes.
    pub fn new(options: &Options, facts: Facts, scenes: Vec<SceneReport>) -> Self {
        let note = report::note(options.quick);
        let timing = options.timing();
        let arguments = Arguments {
            quick: options.quick,
            rounds: options.rounds(),
            warm_up_s: timing.warm_up.as_secs_f64(),
            counted_s: timing.counted.as_secs_f64(),
            seed: options.seed,
        };
        let schema = "clockworker-priority";
        Report {
            heading: Heading { schema, schema_version: SCHEMA_VERSION, note, arguments, facts },
            bars: bars::draw(&scenes, note.is_none()),
            scenes,
        }
    }
}
