//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::budgets;
use crate::operations::Operation;

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// Do something.
    Command(Command),
    /// Show a text: a help text, or what is wrong.
    Explained {
        /// With its line ends.
        text: String,
        /// Whether it was asked for: standard output, status 0.
        asked_for: bool,
    },
}

/// How many instructions and allocations clockworker's operations take, and may take.
#[derive(Debug, Parser)]
#[command(name = "budgets", version, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Count, compare with the budgets, and fail if something is more than 2 % over
    Check(Check),
    /// Count, and write the counts into the file as the new budgets. Commit it with the reason
    Rewrite(File),
    /// Show in which functions an operation's instructions are
    Profile {
        /// The operation
        #[arg(value_parser = operation)]
        operation: Operation,
    },
    /// Put a slowdown in and see that the check fails; count twice and see that the counts are the same
    Selftest(File),
    /// Run an operation for callgrind to count
    #[command(hide = true)]
    Run {
        /// The operation
        #[arg(value_parser = operation)]
        operation: Operation,
        /// Turns of an empty loop per 1,000 operations
        #[arg(long, default_value_t = 0)]
        slowdown: u64,
    },
}

/// What to check.
#[derive(Args, Debug)]
pub struct Check {
    /// The file
    #[command(flatten)]
    pub file: File,
    /// This operation only; may be given more than once [default: all]
    #[arg(long = "operation", value_name = "KEY", value_parser = operation)]
    pub operations: Vec<Operation>,
    /// Add so many instructions per 1,000 of the operation's budget, about: to try the check itself
    #[arg(long, value_name = "N", default_value_t = 0, hide = true)]
    pub slowdown: u32,
}

/// The file of budgets.
#[derive(Args, Debug)]
pub struct File {
    /// The file of budgets
    #[arg(long = "budgets", value_name = "FILE", default_value_os_t = budgets::default_path(), hide_default_value = true)]
    pub path: PathBuf,
}

fn operation(key: &str) -> Result<Operation, String> {
    Operation::find(key).ok_or_else(|| {
        let keys: Vec<&str> = Operation::ALL.iter().map(|operation| operation.key).collect();
        format!("there is no such operation; there are {}", keys.join(", "))
    })
}

/// Reads the command line, the program's name first.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Parsed {
    match Line::try_parse_from(arguments) {
        Ok(Line { command }) => Parsed::Command(command),
        Err(error) => Parsed::Explained { text: error.render().to_string(), asked_for: !error.use_stderr() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Line as clap::CommandFactory>::command().debug_assert();
    }
}
