//! `clockworker-top FILE`: what the queues of a recorded executor do now, or did before it was killed, and the program's own series.

#![forbid(unsafe_code)]

mod live;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clockworker_recorder::Recording;
use clockworker_terminal::failure::Failure;
use clockworker_terminal::program;
use view::View;

/// Shows what a recorded executor does, queue by queue, and the program's own series: live, until q is pressed
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
    /// How often the table is drawn anew
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    every: Duration,
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(options: &Options) -> Result<(), Failure> {
    let read = || Recording::read(&options.file).map_err(Failure::request);
    let recording = read()?;
    if options.json {
        let json = serde_json::to_string_pretty(&recording).map_err(Failure::run)?;
        return program::print_text(&format!("{json}\n"));
    }
    if options.once {
        let view = View::of(&recording, options.over);
        return program::print_text(&view.to_string());
    }
    live::show(options.every, || Ok(View::of(&read()?, options.over)))
}
