//! Programs that try to break what Clockworker promises, and print the figure of each promise.
//!
//! Every subcommand measures one thing and returns [figures](figure::Figure); the program prints them as a table, writes
//! them as JSON with `--json`, and fails if one is out of its bound. `RELIABILITY.md` lists all of them. A subcommand is a
//! file or folder of its name, but for `host`, which is `turns`.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "only the program uses this library; its docs say what names do not")]

mod aborts;
mod adversary;
mod bounds;
mod cases;
mod containment;
mod cuts;
mod defects;
mod delay;
pub mod figure;
mod growth;
mod idle;
mod lag;
mod mutants;
mod orderings;
mod replay;
mod scenarios;
mod scratch;
mod soak;
mod trial;
mod turns;
mod wake_cost;
mod wakes;
mod watchdog;

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
    ($($(#[$about:meta])+ $command:ident: $module:ident,)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$about])+ $command($module::Options)),+
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
    /// Aborts tasks from everywhere, in every phase, and counts what runs before their futures are dropped.
    Aborts: aborts,
    /// Searches for what other queues can do to one that always has work, and holds its shortfall against the bound.
    Adversary: adversary,
    /// Drops the driver after every k-th poll of a program, and lets the next go on.
    Cuts: cuts,
    /// Holds the delay from wake to poll against its formula, in random workloads on a virtual clock.
    Delay: delay,
    /// Measures how long each host waits for the end of the executor's turns, and how late its timers are.
    Host: turns,
    /// Waits beside tasks that wait too, and counts polls and CPU time.
    Idle: idle,
    /// Holds every queue's lag against its bound, by exact arithmetic, and shares after a second against what was owed.
    Lag: lag,
    /// Wakes from other threads while the executor is suspended, and under locks that tasks need.
    WakeCost: wake_cost,
    /// Wakes tasks from other threads, and counts what is lost.
    Wakes: wakes,
    /// Spawns, aborts and panics without end, and looks for what is left of it.
    Growth: growth,
    /// Does everything at once, for a long time, and balances the books.
    Soak: soak,
    /// Random programs have the same schedule in every run, inside every host (promise 15).
    Replay: replay,
    /// Random programs run as on a reference executor (promises 3 and 4).
    Scenarios: scenarios,
    /// Panics everywhere, and counts who survives.
    Containment: containment,
    /// Puts bugs into the library and requires that a test notices each.
    Defects: defects,
    /// Mutates EEVDF, the task cell and the inbox, and requires that a test notices each mutant.
    Mutants: mutants,
    /// Weakens each memory ordering of the executor in turn, and asks for a model that fails.
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
