//! What can go wrong, and the exit status that goes with it.

use std::{error, fmt, io};

/// Why the program ends with another status than 0.
#[derive(Debug)]
pub enum Failure {
    /// Some operations take more than their budget: status 1. The message names each.
    OverBudget(String),
    /// Nothing can be said about what the code costs: status 2. The message says why.
    Unable(String),
}

impl Failure {
    /// What cannot be done, as in "cannot write 'FILE'", and the error that says why.
    pub(crate) fn io(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Failure::Unable(format!("{what}: {error}"))
    }

    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::OverBudget(_) => 1,
            Failure::Unable(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::OverBudget(message) | Failure::Unable(message)) = self;
        f.write_str(message)
    }
}

impl error::Error for Failure {}
