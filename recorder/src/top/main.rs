//! `clockworker-top FILE`: what the queues of a recorded executor do now, or did before it was killed, and the program's own series.

#![forbid(unsafe_code)]

mod view;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use clap::Parser;
use clockworker_recorder::Recording;
use view::View;

/// Home, and nothing from there on.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Shows what a recorded executor does, queue by queue, and the program's own series: live, until ctrl-c
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// The file that the program records into
    file: PathBuf,
    /// Over how many seconds, up to the last that was recorded
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    over: u64,
    /// Print it once, as a table
    #[arg(long)]
    once: bool,
    /// Print the whole recording once, as JSON
    #[arg(long, conflicts_with = "once")]
    json: bool,
    /// After how many seconds the table is drawn anew
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let read =
        || Recording::read(&options.file).map_err(|error| anyhow!("{}: {error}", options.file.display()));
    if options.json {
        return Ok(print(&serde_json::to_string_pretty(&read()?)?)?);
    }
    let look = || read().map(|recording| View::of(&recording, options.over).to_string());
    let mut text = look()?;
    if options.once {
        return Ok(print(&text)?);
    }
    loop {
        print(&format!("{CLEAR}{text}"))?;
        wait(options.every);
        // A file that cannot be read any more leaves what it had.
        text = look().or_else(|error| Ok::<_, io::Error>(format!("{error}\n{text}")))?;
    }
}

#[allow(clippy::disallowed_methods, reason = "the user is to read it meanwhile")]
fn wait(seconds: u64) {
    thread::sleep(Duration::from_secs(seconds));
}

/// A reader that has gone away, as `head` does, is no error.
fn print(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
