//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::figure::Figure;
use crate::{
    aborts, adversary, containment, cuts, defects, delay, growth, idle, lag, mutants, orderings, replay,
    scenarios, soak, turns, wake_cost, wakes,
};

/// Tries to break what Clockworker promises, and prints the figures that RELIABILITY.md lists.
#[derive(Debug, Parser)]
#[command(name = "clockworker-reliability", max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Write the figures to FILE, as JSON.
    #[arg(long, value_name = "FILE", global = true)]
    pub json: Option<PathBuf>,
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
    Replay(replay::Options),
    Scenarios(scenarios::Options),
    Containment(containment::Options),
    Defects(defects::Options),
    Mutants(mutants::Options),
    Orderings(orderings::Options),
}

impl Arguments {
    /// Does what the subcommand says.
    ///
    /// # Errors
    ///
    /// If it could not be done, or a promise was broken in a way that ends the run; [`BadRequest`](crate::BadRequest) among
    /// the causes if the command is to blame.
    pub fn measure(&self) -> anyhow::Result<Vec<Figure>> {
        match &self.command {
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
            Command::Defects(options) => defects::measure(options),
            Command::Mutants(options) => mutants::measure(options),
            Command::Orderings(options) => orderings::measure(options),
        }
    }
}
