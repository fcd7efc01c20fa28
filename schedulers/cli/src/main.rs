//! Clockworker's schedulers, and EEVDF between queues, in virtual time: which scheduler and which shares meet a target?
//!
//! `docs/SIMULATE.md` shows what can be asked. Nothing is measured: the same command line gives the same bytes, so neither date
//! nor machine is in a report.

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

mod json_file;
mod numbers;
mod report;
mod stability;
mod text;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anyhow::Context;
use clap::Parser;
use serde::Serialize;

use json_file::JsonFile;
use options::Options;
use plan::Plan;

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    // What cannot be done is refused before anything is run.
    let file =
        options.json.as_deref().map(JsonFile::at).transpose().unwrap_or_else(|why| options.refuse(&why));
    if options.theory {
        let report = check::run(options.seed, options.quick, options.threads())?;
        give(&report, file)?;
        return check::judge(&report);
    }
    let plan = Plan::of(&options).unwrap_or_else(|why| options.refuse(&why));
    give(&sweep::run(&plan, options.threads())?, file)
}

/// Writes a report to its file, if there is one, and to standard output.
fn give(report: &(impl Display + Serialize), file: Option<JsonFile>) -> anyhow::Result<()> {
    file.map_or(Ok(()), |file| file.write(report))?;
    match io::stdout().write_all(report.to_string().as_bytes()) {
        // The reader has gone away, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
