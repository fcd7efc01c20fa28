//! What does a service gain beside background work? See for yourself, in the terminal.
//!
//! One key-value service on TCP, and sixteen tasks that compact its store, run on tokio's `LocalSet` and on Clockworker. The
//! two take turns on this thread, in windows of 200 ms, under the same arrivals. The screen is drawn between windows.

#![forbid(unsafe_code)]

mod clients;
mod demo;
mod history;
mod live;
mod options;
mod report;
mod screen;
mod service;
mod sides;
mod store;
mod svg;

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use demo::Demo;
use options::Options;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let is_terminal = io::stdout().is_terminal();
    if is_terminal && !options.is_batch() {
        return live::run(options.seconds);
    }
    if !options.is_batch() {
        writeln!(io::stderr(), "standard output is no terminal: a table follows, as with --once")?;
    }
    let named = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    // Whether it can be written is known before the seconds, and what is there stays until they are over.
    if let Some(path) = &options.svg {
        OpenOptions::new().append(true).create(true).open(path).map_err(|error| named(path, error))?;
    }
    let mut demo = Demo::new()?;
    let report = demo.run_for(options.batch_seconds())?;
    if let Some(path) = &options.svg {
        let picture = svg::of(&screen::picture(options.size, &demo.view()));
        fs::write(path, picture).map_err(|error| named(path, error))?;
    }
    let text = if options.json { report.json() } else { report.table() };
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
