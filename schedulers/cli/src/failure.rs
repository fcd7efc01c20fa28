//! What can go wrong, in one line, and the exit status that goes with it.

use std::fmt;

/// Why the program stops without having done what it was asked to do.
#[derive(Debug)]
pub enum Failure {
    /// The request cannot be carried out: exit status 2.
    Request(String),
    /// Something failed during the run: exit status 1.
    Run(String),
}

impl Failure {
    pub(crate) fn request(problem: impl fmt::Display) -> Self {
        Failure::Request(problem.to_string())
    }

    pub(crate) fn run(problem: impl fmt::Display) -> Self {
        Failure::Run(problem.to_string())
    }

    /// What is wrong with the command line, without clap's advice behind it. The user's own words may be in it, so the
    /// advice is looked for from the end.
    pub(crate) fn of_arguments(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let mut problem = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        for advice in ["\n\nFor more information", "\n\nUsage: ", "\n\n  tip: "] {
            problem = problem.rfind(advice).map_or(problem, |start| &problem[..start]);
        }
        Failure::Request(format!("{problem} (see --help)"))
    }

    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Request(_) => 2,
            Failure::Run(_) => 1,
        }
    }
}

impl std::error::Error for Failure {}

/// One line, whatever a user's argument had in it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Request(problem) | Failure::Run(problem)) = self;
        let visible: String = problem.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        f.write_str(&visible.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
