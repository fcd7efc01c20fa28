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

mod failure;
mod json_file;
mod numbers;
mod stdout;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

pub use check::{CheckReport, CheckRow};
pub use failure::Failure;
pub use options::Options;
pub use report::{
    Arguments, CaseReport, ClassReport, Quantities, QueueArguments, QueueReport, Report, Verdict,
};

use json_file::JsonFile;
use plan::Plan;

/// The program: reads the command line, its own name first, and does what it asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Options::try_parse_from(arguments) {
        Ok(options) => status(run(&options)),
        Err(error) if !error.use_stderr() => status(stdout::print(|out| write!(out, "{}", error.render()))),
        Err(error) => status(Err(Failure::of_arguments(&error))),
    }
}

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
    let file = options.json.as_deref().map(JsonFile::at).transpose()?;
    let report = sweep::run(&plan, options.threads())?;
    if let Some(file) = file {
        file.write(&report)?;
    }
    stdout::print(|out| text::write(&report, out))
}

fn check(options: &Options) -> Result<(), Failure> {
    let file = options.json.as_deref().map(JsonFile::at).transpose()?;
    let report = check::run(options.seed, options.quick, options.threads())?;
    if let Some(file) = file {
        file.write(&report)?;
    }
    stdout::print(|out| text::write_check(&report, out))?;
    check::judge(&report)
}

fn status(done: Result<(), Failure>) -> ExitCode {
    let Err(failure) = done else { return ExitCode::SUCCESS };
    // If standard error is closed the status alone must do.
    let _ = writeln!(io::stderr(), "error: {failure}");
    ExitCode::from(failure.status())
}
