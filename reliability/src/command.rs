//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::figure::Figure;

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
            $($command(crate::$module::Options)),+
        }

        impl Arguments {
            /// Does what the subcommand says. [`BadRequest`](crate::BadRequest) is among the causes of an error if the
            /// command is to blame.
            pub fn measure(&self) -> anyhow::Result<Vec<Figure>> {
                match &self.command {
                    $(Command::$command(options) => crate::$module::measure(options)),+
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
