//! What the program is asked to do, and does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clockworker_terminal::program;
use rayon::prelude::*;

use crate::budgets::{Budgets, DEFAULT_PATH};
use crate::callgrind::{self, Count};
use crate::operations::Operation;
use crate::region::{Callgrind, SLOWDOWN_INSTRUCTIONS};
use crate::selftest;
use crate::toolchain::Toolchain;
use crate::verdict::Comparison;
use clockworker_terminal::failure::Failure;

/// How many instructions and allocations clockworker's operations take, and may take.
#[derive(Debug, Parser)]
#[command(name = "budgets", version, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
    /// The file of budgets
    #[arg(long, value_name = "FILE", global = true, default_value = DEFAULT_PATH, hide_default_value = true)]
    budgets: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Count, compare with the budgets, and fail if something is more than 2 % over
    Check {
        /// This operation only; may be given more than once [default: all]
        #[arg(long = "operation", value_name = "KEY", value_parser = operation)]
        operations: Vec<Operation>,
        /// Add so many instructions per 1,000 of the operation's budget, about: to try the check itself
        #[arg(long, value_name = "N", default_value_t = 0, hide = true)]
        slowdown: u32,
    },
    /// Count, and write the counts into the file as the new budgets. Commit it with the reason
    Rewrite,
    /// Show in which functions an operation's instructions are
    Profile {
        /// The operation
        #[arg(value_parser = operation)]
        operation: Operation,
    },
    /// Put a slowdown in and see that the check fails; count twice and see that the counts are the same
    Selftest,
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

fn operation(key: &str) -> Result<Operation, String> {
    Operation::find(key).ok_or_else(|| {
        let keys: Vec<&str> = Operation::all().iter().map(|operation| operation.key).collect();
        format!("there is no such operation; there are {}", keys.join(", "))
    })
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    program::main(|Line { command, budgets }: &Line| match command {
        Command::Check { operations, slowdown } => check(budgets, operations, *slowdown),
        Command::Rewrite => rewrite(budgets),
        Command::Profile { operation } => profile(*operation),
        Command::Selftest => selftest::run(budgets),
        Command::Run { operation, slowdown } => {
            (operation.run)(&Callgrind { slowdown: *slowdown });
            Ok(())
        }
    })
}

fn check(path: &Path, operations: &[Operation], slowdown: u32) -> Result<(), Failure> {
    let budgets = Budgets::read(path)?;
    let wanted = if operations.is_empty() { Operation::all() } else { operations.to_vec() };
    let slowdown = |operation| {
        let instructions = budgets.get(operation).map_or(0.0, |budget| budget.instructions);
        (instructions * f64::from(slowdown) / SLOWDOWN_INSTRUCTIONS as f64).ceil() as u64
    };
    let counts = count_all(&wanted, slowdown)?;
    let comparison = Comparison::new(&budgets, &counts);
    let mut text = format!("{}\n", comparison.table());
    for notice in comparison.notices() {
        text += &format!("{notice}\n");
    }
    program::print_text(&text)?;
    comparison.complaint().map_or(Ok(()), |complaint| Err(Failure::run(complaint)))
}

fn rewrite(path: &Path) -> Result<(), Failure> {
    let budgets = Budgets::read_any(path)?;
    let mut counts = count_all(&Operation::all(), |_| 0)?;
    program::print_text(&format!("{}\n", Comparison::new(&budgets, &counts).table()))?;
    counts.retain(|(operation, _)| operation.is_budgeted);
    let written = fs::write(path, budgets.rewritten(&Toolchain::present(), &counts));
    written.map_err(Failure::unable(format!("cannot write '{}'", path.display())))?;
    program::print_text(&format!("written to {}\n", path.display()))
}

fn profile(operation: Operation) -> Result<(), Failure> {
    let count = callgrind::count(operation, 0)?;
    let mut text = format!(
        "{}: {:.2} instructions, {} allocations\n",
        operation.title, count.instructions, count.allocations
    );
    for (function, instructions) in count.functions {
        text += &format!("{instructions:>10.2}  {function}\n");
    }
    program::print_text(&text)
}

/// Counts these, each in a process of its own, in the order given.
fn count_all(
    operations: &[Operation],
    slowdown: impl Fn(Operation) -> u64 + Sync,
) -> Result<Vec<(Operation, Count)>, Failure> {
    let count = |&operation| Ok((operation, callgrind::count(operation, slowdown(operation))?));
    operations.par_iter().map(count).collect()
}
