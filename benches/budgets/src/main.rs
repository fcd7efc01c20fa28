//! The program `budgets`; everything it does is in the library beside it.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clockworker_budgets::cli::{self, Parsed};
use clockworker_budgets::commands;

fn main() -> ExitCode {
    let result = match cli::parse(env::args_os()) {
        Parsed::Command(command) => commands::run(command),
        Parsed::Explained { text, asked_for: true } => {
            // A reader that has gone away, as `head` does, is no error.
            let _ = io::stdout().write_all(text.as_bytes());
            return ExitCode::SUCCESS;
        }
        Parsed::Explained { text, asked_for: false } => {
            let _ = io::stderr().write_all(text.as_bytes());
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If standard error is closed the status alone must do.
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
