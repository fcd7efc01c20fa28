//! What every file of results begins with.

use std::env;

use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::options::Common;

/// Of which kind results are, what was asked for, and on what it ran. `A` is the command line's part.
#[derive(Debug, Serialize, Deserialize)]
pub struct Heading<A> {
    pub schema: String,
    /// The version of that kind. It goes up when a field changes its meaning or goes away, not when one is added.
    pub schema_version: u32,
    pub note: Option<String>,
    pub command_line: String,
    pub arguments: A,
    pub facts: Facts,
}

impl<A: AsRef<Common>> Heading<A> {
    /// The command line that measures a part alone: the subcommand, and what was different from the usual.
    pub fn command(&self, subcommand: &str) -> String {
        let Common { quick, seed, .. } = self.arguments.as_ref();
        usual_command(subcommand, *quick, *seed)
    }
}

/// The command line of this process, without its file of results.
pub fn command_of_this_run() -> String {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--json") {
        arguments.drain(place..arguments.len().min(place + 2));
    }
    arguments.retain(|argument| !argument.starts_with("--json="));
    command(&arguments.join(" "))
}

/// A command line: what is to be run, and the part that is different from the usual.
pub fn usual_command(arguments: &str, quick: bool, seed: u64) -> String {
    let quick = if quick { " --quick" } else { "" };
    let seed = if seed == 1 { String::new() } else { format!(" --seed {seed}") };
    command(&format!("{arguments}{quick}{seed}"))
}

/// A command line of this program, or of the simulator.
pub fn command(arguments: &str) -> String {
    match arguments.strip_prefix("simulate") {
        Some(arguments) => format!("cargo run --release -p clockworker-simulate --{arguments}"),
        None => format!("cargo run --release -p clockworker-benches -- {arguments}"),
    }
}

/// Why numbers found by this build, in a quick run or not, mean nothing, if they do not.
pub fn note(quick: bool) -> Option<&'static str> {
    match (quick, cfg!(debug_assertions)) {
        (true, _) => Some("quick: not a measurement"),
        (false, true) => Some("debug build: not a measurement"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_was_not_usual() {
        let commands = [usual_command("compare", false, 1), usual_command("simulate --theory", true, 7)];
        let wanted = ["benches -- compare", "simulate -- --theory --quick --seed 7"]
            .map(|end| format!("cargo run --release -p clockworker-{end}"));
        assert_eq!(commands, wanted);
    }
}
