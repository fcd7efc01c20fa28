//! Programs that try to break what Clockworker promises, and print the figure of each promise.
//!
//! Every subcommand measures one thing and returns [figures](figure::Figure); the program prints them as a table, writes
//! them as JSON with `--json`, and fails if one is out of its bound. `RELIABILITY.md` lists all of them. A subcommand is a
//! file or folder of its name, but for `host`, which is [`turns`].

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "it is a program's: what is said is what a name does not say")]

mod aborts;
pub mod adversary;
mod bounds;
mod cases;
mod containment;
mod cuts;
mod defects;
pub mod delay;
pub mod figure;
mod growth;
mod idle;
pub mod lag;
mod mutants;
mod orderings;
pub mod replay;
mod scenarios;
mod scratch;
pub mod soak;
mod trial;
pub mod turns;
mod wake_cost;
mod wakes;
pub mod watchdog;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use figure::Figure;

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

/// Subcommands, each with the module that carries it out: that has its `Options` and a function `measure`.
macro_rules! commands {
    ($($command:ident: $module:ident,)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command($module::Options)),+
        }

        impl Arguments {
            /// Does what the subcommand says. [`BadRequest`] is among the causes of an error if the
            /// command is to blame.
            pub fn measure(&self) -> anyhow::Result<Vec<Figure>> {
                match &self.command {
                    $(Command::$command(options) => $module::measure(options)),+
                }
            }
        }
    };
}

commands! {
    Aborts: aborts,
    Adversary: adversary,
    Cuts: cuts,
    Delay: delay,
    Host: turns,
    Idle: idle,
    Lag: lag,
    WakeCost: wake_cost,
    Wakes: wakes,
    Growth: growth,
    Soak: soak,
    Replay: replay,
    Scenarios: scenarios,
    Containment: containment,
    Defects: defects,
    Mutants: mutants,
    Orderings: orderings,
}

/// The command itself cannot be carried out, for a reason that its user can mend: exit status 2.
#[derive(Debug)]
pub struct BadRequest(pub String);

impl std::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
