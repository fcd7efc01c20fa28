//! The program `clockworker-benches`; everything it does is in the library beside it.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clockworker_benches::cli::Line;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Line::parse().command.run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
