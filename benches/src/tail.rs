//! The command `tail`: what the order of work does to response times when jobs differ in size.
//!
//! Jobs arrive open-loop, at random times drawn beforehand, and are served in pieces of 25 µs, each a poll, by the order
//! of the executor under test. The same schedule goes to every arm of a *round*, in an order shuffled anew; the next round
//! has another schedule.
//!
//! - *Response time*: intended arrival until the end of the last piece.
//! - *Slowdown*: response time over size. 1 is a job that had the thread for itself.
//! - *Size class*: a decade of sizes. What becomes of the largest shows whether favouring small jobs starves them.
//!
//! Arms and the [simulator](clockworker_schedulers::simulate) are compared by the mean response: the simulator is given
//! the round's schedule, and for each piece the overhead that the round itself had.
//!
//! How jobs come to an executor without a second thread, and without one arm noticing them sooner than another, is told
//! in [`server`].

pub mod arm;
pub mod bars;
pub mod cell;
pub mod classes;
pub mod options;
pub mod report;
pub mod schedule;
pub mod server;
pub mod service;
pub mod simulated;
pub mod text;
pub mod window;

use crate::failure::Failure;
use crate::harness::facts::{self, Facts};
use crate::json::{self, JsonFile};
use crate::pinning::{Pinning, Side};
use crate::terminal;

use options::Options;
use report::Report;

/// Carries out `tail`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written, or standard output cannot.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = run(options);
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn run(options: &Options) -> Report {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning, facts::TOKIO);
    pinning.pin(Side::Measured);
    let cells = options.cells().into_iter().enumerate();
    let cells = cells.map(|(part, (service, load))| cell::run(service, load, part as u64, options)).collect();
    Report::new(options, facts.completed(), cells)
}
