//! The command line: what can be asked for.

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::harness::{Measurement, run};
use crate::measurements::compare::Compare;
use crate::measurements::micro::Micro;
use crate::measurements::programs::Programs;
use crate::measurements::tenants::Tenants;

/// Measures clockworker against tokio's LocalSet.
#[derive(Debug, Parser)]
#[command(name = "clockworker-benches", version)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(args_override_self = true)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done. What is said of each is its help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The headline of each measurement, in a few minutes
    Compare(Compare),
    /// Spawns, polls, wakes, hops and memory, beside LocalSet
    Micro(Micro),
    /// Programs written for LocalSet, when only their imports change
    Programs(Programs),
    /// Tenants of a thread, of which one floods or comes late, and shares and caps of queues
    Tenants(Tenants),
}

impl Command {
    /// Carries it out. `line` are the arguments that it was made of.
    pub fn run(&self, line: &[String]) -> Result<()> {
        match self {
            Command::Compare(compare) => compare.run(line),
            Command::Programs(programs) if programs.list => Ok(Programs::list()?),
            other => {
                let measurement = other.measurement().expect("the others are measurements");
                run::run(line, measurement.options(), &[(line.to_vec(), measurement)])
            }
        }
    }

    /// The measurement, if it is one.
    pub fn measurement(&self) -> Option<&dyn Measurement> {
        match self {
            Command::Compare(_) => None,
            Command::Micro(micro) => Some(micro),
            Command::Programs(programs) => Some(programs),
            Command::Tenants(tenants) => Some(tenants),
        }
    }
}
