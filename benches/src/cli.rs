//! The command line: what can be asked for.

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::harness::{Measurement, run};
use crate::measurements::compare::Compare;
use crate::measurements::micro::Micro;
use crate::measurements::priority::Priority;
use crate::measurements::programs::Programs;
use crate::measurements::service::{Service, server};
use crate::measurements::tail::Tail;
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
    /// Services beside compaction: a key-value service, hyper and an echo server, by imports and by queues
    Service(Service),
    /// The server that `service` starts
    #[command(hide = true)]
    ServiceServer {
        /// How it is made, as JSON
        setup: String,
    },
    /// Foreground tasks beside background work, by shares and by requests
    Priority(Priority),
    /// Response times by the order of work, and the load at which short jobs still are fast
    Tail(Tail),
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
            Command::ServiceServer { setup } => server::run(setup),
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
            Command::Compare(_) | Command::ServiceServer { .. } => None,
            Command::Micro(micro) => Some(micro),
            Command::Service(service) => Some(service),
            Command::Priority(priority) => Some(priority),
            Command::Tail(tail) => Some(tail),
            Command::Programs(programs) => Some(programs),
            Command::Tenants(tenants) => Some(tenants),
        }
    }
}
