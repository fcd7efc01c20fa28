//! The command `simulate`: the executor's schedulers, and EEVDF between them, in virtual time.
//!
//! Nothing is measured. The same command line gives the same bytes, whatever the machine has to do besides, so neither
//! date nor machine is in the report. See `docs/SIMULATE.md`.

pub mod options;
pub mod per_queue;
pub mod plan;
pub mod queue_spec;
pub mod target;
pub mod trace;

pub mod check;
pub mod sweep;
pub mod work;

pub mod report;
pub mod text;

use crate::failure::Failure;
use crate::json::{self, JsonFile};
use crate::terminal;

use options::Options;
use plan::Plan;

/// Carries out `simulate`: everything that can be refused is refused before anything is run.
///
/// # Errors
///
/// If the request makes no sense, a file cannot be read or written, a formula is missed by more than it may, or standard
/// output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    if options.theory { check(options) } else { sweep(options) }
}

fn sweep(options: &Options) -> Result<(), Failure> {
    let plan = Plan::of(options)?;
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = sweep::run(&plan, options.threads())?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn check(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = check::run(options.seed, options.quick, options.threads())?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write_check(&report, out))?;
    report.judge()
}
