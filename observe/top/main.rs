//! `clockworker-top FILE`: what the queues of a recorded executor do now, or did before it was killed, and the program's own series.

#![forbid(unsafe_code)]

mod view;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use clap::Parser;
use clockworker_observe::recorder::Recording;

/// Home, and nothing from there on.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Shows what a recorded executor does, queue by queue, and the program's own series: once a second, until ctrl-c
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The file that the program records into
    file: PathBuf,
    /// Over how many seconds, up to the last that was recorded
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    over: u64,
    /// Print it once
    #[arg(long)]
    once: bool,
    /// Print the whole recording once, as JSON
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

#[allow(clippy::disallowed_methods, reason = "the user reads it meanwhile")]
fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let read =
        || Recording::read(&options.file).map_err(|error| anyhow!("{}: {error}", options.file.display()));
    let recording = read()?;
    if options.json {
        return Ok(print(&serde_json::to_string_pretty(&recording)?)?);
    }
    let text = |recording: Recording| view::text(&recording, options.over);
    if options.once {
        return Ok(print(&text(recording))?);
    }
    loop {
        // A program that starts anew has no file for a moment.
        let text = read().map_or_else(|error| error.to_string(), text);
        print(&format!("{CLEAR}{text}"))?;
        thread::sleep(Duration::from_secs(1));
    }
}

/// A reader that has gone away, as `head` does, is no error.
fn print(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
