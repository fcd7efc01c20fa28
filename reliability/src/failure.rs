//! What can go wrong, in one line, and the exit status that goes with it.

use std::fmt;

/// Why the program stops without having done what it was asked to do.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    line: String,
}

impl Failure {
    /// The request itself cannot be carried out: exit status 2.
    pub fn request(message: impl Into<String>) -> Self {
        Failure { status: 2, line: message.into() }
    }

    /// Something failed during the run, or a promise was broken: exit status 1.
    pub fn run(message: impl Into<String>) -> Self {
        Failure { status: 1, line: message.into() }
    }

    /// The process's exit status.
    pub fn status(&self) -> u8 {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for Failure {}
