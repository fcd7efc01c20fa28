//! What can go wrong, in one line, and the exit status that goes with it.

use std::fmt;
use std::path::Path;
use std::{error, io};

/// Why the program stops without having done what it was asked to do.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    line: String,
}

impl Failure {
    /// The request itself cannot be carried out: exit status 2.
    pub fn request(message: impl Into<String>) -> Self {
        Failure { status: 2, line: one_line(&message.into()) }
    }

    /// The file named by the request cannot be written: exit status 2.
    pub fn unwritable(path: &Path, reason: impl fmt::Display) -> Self {
        Failure::request(format!("cannot write '{}': {reason}", path.display()))
    }

    /// Something failed during the run: exit status 1.
    pub fn run(message: impl Into<String>) -> Self {
        Failure { status: 1, line: one_line(&message.into()) }
    }

    /// Standard output cannot be written: exit status 1.
    pub fn stdout(error: &io::Error) -> Self {
        Failure::run(format!("cannot write to standard output: {error}"))
    }

    /// The simulator's, with its exit status.
    pub fn of_simulator(failure: clockworker_simulate::Failure) -> Self {
        match failure {
            clockworker_simulate::Failure::Request(problem) => Failure::request(problem),
            clockworker_simulate::Failure::Run(problem) => Failure::run(problem),
        }
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

impl error::Error for Failure {}

/// Keeps a message on one line whatever a user's argument had in it.
fn one_line(message: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = message.chars().map(visible).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_whatever_is_in_it() {
        let failure = Failure::request("bad\nvalue\r\n\u{1b}[31m  'x'");
        assert_eq!(failure.to_string(), "bad value [31m 'x'");
    }

    #[test]
    fn a_bad_request_and_a_failed_run_have_different_statuses() {
        assert_eq!(Failure::request("x").status(), 2);
        assert_eq!(Failure::unwritable(Path::new("x"), "y").status(), 2);
        assert_eq!(Failure::run("x").status(), 1);
    }
}
