//! What a run found, as data.

use serde::Serialize;

use super::arm::Arm;
use super::bars;
use super::cell::{Cell, Shape};
use super::options::Options;
use super::rounds::Samples;
use crate::conclusions::Conclusion;
use crate::facts::Facts;
use crate::heading::Heading;
use crate::random::{Purpose, Random};
use crate::report;
use crate::stats::{self, Estimate};
use crate::tcp::samples::OpenRound;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Options>,
    /// What was measured.
    pub cells: Vec<CellReport>,
    /// Whether it is where it should be.
    pub bars: Vec<Conclusion>,
}

/// What a cell gave.
#[derive(Debug, Serialize)]
pub struct CellReport {
    /// In a few words.
    pub title: String,
    /// Host and compaction.
    #[serde(flatten)]
    pub shape: Shape,
    /// How long each window was, in seconds.
    pub window_s: f64,
    /// By what ran the tasks; the first is the base.
    pub arms: Vec<ArmReport>,
}

/// What a service did.
#[derive(Debug, Serialize)]
pub struct ArmReport {
    /// Its key.
    pub arm: &'static str,
    /// Its name for people.
    pub title: String,
    /// How its host did its I/O.
    pub driver: String,
    /// From the intended arrival of a request until its answer, all rounds together, in nanoseconds.
    pub latency_ns: Figures<f64>,
    /// The medians of their ratios to the base's of the round.
    pub latency_ratios: Option<Figures<Estimate>>,
    /// Chunks a second that the compactors worked off, the median of the rounds, if there are compactors.
    pub chunk_rate: Option<f64>,
    /// The median of the ratios to the base's.
    pub chunk_ratio: Option<Estimate>,
    /// How late requests were sent, in nanoseconds: 99 of 100 no later than this.
    pub late_p99_ns: u64,
    /// Requests in all.
    pub requests: u64,
    /// Those of them that were not answered in time, and count as the worst.
    pub unanswered: u64,
    /// By round.
    pub rounds: Vec<OpenRound>,
}

/// What is said of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures<T> {
    /// Of the mean.
    pub mean: T,
    /// Of what half of the requests do not exceed.
    pub p50: T,
    /// Of what 99 of 100 do not exceed.
    pub p99: T,
    /// Of what 999 of 1,000 do not exceed.
    pub p999: T,
}

impl<T> Figures<T> {
    /// In order.
    pub fn all(&self) -> [&T; 4] {
        [&self.mean, &self.p50, &self.p99, &self.p999]
    }
}

impl Report {
    /// The report of a run that found `cells`.
    pub fn new(options: &Options, facts: Facts, cells: Vec<CellReport>) -> Self {
        let note = report::note(options.quick);
        let bars = bars::draw(&cells, note.is_none());
        let (schema, arguments) = ("clockworker-service", options.clone());
        Report {
            heading: Heading { schema, schema_version: SCHEMA_VERSION, note, arguments, facts },
            cells,
            bars,
        }
    }
}

impl CellReport {
    /// What follows from a cell's samples.
    pub fn new(cell: &Cell, samples: &Samples, options: &Options) -> Self {
        let resampling = Random::new(options.seed, Purpose::Resampling, cell.part);
        let mut judge = Judge { cell, samples, resampling };
        CellReport {
            title: cell.title(),
            shape: cell.shape.clone(),
            window_s: options.window().as_secs_f64(),
            arms: (0..cell.arms.len()).map(|place| judge.arm(place)).collect(),
        }
    }

    /// What an arm did.
    pub fn arm(&self, arm: Arm) -> Option<&ArmReport> {
        self.arms.iter().find(|found| found.arm == arm.key())
    }
}

/// Draws what follows from a cell's samples.
struct Judge<'a> {
    cell: &'a Cell,
    samples: &'a Samples,
    resampling: Random,
}

impl Judge<'_> {
    fn arm(&mut self, place: usize) -> ArmReport {
        let Cell { shape, arms, .. } = self.cell;
        let open = &self.samples.open[place];
        let at = |part| open.latencies.at(part) as f64;
        let compacts = shape.compactors > 0;
        let chunk_ratio = self.ratio(place, |round| round.background_rate);
        ArmReport {
            arm: arms[place].key(),
            title: arms[place].title(shape.host),
            driver: self.samples.drivers[place].clone(),
            latency_ns: Figures { mean: open.latencies.mean(), p50: at(0.5), p99: at(0.99), p999: at(0.999) },
            latency_ratios: self.latency_ratios(place),
            chunk_rate: compacts.then(|| stats::median(&self.column(place, |round| round.background_rate))),
            chunk_ratio: chunk_ratio.filter(|_| compacts),
            late_p99_ns: open.lateness.at(0.99),
            requests: open.latencies.count(),
            unanswered: open.unanswered,
            rounds: open.rounds.clone(),
        }
    }

    fn latency_ratios(&mut self, place: usize) -> Option<Figures<Estimate>> {
        Some(Figures {
            mean: self.ratio(place, |round| round.mean_ns)?,
            p50: self.ratio(place, |round| round.p50_ns as f64)?,
            p99: self.ratio(place, |round| round.p99_ns as f64)?,
            p999: self.ratio(place, |round| round.p999_ns as f64)?,
        })
    }

    fn column(&self, place: usize, of: fn(&OpenRound) -> f64) -> Vec<f64> {
        self.samples.open[place].rounds.iter().map(of).collect()
    }

    /// The median of the ratios to the base, paired by round, if this is not the base and they are numbers.
    fn ratio(&mut self, place: usize, of: fn(&OpenRound) -> f64) -> Option<Estimate> {
        let ratios =
            (place > 0).then(|| stats::paired_ratios(&self.column(place, of), &self.column(0, of)))?;
        let numbers = ratios.iter().all(|ratio| ratio.is_finite());
        numbers.then(|| stats::bootstrap_median(&ratios, &mut self.resampling))
    }
}
