//! What can go wrong, and the exit status that goes with it.

use std::path::Path;
use std::{error, fmt, io};

use crate::budgets::BudgetsError;

/// Why the program ends with another status than 0.
#[derive(Debug)]
pub enum Failure {
    /// Some operations take more than their budget. The message names each.
    OverBudget(String),
    /// The file of budgets cannot be used.
    Budgets(BudgetsError),
    /// What counts instructions is not installed.
    NoValgrind(io::Error),
    /// It did not do what it should.
    Valgrind(String),
    /// The program was not built to be measured.
    DebugBuild,
    /// The check did not behave as it should.
    Selftest(String),
    /// The standard output, a temporary file or a process.
    Io(String, io::Error),
}

impl Failure {
    /// Something about `what` failed.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Failure::Io(what, error)
    }

    /// A file could not be written.
    pub fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        Failure::io(format!("cannot write '{}'", path.display()))
    }

    /// The exit status: 1 says that code has become worse, 2 that nothing could be said about it.
    pub fn status(&self) -> u8 {
        match self {
            Failure::OverBudget(_) => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::OverBudget(message) => f.write_str(message),
            Failure::Budgets(error) => error.fmt(f),
            Failure::NoValgrind(error) => {
                write!(
                    f,
                    "cannot run valgrind, which counts the instructions ({error}); install it, with `apt-get install valgrind` or as your system does"
                )
            }
            Failure::Valgrind(message) => write!(f, "valgrind: {message}"),
            Failure::DebugBuild => {
                f.write_str("a debug build says nothing about what the code costs: use `cargo run --release`")
            }
            Failure::Selftest(message) => write!(f, "the check does not do what it should: {message}"),
            Failure::Io(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl error::Error for Failure {}

impl From<BudgetsError> for Failure {
    fn from(error: BudgetsError) -> Self {
        Failure::Budgets(error)
    }
}
