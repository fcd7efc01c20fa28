//! The program `clockworker-reliability`; everything it does is in the library beside it.

use std::process::ExitCode;

use anyhow::ensure;
use clap::Parser;
use clockworker_reliability::{Arguments, BadRequest, figure};
use clockworker_testing::memory::{COUNTING, Counting};

/// Counts for what looks at memory.
#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

#[allow(clippy::print_stderr, reason = "it is a program for a terminal")]
fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<BadRequest>() { 2 } else { 1 })
        }
    }
}

#[allow(clippy::print_stdout, reason = "it is a program for a terminal")]
fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let figures = arguments.measure()?;
    println!("{}", figure::table(&figures));
    if let Some(path) = &arguments.json {
        figure::write_json(&figures, path)?;
    }
    let broken = figures.iter().filter(|figure| !figure.is_kept()).count();
    ensure!(broken == 0, "{broken} of {} figures are out of their bounds", figures.len());
    Ok(())
}
