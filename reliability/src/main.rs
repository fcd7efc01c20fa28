//! The program `clockworker-reliability`; everything it does is in the library beside it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clockworker_reliability::failure::Failure;
use clockworker_reliability::figure::{self, Figure};
use clockworker_reliability::{
    aborts, adversary, containment, cuts, defects, delay, growth, idle, lag, mutants, orderings, replay,
    scenarios, soak, turns, wake_cost, wakes,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts for what looks at memory.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Tries to break what Clockworker promises, and prints the figures that RELIABILITY.md lists.
#[derive(Debug, Parser)]
#[command(name = "clockworker-reliability", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Write the figures to FILE, as JSON.
    #[arg(long, value_name = "FILE", global = true)]
    json: Option<PathBuf>,
}

/// One line per subcommand, and one in `measure`.
#[derive(Debug, Subcommand)]
enum Command {
    Aborts(aborts::Options),
    Adversary(adversary::Options),
    Cuts(cuts::Options),
    Delay(delay::Options),
    Host(turns::Options),
    Idle(idle::Options),
    Lag(lag::Options),
    WakeCost(wake_cost::Options),
    Wakes(wakes::Options),
    Growth(growth::Options),
    Soak(soak::Options),
    /// Random programs have the same schedule in every run, inside every host (promise 15).
    Replay(replay::Replay),
    /// Random programs run as on a reference executor (promises 3 and 4).
    Scenarios(scenarios::Scenarios),
    Containment(containment::Options),
    Defects(defects::Options),
    Mutants(mutants::Options),
    Orderings(orderings::Options),
}

fn measure(command: &Command) -> Result<Vec<Figure>, Failure> {
    match command {
        Command::Aborts(options) => aborts::measure(options),
        Command::Adversary(options) => adversary::measure(options),
        Command::Cuts(options) => cuts::measure(options),
        Command::Delay(options) => delay::measure(options),
        Command::Host(options) => turns::measure(options),
        Command::Idle(options) => idle::measure(options),
        Command::Lag(options) => lag::measure(options),
        Command::WakeCost(options) => wake_cost::measure(options),
        Command::Wakes(options) => wakes::measure(options),
        Command::Growth(options) => growth::measure(options),
        Command::Soak(options) => soak::measure(options),
        Command::Replay(options) => replay::measure(options),
        Command::Scenarios(options) => scenarios::measure(options),
        Command::Containment(options) => containment::measure(options),
        Command::Defects(options) => defects::run(options),
        Command::Mutants(options) => mutants::run(options),
        Command::Orderings(options) => orderings::run(options),
    }
}

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program for a terminal")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = measure(&arguments.command).and_then(|figures| {
        println!("{}", figure::table(&figures));
        if let Some(path) = &arguments.json {
            figure::write_json(&figures, path)?;
        }
        match figures.iter().filter(|figure| !figure.is_kept()).count() {
            0 => Ok(()),
            broken => {
                Err(Failure::run(format!("{broken} of {} figures are out of their bounds", figures.len())))
            }
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
