//! The command `compare`: runs the scenarios, reports them.

pub mod background;
pub mod conclusions;
pub mod overhead;

use crate::cli::{Options, Scenario};
use crate::failure::Failure;
use crate::harness::facts::{self, Facts};
use crate::harness::heading::Heading;
use crate::json::{self, JsonFile};
use crate::pinning::Pinning;
use crate::report::{Arguments, Report, SCHEMA_VERSION};
use crate::terminal;

/// Carries out `compare`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written (known before the run, unless the disk fills up meanwhile), if an
/// executor under test does not come to an end, or if standard output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = run(options)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print(&report)
}

fn run(options: &Options) -> Result<Report, Failure> {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning, facts::TOKIO);
    let overhead = options.wants(Scenario::Overhead).then(|| overhead::run(options, &pinning));
    let background =
        if options.wants(Scenario::Background) { Some(background::run(options, &pinning)?) } else { None };
    let arguments = Arguments::of(options);
    let conclusions = conclusions::draw(&arguments, overhead.as_ref(), background.as_ref());
    let (schema, note, facts) = ("clockworker-compare", arguments.note(), facts.completed());
    Ok(Report {
        heading: Heading {
            schema: schema.to_owned(),
            schema_version: SCHEMA_VERSION,
            note: note.map(str::to_owned),
            arguments,
            facts,
        },
        overhead,
        background,
        conclusions,
    })
}
