//! What a run found, as data.

use serde::Serialize;

use super::arm::Arm;
use super::options::Options;
use super::program::Program;
use super::quantity::Quantity;
use crate::harness::conclusion::{Bar, Conclusion, Interval};
use crate::harness::facts::Facts;
use crate::harness::heading::Heading;
use crate::overhead::grid::{Cell, Grid};
use crate::report;
use crate::stats::Estimate;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Arguments>,
    /// By program and quantity.
    pub findings: Vec<Finding>,
    /// Whether they are where they should be.
    pub bars: Vec<Conclusion>,
}

/// The command line's part in the result.
#[derive(Debug, Serialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    pub quick: bool,
    /// The programs run.
    pub only: Vec<&'static str>,
    /// Rounds asked for; `null` for as many as usual.
    pub rounds: Option<u32>,
    /// The seed of every random choice.
    pub seed: u64,
}

/// One quantity of a program.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The program's key.
    pub program: &'static str,
    /// What it does.
    pub title: &'static str,
    /// The key of what was measured.
    pub quantity: &'static str,
    /// What was measured, for people.
    pub quantity_title: &'static str,
    /// What the ratios are to.
    pub base: &'static str,
    /// The median of the base's samples, with its unit; `null` where this system does not tell.
    pub base_shown: Option<String>,
    /// Clockworker's over the base's, with its 95 % interval.
    pub ratio: Option<Estimate>,
    /// The base's over the base's.
    pub again: Option<Estimate>,
    /// What the ratio may be; `null` where nobody judges it.
    pub limit: Option<f64>,
    /// The samples by arm, by round.
    pub samples: Vec<Samples>,
}

/// The samples of an arm.
#[derive(Debug, Serialize)]
pub struct Samples {
    /// Whose.
    pub arm: &'static str,
    /// By round.
    pub samples: Vec<f64>,
}

impl Finding {
    /// What a grid says of a program's quantity.
    pub fn of(program: &Program, quantity: Quantity, grid: &Grid) -> Self {
        let cell = |arm: Arm| grid.cell(arm.key(), 0);
        let ratio = |arm| cell(arm).and_then(|cell| cell.ratio);
        let samples = |arm| Some(Samples { arm: Arm::key(arm), samples: cell(arm)?.samples.clone() });
        Finding {
            program: program.key,
            title: program.title,
            quantity: quantity.key(),
            quantity_title: quantity.title(),
            base: program.base.title(),
            base_shown: cell(Arm::Base).map(|Cell { median, .. }| quantity.show(*median)),
            ratio: ratio(Arm::Clockworker),
            again: ratio(Arm::BaseAgain),
            limit: quantity.is_judged().then_some(program.limit),
            samples: Arm::ALL.into_iter().filter_map(samples).collect(),
        }
    }

    fn conclusion(&self) -> Option<Conclusion> {
        Some(Conclusion {
            quantity: format!("{}, {} ÷ {}'s", self.title, self.quantity_title, self.base),
            value: self.ratio?,
            interval: Interval::Confidence95,
            bar: Some(Bar::MiddleAtMost(self.limit?)),
            verdict: None,
        })
    }
}

impl Report {
    /// Of these findings.
    pub fn new(options: &Options, facts: Facts, findings: Vec<Finding>) -> Self {
        let note = report::note(options.quick);
        let mut bars: Vec<Conclusion> = findings.iter().filter_map(Finding::conclusion).collect();
        bars.iter_mut().for_each(|bar| bar.settle(note.is_none()));
        let only = options.programs().into_iter().map(|program| program.key).collect();
        let Options { quick, rounds, seed, .. } = *options;
        let (schema, arguments) = ("clockworker-programs", Arguments { quick, only, rounds, seed });
        Report {
            heading: Heading {
                schema: schema.to_owned(),
                schema_version: SCHEMA_VERSION,
                note: note.map(str::to_owned),
                arguments,
                facts,
            },
            findings,
            bars,
        }
    }
}
