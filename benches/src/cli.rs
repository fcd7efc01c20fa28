//! The command line: what can be asked for, and one clear line when what is asked for makes no sense.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;
use crate::harness::command::command;
use crate::measurements::{compare, overhead, priority, programs, service, tail, tcp};
use crate::report;
use crate::serving::server::read_setup;

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// Something to be done.
    Command(Box<Command>),
    /// A help or version text to be shown.
    Help(Help),
    /// Nothing: the request makes no sense.
    Wrong(Failure),
}

/// A text for the user that is not an error message.
#[derive(Debug)]
pub struct Help {
    /// The text, with its line ends.
    pub text: String,
    /// Whether it was asked for (standard output, status 0) or is shown for want of a subcommand (standard
    /// error, 2).
    pub asked_for: bool,
}

/// Measures clockworker against tokio's LocalSet.
#[derive(Debug, Parser)]
#[command(name = "clockworker-benches", version)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// Something to be done: what is said of each is its help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare the executor with LocalSet: what a poll costs, and foreground latency beside background work
    Compare(compare::options::Options),
    /// Measure polls, spawns, wakes, queues, groups, memory and idleness, beside other executors
    Overhead(overhead::options::Options),
    /// What `clockworker-simulate` does, for `report --run`
    #[command(hide = true)]
    Simulate(clockworker_simulate::Options),
    /// Measure an echo server on monoio, tokio and smol, with and without clockworker
    Tcp(tcp::options::Options),
    /// The server that `tcp` starts
    #[command(hide = true)]
    TcpServer {
        /// How it is set up, as JSON
        #[arg(value_parser = read_setup::<tcp::server::Setup>)]
        setup: tcp::server::Setup,
    },
    /// Measure a key-value service beside compaction: by its imports alone, and by queues
    Service(service::options::Options),
    /// The server that `service` starts
    #[command(hide = true)]
    ServiceServer {
        /// How it is set up, as JSON
        #[arg(value_parser = read_setup::<service::server::Setup>)]
        setup: service::server::Setup,
    },
    /// Serve jobs of all sizes under load: response time and slowdown, by order of work
    Tail(tail::options::Options),
    /// Measure foreground latency beside background work: by shares, length of polls, request
    Priority(priority::options::Options),
    /// Run programs with LocalSet's imports and with Clockworker's: time, p99, memory
    Programs(programs::options::Options),
    /// The process that `programs` starts
    #[command(hide = true)]
    ProgramSample(programs::options::SampleOptions),
    /// Write one page of all results: what it costs and what you gain
    Report(report::options::Options),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    ///
    /// As what is done has them.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Compare(options) => command::<compare::Compare>(options),
            Command::Overhead(options) => command::<overhead::Overhead>(options),
            Command::Simulate(options) => clockworker_simulate::run(options).map_err(Failure::of_simulator),
            Command::Tcp(options) => command::<tcp::Tcp>(options),
            Command::TcpServer { setup } => tcp::server::command(setup),
            Command::Service(options) => command::<service::Service>(options),
            Command::ServiceServer { setup } => service::server::command(setup),
            Command::Tail(options) => command::<tail::Tail>(options),
            Command::Priority(options) => command::<priority::Priority>(options),
            Command::Programs(options) => programs::command(options),
            Command::ProgramSample(options) => programs::child::command(options),
            Command::Report(options) => report::command(options),
        }
    }
}

/// Reads the command line, the program's name first.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Parsed {
    match Line::try_parse_from(arguments) {
        Ok(line) => Parsed::Command(Box::new(line.command)),
        Err(error) => explain(&error),
    }
}

/// Whether there is a subcommand of that name.
pub fn has_command(name: &str) -> bool {
    Line::command().find_subcommand(name).is_some()
}

fn explain(error: &clap::Error) -> Parsed {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Parsed::Help(Help { text, asked_for: true }),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Parsed::Help(Help { text, asked_for: false }),
        _ => Parsed::Wrong(Failure::request(condensed(&text))),
    }
}

/// What is wrong, from one of clap's messages, without the advice that follows it. The user's own words may
/// be in it, so the advice is looked for from the end.
fn condensed(message: &str) -> String {
    let mut problem = message.strip_prefix("error: ").unwrap_or(message).trim_end();
    for advice in ["\n\nFor more information", "\n\nUsage: ", "\n\n  tip: "] {
        problem = problem.rfind(advice).map_or(problem, |start| &problem[..start]);
    }
    format!("{problem} (see --help)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Parsed {
        parse(line.split(' ').map(OsString::from))
    }

    fn complaint(line: &str) -> String {
        match parse_line(line) {
            Parsed::Wrong(failure) => failure.to_string(),
            other => panic!("'{line}' was taken as {other:?}"),
        }
    }

    #[test]
    fn an_unknown_scenario_is_told_which_there_are() {
        let line = complaint("program compare --scenario overheads");
        assert_eq!(
            line,
            "invalid value 'overheads' for '--scenario <NAME>' [possible values: overhead, background] (see --help)"
        );
    }

    #[test]
    fn bad_numbers_are_refused() {
        for rounds in ["0", "1", "x", "1.5", "-3", "99999999999999999999"] {
            assert!(
                complaint(&format!("program compare --rounds={rounds}")).contains("--rounds"),
                "{rounds}"
            );
        }
        assert!(complaint("program compare --seed eleven").contains("'eleven'"));
    }
}
