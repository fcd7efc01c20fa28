//! The command line: what can be asked for.

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::harness::command::command;
use crate::measurements::{
    actions, budgets, compare, overhead, priority, programs, service, sessions, tail, tcp, tenants,
};
use crate::serving::server::read_setup;
use crate::{docs, report};

/// Measures clockworker against tokio's LocalSet.
#[derive(Debug, Parser)]
#[command(name = "clockworker-benches", version)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
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
    /// Measure a session manager: checkpoints, fan-out of events, subscriptions; bursts must not delay checkpoints
    Sessions(sessions::options::Options),
    /// Serve jobs of all sizes under load: response time and slowdown, by order of work
    Tail(tail::options::Options),
    /// Measure foreground latency beside background work: by shares, length of polls, request
    Priority(priority::options::Options),
    /// Measure tenants under every policy: one that floods, many, one with a past, one that comes and goes; shares and caps
    Tenants(tenants::options::Options),
    /// Check that nothing takes more than twice its committed baseline, or that nothing else has changed
    Budgets(budgets::options::Options),
    /// Measure a durable queue of actions in a database: start, dispatch, completion and flush beside each other
    Actions(actions::options::Options),
    /// Run programs with LocalSet's imports and with Clockworker's: time, p99, memory
    Programs(programs::options::Options),
    /// The process that `programs` starts
    #[command(hide = true)]
    ProgramSample(programs::options::SampleOptions),
    /// Write one page of all results: what it costs and what you gain
    Report(report::Options),
    /// Write the tables of README.md, OVERHEAD.md and LATENCY.md from the committed files of results
    Docs(docs::Options),
}

impl Command {
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Compare(options) => command::<compare::Compare>(options),
            Command::Overhead(options) => command::<overhead::Overhead>(options),
            Command::Simulate(options) => clockworker_simulate::run(options),
            Command::Tcp(options) => command::<tcp::Tcp>(options),
            Command::TcpServer { setup } => tcp::server::command(setup),
            Command::Service(options) => command::<service::Service>(options),
            Command::ServiceServer { setup } => service::server::command(setup),
            Command::Sessions(options) => command::<sessions::Sessions>(options),
            Command::Tail(options) => command::<tail::Tail>(options),
            Command::Priority(options) => command::<priority::Priority>(options),
            Command::Tenants(options) => command::<tenants::Tenants>(options),
            Command::Budgets(options) => budgets::command(options),
            Command::Actions(options) => actions::command(options),
            Command::Programs(options) => programs::command(options),
            Command::ProgramSample(options) => programs::child::command(options),
            Command::Report(options) => report::command(options),
            Command::Docs(options) => docs::command(options),
        }
    }
}
