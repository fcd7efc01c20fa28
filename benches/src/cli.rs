//! The command line: what can be asked for.

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::harness::Options;
use crate::harness::run::run;
use crate::measurements::service::server;
use crate::measurements::{compare, micro, priority, programs, service, tail, tenants};

/// Measures clockworker against tokio's LocalSet.
#[derive(Debug, Parser)]
#[command(name = "clockworker-benches", version)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done. What is said of each is its help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The headline of each measurement, in a few minutes
    Compare(Options),
    /// Spawns, polls, wakes, hops and memory, beside LocalSet
    Micro(Options),
    /// Services beside compaction: a key-value service, hyper and an echo server, by imports and by queues
    Service(Options),
    /// The server that `service` starts
    #[command(hide = true)]
    ServiceServer {
        /// How it is made, as JSON
        setup: String,
    },
    /// Foreground tasks beside background work, by shares
    Priority(Options),
    /// Response times by the order of work, and the load at which short jobs still are fast
    Tail(Options),
    /// Programs written for LocalSet, when only their imports change
    Programs(Options),
    /// Tenants of a thread, of which one floods or comes late, and shares of queues
    Tenants(Options),
}

impl Command {
    /// Carries it out.
    pub fn run(&self) -> Result<()> {
        match self {
            Command::Compare(options) => compare::run(options),
            Command::Micro(options) => run(&micro::MICRO, options),
            Command::Service(options) => run(&service::SERVICE, options),
            Command::ServiceServer { setup } => server::run(setup),
            Command::Priority(options) => run(&priority::PRIORITY, options),
            Command::Tail(options) => run(&tail::TAIL, options),
            Command::Programs(options) => run(&programs::PROGRAMS, options),
            Command::Tenants(options) => run(&tenants::TENANTS, options),
        }
    }
}
