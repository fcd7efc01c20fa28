//! The command `budgets`: how long small things take, beside what they may take: twice a committed baseline.
//!
//! `clockworker-budgets`, in `benches/budgets`, counts instructions, which do not drift. This has the clock's percentiles, of one
//! machine, and a run fails that exceeds one. With `--golden` it checks instead what no change that only makes things
//! faster may change.

mod chapter;
mod file;
mod golden;
pub mod options;
mod order;
mod scenarios;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{
    Cell, Common, Measurement, Pinning, Plan, Report, Rounds, Sample, Sampling, arms, heading, target,
};
use crate::measurements::Keyed;
use crate::page::Chapter;
use crate::stats::{self, Bar, Conclusion, Estimate, Verdict};

use file::{Baseline, Budgets, REWRITE};
use options::Options;
use scenarios::Scenario;

pub(crate) struct LatencyBudgets;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    scenario: Scenario,
    /// What was measured when the baselines were written, in nanoseconds.
    baseline: Option<Baseline>,
}

/// How many times its baseline something may take.
const ALLOWED: f64 = 2.0;

pub(super) const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];

const CLOCKWORKER: &str = "clockworker";

/// Carries out the command.
pub fn command(options: &Options) -> Result<(), Failure> {
    if options.golden {
        golden::command(options)
    } else {
        crate::harness::command::command::<LatencyBudgets>(options)
    }
}

impl Measurement for LatencyBudgets {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "budgets";
    const SCHEMA: &'static str = "clockworker-latency-budgets";
    const SCHEMA_VERSION: u32 = 1;
    const QUESTION: &'static str = "Does anything take more than twice as long as when its budget was set?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, _pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let is_usual = options.only.is_empty() && heading::note(options.common.quick).is_none();
        if options.update && !is_usual {
            return Err(Failure::request(
                "baselines are written by a whole run of a release build: --update goes with neither --quick nor --only",
            ));
        }
        let baselines = if options.update { Budgets::default() } else { Budgets::read(&options.file())? };
        let scenarios = options.scenarios();
        Ok(scenarios.map(|scenario| Box::new(part(scenario, &baselines, &options.common)) as _).collect())
    }

    fn artefacts(options: &Options) -> Option<PathBuf> {
        Some(options.artefacts.clone().unwrap_or_else(|| target::folder(Self::NAME)))
    }

    fn bars(options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        cells.iter().flat_map(|cell| conclusions(cell, options.common.seed)).collect()
    }

    fn judge(report: &Report<Self>) -> Result<(), Failure> {
        let options = &report.heading.arguments;
        if options.update {
            return Budgets::of(&report.heading.facts, &report.cells).write(&options.file());
        }
        let exceeded = report.bars.iter().filter(|bar| bar.verdict == Some(Verdict::Missed));
        let named: Vec<&str> = exceeded.map(|bar| bar.quantity.as_str()).collect();
        match named.as_slice() {
            [] => Ok(()),
            named => Err(Failure::run(format!("over budget: {}; {REWRITE}", named.join(", ")))),
        }
    }
}

/// A scenario, and how it is measured.
fn part(scenario: Scenario, baselines: &Budgets, common: &Common) -> Sampling<Shape> {
    let arm = (CLOCKWORKER.to_owned(), "Clockworker".to_owned());
    let shape = Shape { scenario, baseline: baselines.get(scenario) };
    let cell = Cell::new(scenario.key(), shape, arms([arm]));
    let common = common.clone();
    Sampling::new(vec![cell], Rounds { usual: 9, limit: None, warms_up: true }, move |window| {
        let values = scenario.run(&common, window.round);
        let percentile = |sample: Sample, (name, part)| sample.with_number(name, values.at(part));
        Ok(PERCENTILES.into_iter().fold(Sample::default(), percentile))
    })
}

/// Each percentile's median of rounds over its baseline.
fn conclusions(cell: &Cell<Shape>, seed: u64) -> Vec<Conclusion> {
    let Some(baseline) = cell.shape.baseline else { return Vec::new() };
    let conclude = |(place, (name, _)): (usize, (&str, f64))| {
        let value = stats::estimated_by_seed(cell.arm(CLOCKWORKER)?.samples(name), seed)?;
        let [median, low, high] =
            [value.median, value.low, value.high].map(|nanos| nanos / baseline.0[place]);
        let named = format!("{} {name} ÷ baseline", cell.title);
        let bar = Some(Bar::MiddleAtMost(ALLOWED));
        Some(Conclusion::new(named, Estimate { median, low, high }, cell.interval, bar))
    };
    PERCENTILES.into_iter().enumerate().filter_map(conclude).collect()
}
