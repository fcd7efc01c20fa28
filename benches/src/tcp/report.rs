//! What a run found, as data.

use serde::Serialize;

use super::bars;
use super::cell::{Arm, Cell, Shape};
use super::options::Options;
use super::samples::{ClosedSample, OpenRound, OpenSamples, Samples};
use crate::harness::conclusion::Conclusion;
use crate::harness::facts::Facts;
use crate::harness::heading::Heading;
use crate::random::{Purpose, Random};
use crate::report;
use crate::stats::{self, Estimate};

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
    /// The load.
    #[serde(flatten)]
    pub shape: Shape,
    /// How long each window was, in seconds.
    pub window_s: f64,
    /// By server.
    pub arms: Vec<ArmReport>,
}

/// What a server did.
#[derive(Debug, Serialize)]
pub struct ArmReport {
    /// Its key.
    pub arm: String,
    /// Its name for people.
    pub title: String,
    /// How its host did its I/O.
    pub driver: String,
    /// In closed loops.
    pub closed: ClosedReport,
    /// In open loops, by load.
    pub open: Vec<OpenReport>,
}

/// What a server did in closed loops.
#[derive(Debug, Serialize)]
pub struct ClosedReport {
    /// Messages a second that came back, the median of the rounds.
    pub rate: f64,
    /// The median of the ratios to the first server's.
    pub rate_ratio: Option<Estimate>,
    /// CPU time of the server's process per message, in nanoseconds, the median of the rounds.
    pub cpu_ns: f64,
    /// The median of the ratios to the first server's, where nothing else took CPU time.
    pub cpu_ratio: Option<Estimate>,
    /// CPU time of the server's process, as a part of one core's, the median of the rounds.
    pub cpu_used: f64,
    /// Polls of the background a second, the median of the rounds, where there is one.
    pub background_rate: Option<f64>,
    /// The median of the ratios to the base's.
    pub background_ratio: Option<Estimate>,
    /// Messages a second, by round.
    pub rates: Vec<f64>,
    /// CPU time per message, by round.
    pub cpu_ns_samples: Vec<f64>,
}

/// What a server did in open loops.
#[derive(Debug, Serialize)]
pub struct OpenReport {
    /// The rate, in percent of what the pace-maker did in a closed loop.
    pub load: u32,
    /// Messages a second that were to be sent, the median of the rounds.
    pub rate: f64,
    /// From the intended arrival until the echo, all rounds together, in nanoseconds: p50, p99, p99.9.
    pub latency_ns: [u64; 3],
    /// The medians of their ratios to the first server's of the round.
    pub latency_ratios: Option<[Estimate; 3]>,
    /// How late messages were sent, in nanoseconds: 99 of 100 no later than this.
    pub late_p99_ns: u64,
    /// Messages in all.
    pub messages: u64,
    /// Those of them that were not back in time, and count as the worst.
    pub unanswered: u64,
    /// Polls of the background a second, the median of the rounds, where there is one.
    pub background_rate: Option<f64>,
    /// The median of the ratios to the base's.
    pub background_ratio: Option<Estimate>,
    /// By round.
    pub rounds: Vec<OpenRound>,
}

impl Report {
    /// The report of a run that found `cells`.
    pub fn new(options: &Options, facts: Facts, cells: Vec<CellReport>) -> Self {
        let note = report::note(options.quick);
        let mut bars = bars::draw(&cells);
        bars.iter_mut().for_each(|bar| bar.settle(note.is_none()));
        let (schema, arguments) = ("clockworker-tcp", options.clone());
        Report {
            heading: Heading {
                schema: schema.to_owned(),
                schema_version: SCHEMA_VERSION,
                note: note.map(str::to_owned),
                arguments,
                facts,
            },
            cells,
            bars,
        }
    }
}

/// Draws what follows from a cell's samples.
struct Judge<'a> {
    cell: &'a Cell,
    samples: &'a Samples,
    resampling: Random,
}

impl CellReport {
    /// What follows from a cell's samples.
    pub fn new(cell: &Cell, samples: &Samples, seed: u64) -> Self {
        let resampling = Random::new(seed, Purpose::Resampling, cell.part);
        let mut judge = Judge { cell, samples, resampling };
        let arms = cell.arms.iter().enumerate().map(|(place, arm)| judge.arm(place, arm)).collect();
        CellReport {
            title: cell.title(),
            shape: cell.shape.clone(),
            window_s: cell.window.as_secs_f64(),
            arms,
        }
    }

    /// Rounds run.
    pub fn rounds(&self) -> usize {
        self.arms.first().map_or(0, |arm| arm.closed.rates.len())
    }
}

fn rate(sample: &ClosedSample) -> f64 {
    sample.closed.echoes as f64 / sample.closed.elapsed.as_secs_f64()
}

fn cpu_ns(sample: &ClosedSample) -> f64 {
    sample.usage.cpu.as_nanos() as f64 / (sample.closed.echoes as f64).max(1.0)
}

fn cpu_used(sample: &ClosedSample) -> f64 {
    sample.usage.cpu.as_secs_f64() / sample.closed.elapsed.as_secs_f64()
}

fn background_rate(sample: &ClosedSample) -> f64 {
    sample.usage.polls as f64 / sample.closed.elapsed.as_secs_f64()
}

impl Judge<'_> {
    fn arm(&mut self, place: usize, arm: &Arm) -> ArmReport {
        let samples = self.samples;
        ArmReport {
            arm: arm.key.clone(),
            title: arm.title.clone(),
            driver: samples.drivers[place].clone(),
            closed: self.closed(place),
            open: (0..samples.open.len()).map(|load| self.open(load, place)).collect(),
        }
    }

    fn closed(&mut self, place: usize) -> ClosedReport {
        let samples = self.samples;
        let column = |of: fn(&ClosedSample) -> f64, arm: usize| -> Vec<f64> {
            samples.closed[arm].iter().map(of).collect()
        };
        let [rates, cpu] = [rate, cpu_ns].map(|of| column(of, place));
        let rate_ratio = self.ratio(place, 0, &rates, &column(rate, 0));
        let cpu_ratio = self.ratio(place, 0, &cpu, &column(cpu_ns, 0));
        let base = self.cell.background_base;
        let background = column(background_rate, place);
        let background_ratio = self.ratio(place, base, &background, &column(background_rate, base));
        let beside = self.cell.arms[place].setup.background.is_some();
        ClosedReport {
            rate: stats::median(&rates),
            rate_ratio,
            cpu_ns: stats::median(&cpu),
            cpu_ratio: cpu_ratio.filter(|_| !beside),
            cpu_used: stats::median(&column(cpu_used, place)),
            background_rate: beside.then(|| stats::median(&background)),
            background_ratio: background_ratio.filter(|_| beside),
            rates,
            cpu_ns_samples: cpu,
        }
    }

    fn open(&mut self, load: usize, place: usize) -> OpenReport {
        let samples = &self.samples.open[load];
        let column = |of: fn(&OpenRound) -> f64, arm: usize| -> Vec<f64> {
            samples[arm].rounds.iter().map(of).collect()
        };
        let OpenSamples { latencies, lateness, unanswered, rounds } = &samples[place];
        let percentiles: [fn(&OpenRound) -> f64; 3] =
            [|round| round.p50_ns as f64, |round| round.p99_ns as f64, |round| round.p999_ns as f64];
        let ratios = percentiles.map(|of| self.ratio(place, 0, &column(of, place), &column(of, 0)));
        let base = self.cell.background_base;
        let of_background = |round: &OpenRound| round.background_rate;
        let background = column(of_background, place);
        let background_ratio = self.ratio(place, base, &background, &column(of_background, base));
        let beside = self.cell.arms[place].setup.background.is_some();
        OpenReport {
            load: self.cell.loads[load],
            rate: stats::median(&column(|round| round.rate, place)),
            latency_ns: [0.5, 0.99, 0.999].map(|part| latencies.at(part) as u64),
            latency_ratios: match ratios {
                [Some(p50), Some(p99), Some(p999)] => Some([p50, p99, p999]),
                _ => None,
            },
            late_p99_ns: lateness.at(0.99) as u64,
            messages: latencies.count(),
            unanswered: *unanswered,
            background_rate: beside.then(|| stats::median(&background)),
            background_ratio: background_ratio.filter(|_| beside),
            rounds: rounds.clone(),
        }
    }

    /// The median of the paired ratios, if there is another arm to compare with and they are numbers.
    fn ratio(&mut self, place: usize, base: usize, own: &[f64], of_base: &[f64]) -> Option<Estimate> {
        let ratios = (place != base).then(|| stats::paired_ratios(own, of_base))?;
        let numbers = ratios.iter().all(|ratio| ratio.is_finite());
        numbers.then(|| stats::bootstrap_median(&ratios, &mut self.resampling))
    }
}
