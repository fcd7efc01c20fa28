//! What the program does.

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use crate::budgets::Budgets;
use crate::callgrind::{self, Count};
use crate::cli::{Check, Command, File};
use crate::failure::Failure;
use crate::operations::Operation;
use crate::region::{Callgrind, SLOWDOWN_INSTRUCTIONS};
use crate::selftest;
use crate::toolchain::Toolchain;
use crate::verdict::Comparison;

/// Does it.
///
/// # Errors
///
/// If something is over budget, or nothing could be said.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Check(options) => check(&options),
        Command::Rewrite(file) => rewrite(&file),
        Command::Profile { operation } => profile(operation),
        Command::Selftest(file) => selftest::run(&file.path),
        Command::Run { operation, slowdown } => {
            operation.run(&Callgrind { slowdown });
            Ok(())
        }
    }
}

fn check(options: &Check) -> Result<(), Failure> {
    let budgets = Budgets::read(&options.file.path)?;
    ready()?;
    let wanted = if options.operations.is_empty() { &Operation::ALL[..] } else { &options.operations };
    let slowdown = |operation| {
        let instructions = budgets.get(operation).map_or(0.0, |budget| budget.instructions);
        (instructions * f64::from(options.slowdown) / SLOWDOWN_INSTRUCTIONS as f64).ceil() as u64
    };
    let counts = count_all(wanted, slowdown)?;
    let present = Toolchain::present();
    let comparison = Comparison::new(&budgets, &present, &counts);
    let mut text = format!("{}\n", comparison.table());
    for notice in comparison.notices() {
        text += &format!("{notice}\n");
    }
    print(&text)?;
    comparison.complaint().map_or(Ok(()), |complaint| Err(Failure::OverBudget(complaint)))
}

fn rewrite(file: &File) -> Result<(), Failure> {
    let budgets = Budgets::read_any(&file.path)?;
    ready()?;
    let mut counts = count_all(&Operation::ALL, |_| 0)?;
    let present = Toolchain::present();
    print(&format!("{}\n", Comparison::new(&budgets, &present, &counts).table()))?;
    counts.retain(|(operation, _)| operation.is_budgeted);
    let text = budgets.rewritten(&present, &counts);
    fs::write(budgets.path(), text).map_err(Failure::unwritable(budgets.path()))?;
    print(&format!("written to {}\n", budgets.path().display()))
}

fn profile(operation: Operation) -> Result<(), Failure> {
    ready()?;
    let count = callgrind::count(operation, 0)?;
    let mut text = format!(
        "{}: {:.2} instructions, {} allocations\n",
        operation.title, count.instructions, count.allocations
    );
    for (function, instructions) in count.functions {
        text += &format!("{instructions:>10.2}  {function}\n");
    }
    print(&text)
}

fn ready() -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        return Err(Failure::DebugBuild);
    }
    callgrind::require()
}

/// Counts all of these, each in a process of its own, in the order given.
fn count_all(
    operations: &[Operation],
    slowdown: impl Fn(Operation) -> u64 + Sync,
) -> Result<Vec<(Operation, Count)>, Failure> {
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(&operation) = operations.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let count = callgrind::count(operation, slowdown(operation));
                    counts.lock().expect("no counting thread panics").push((operation, count));
                }
            });
        }
    });
    let mut counts = counts.into_inner().expect("no counting thread panics");
    let place = |key| operations.iter().position(|operation| operation.key == key);
    counts.sort_by_key(|(operation, _)| place(operation.key));
    counts.into_iter().map(|(operation, count)| Ok((operation, count?))).collect()
}

/// Prints on standard output. A reader that has gone away, as `head` does, is no error.
fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Io("cannot write to standard output".to_owned(), error))
        }
        _ => Ok(()),
    }
}
