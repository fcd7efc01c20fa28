//! Clockworker's schedulers, and EEVDF between queues, in virtual time: which scheduler and which shares meet a target?
//!
//! The program is `clockworker-simulate`; `docs/SIMULATE.md` shows what it can be asked. Nothing is measured. The same command
//! line gives the same bytes, whatever the machine has to do besides, so neither date nor machine is in the report.
//!
//! This library is its parts: the options, what is run by them, and the reports, [`Report`] and [`CheckReport`], which are
//! the JSON files that it writes.

#![forbid(unsafe_code)]

mod options;
mod per_queue;
mod queue_spec;
mod target;

mod plan;
mod trace;

mod check;
mod sweep;
mod work;

mod report;
mod text;

mod mean;

use clockworker_terminal::failure::Failure;
use clockworker_terminal::program::print;
use clockworker_terminal::whole_file::WholeFile;

pub use check::{CheckReport, CheckRow};
pub use options::Options;
pub use report::{
    Arguments, CaseReport, ClassReport, Quantities, QueueArguments, QueueReport, Report, Verdict,
};

use plan::Plan;
use serde::Serialize;

/// Does what the options ask for, with the results on standard output. Everything that can be refused is refused before
/// anything is run.
///
/// # Errors
///
/// If the request makes no sense, a file cannot be read or written, a formula is missed by more than it may, or standard
/// output cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    if options.theory { check(options) } else { sweep(options) }
}

fn sweep(options: &Options) -> Result<(), Failure> {
    let plan = Plan::of(options)?;
    let file = options.json.as_deref().map(WholeFile::at).transpose()?;
    let report = sweep::run(&plan, options.threads())?;
    write(file, &report)?;
    print(|out| text::write(&report, out))
}

fn check(options: &Options) -> Result<(), Failure> {
    let file = options.json.as_deref().map(WholeFile::at).transpose()?;
    let report = check::run(options.seed, options.quick, options.threads())?;
    write(file, &report)?;
    print(|out| text::write_check(&report, out))?;
    check::judge(&report)
}

fn write(file: Option<WholeFile>, report: &impl Serialize) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    file.write(|mut out| {
        serde_json::to_writer(&mut out, report)?;
        out.write_all(b"\n")
    })
}
