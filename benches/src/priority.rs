//! The command `priority`: what foreground latency costs beside a background that always has work, by share, by the
//! length of the background's polls, and by request.
//!
//! What arrives, who serves it and what is measured are told in [`beside`](crate::beside). In each *round* every arm of a
//! [scene](scene::Scene) gets the same schedule for two seconds, in an order shuffled anew; the next round has another
//! schedule. Reported are percentiles of all rounds together, and medians of ratios taken within a round, with a 95 %
//! bootstrap interval: latency to that of the foreground alone on a LocalSet, background to that of LocalSet.
//!
//! `compare` has a background that sleeps. There a thread that serves the foreground first is idle later, when all eight
//! background tasks happen to sleep at once, and what the background lost in the foreground's bursts it cannot make up
//! for. That is a property of those eight tasks, not of the executor, so the bars here are for a background that always
//! has work: what it gets then is all that the foreground and the executor leave. The section `sleeping` has the other.

pub mod arm;
pub mod bars;
pub mod options;
pub mod report;
pub mod rounds;
pub mod scene;
pub mod text;

use crate::facts::Facts;
use crate::failure::Failure;
use crate::json::{self, JsonFile};
use crate::pinning::{Pinning, Side};
use crate::terminal;

use options::Options;
use report::Report;

/// Carries out `priority`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written, if an executor under test does not come to an end, or if standard output cannot be
/// written.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = run(options)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn run(options: &Options) -> Result<Report, Failure> {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning);
    pinning.pin(Side::Load);
    let scenes = options.scenes();
    let reports = scenes.iter().zip(0..).map(|(scene, part)| rounds::run(scene, part, options, &pinning));
    let reports: Result<Vec<_>, Failure> = reports.collect();
    Ok(Report::new(options, facts.completed(), reports?))
}
