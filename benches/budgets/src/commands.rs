//! What the program is asked to do, and does.

#![allow(clippy::print_stdout, reason = "it says what it counts")]

use std::fs;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use rayon::prelude::*;

use crate::budgets::{Budget, Budgets, PATH, REWRITE, Toolchain, rewritten};
use crate::callgrind::{self, Count};
use crate::comparison::{EXACTLY, Verdict, compare};
use crate::operations::Operation;
use crate::region::{Callgrind, SLOWDOWN_INSTRUCTIONS};

/// How many instructions and allocations clockworker's operations take, and may take.
#[derive(Debug, Parser)]
#[command(name = "budgets", version, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Count, compare with the budgets, and fail if something is more than 2 % over
    Check,
    /// Count, and write the counts into the file as the new budgets. Commit it with the reason
    Rewrite,
    /// Put a slowdown in and see that the check fails; count twice and see that the counts are the same
    Selftest,
    /// Run an operation for callgrind to count
    #[command(hide = true)]
    Run {
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
///
/// # Errors
///
/// If something is over budget, or nothing can be said.
pub fn main() -> Result<()> {
    match Line::parse().command {
        Command::Check => check(),
        Command::Rewrite => rewrite(),
        Command::Selftest => selftest(),
        Command::Run { operation, slowdown } => {
            (operation.run)(&Callgrind { slowdown });
            Ok(())
        }
    }
}

fn check() -> Result<()> {
    let (text, over) = compare(&Budgets::read()?, &count_all()?);
    println!("{text}");
    ensure!(over.is_empty(), "over budget: {}; {REWRITE}", over.join(", "));
    Ok(())
}

fn rewrite() -> Result<()> {
    let text = fs::read_to_string(PATH).context(PATH)?;
    let mut counts = count_all()?;
    counts.retain(|(operation, _)| operation.is_budgeted);
    fs::write(PATH, rewritten(&text, &Toolchain::present(), &counts).context(PATH)?).context(PATH)
}

/// Counts every operation, each in a process of its own.
fn count_all() -> Result<Vec<(Operation, Count)>> {
    let count = |operation| Ok((operation, callgrind::count(operation, 0)?));
    Operation::all().into_par_iter().map(count).collect()
}

/// Tries the check on operations of few instructions and of many.
fn selftest() -> Result<()> {
    for key in ["wake", "poll_one_queue", "spawn_and_join"] {
        let operation = Operation::find(key).context("it is an operation")?;
        let first = callgrind::count(operation, 0)?;
        ensure!(callgrind::count(operation, 0)? == first, "two counts of '{key}' differ");
        let Count { instructions, allocations } = first;
        for (thousandths, wanted) in [(10.0, Verdict::Within), (30.0, Verdict::Slower)] {
            let slowdown = (instructions * thousandths / SLOWDOWN_INSTRUCTIONS as f64).ceil() as u64;
            let slower = callgrind::count(operation, slowdown)?;
            let verdict = Verdict::of(slower, Budget { instructions, allocations }, EXACTLY);
            ensure!(verdict == wanted, "'{key}' slower by {thousandths} thousandths is {verdict:?}");
        }
    }
    println!("the check fails when it should, and only then");
    Ok(())
}
