//! What can go wrong, in one line, and the exit status that goes with it.

use std::path::Path;
use std::{fmt, io};

/// Why the program stops without having done what it was asked to do.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    message: String,
}

impl Failure {
    /// The request cannot be carried out: exit status 2.
    pub fn request(message: impl fmt::Display) -> Self {
        Failure { status: 2, message: message.to_string() }
    }

    /// The file named by the request cannot be written: exit status 2.
    pub fn unwritable(path: &Path, reason: impl fmt::Display) -> Self {
        Failure::request(format_args!("cannot write '{}': {reason}", path.display()))
    }

    /// What cannot be done, as in "cannot write 'FILE'", for the error that says why: exit status 2.
    pub fn unable(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Failure::request(format_args!("{what}: {error}"))
    }

    /// Something failed during the run: exit status 1.
    pub fn run(message: impl fmt::Display) -> Self {
        Failure { status: 1, message: message.to_string() }
    }

    /// Somebody stopped the run, as by Ctrl-C: exit status 130, as of a program that the signal ended.
    pub fn interrupted(message: impl fmt::Display) -> Self {
        Failure { status: 130, message: message.to_string() }
    }

    /// What is wrong with the command line, without clap's advice behind it. The user's own words may be in it, so the
    /// advice is looked for from the end.
    pub(crate) fn of_arguments(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let mut problem = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        for advice in ["\n\nFor more information", "\n\nUsage: ", "\n\n  tip: "] {
            problem = problem.rfind(advice).map_or(problem, |start| &problem[..start]);
        }
        Failure::request(format_args!("{problem} (see --help)"))
    }

    /// The process's exit status.
    pub fn status(&self) -> u8 {
        self.status
    }
}

impl std::error::Error for Failure {}

/// One line, whatever a user's argument had in it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let visible: String = self.message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        f.write_str(&visible.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_whatever_is_in_it() {
        let failure = Failure::request("bad\nvalue\r\n\u{1b}[31m  'x'");
        assert_eq!((failure.status(), failure.to_string().as_str()), (2, "bad value [31m 'x'"));
    }

    #[test]
    fn claps_advice_is_left_out() {
        let command = clap::Command::new("p").arg(clap::Arg::new("level").value_parser(["low", "high"]));
        let error = command.try_get_matches_from(["p", "mid"]).unwrap_err();
        let line = "invalid value 'mid' for '[level]' [possible values: low, high] (see --help)";
        assert_eq!(Failure::of_arguments(&error).to_string(), line);
    }
}
