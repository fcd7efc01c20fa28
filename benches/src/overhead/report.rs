//! What a run found, as data.

use serde::Serialize;

use super::arm::Arm;
use super::bars;
use super::grid::Grid;
use super::options::Options;
use super::section::Section;
use crate::harness::conclusion::Conclusion;
use crate::harness::facts::Facts;
use crate::harness::heading::Heading;
use crate::report;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Arguments>,
    /// What was measured.
    pub sections: Vec<SectionReport>,
    /// Whether it is where it should be.
    pub bars: Vec<Conclusion>,
}

/// The command line's part in the result.
#[derive(Debug, Serialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    pub quick: bool,
    /// The sections run.
    pub only: Vec<Section>,
    /// The arms measured.
    pub arms: Vec<Arm>,
    /// Rounds asked for; `null` for as many as usual.
    pub rounds: Option<u32>,
    /// The seed of every random choice.
    pub seed: u64,
}

/// A section's tables.
#[derive(Debug, Serialize)]
pub struct SectionReport {
    /// Which.
    pub section: Section,
    /// One for each quantity.
    pub grids: Vec<Grid>,
}

impl Report {
    /// Of these sections.
    pub fn new(options: &Options, facts: Facts, arms: Vec<Arm>, sections: Vec<SectionReport>) -> Self {
        let note = report::note(options.quick);
        let bars = bars::draw(&sections, options.seed, note.is_none());
        let only = options.sections().collect();
        let Options { quick, rounds, seed, .. } = *options;
        let (schema, arguments) = ("clockworker-overhead", Arguments { quick, only, arms, rounds, seed });
        Report {
            heading: Heading {
                schema: schema.to_owned(),
                schema_version: SCHEMA_VERSION,
                note: note.map(str::to_owned),
                arguments,
                facts,
            },
            sections,
            bars,
        }
    }
}
