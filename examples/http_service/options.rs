//! What can be chosen on the command line.

use std::net::{IpAddr, Ipv4Addr};

use clap::{Parser, ValueEnum, value_parser};

use crate::store::SHARDS;

/// A key-value store behind HTTP, on one thread: GET /KEY, PUT /KEY, GET /stats.
#[derive(Clone, Debug, Parser)]
pub(crate) struct Options {
    /// Who runs the tasks
    #[arg(long, value_enum, default_value = "clockworker")]
    pub(crate) executor: ExecutorKind,

    /// The address to listen on
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST.into())]
    pub(crate) host: IpAddr,

    /// The port to listen on; 0 takes a free one and prints it
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,

    /// Background loops that compact the store without end; 0 for none
    #[arg(long, default_value_t = 8, value_parser = value_parser!(u16).range(..=SHARDS as i64))]
    pub(crate) compactors: u16,

    /// Entries that a compactor merges before it yields
    #[arg(long, default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    pub(crate) chunk: u32,

    /// Keys that the store begins with: key-000000, key-000001, …
    #[arg(long, default_value_t = 100_000)]
    pub(crate) keys: usize,

    /// Clockworker: the requests' share of the thread; compaction's is 1
    #[arg(long, default_value_t = 19)]
    pub(crate) share: u32,

    /// Clockworker: the service that the requests' queue asks for per turn, in microseconds
    #[arg(long, default_value_t = 100)]
    pub(crate) request_us: u64,

    /// Clockworker: how long tasks may run before tokio looks at its sockets, in microseconds, instead of by what looking costs
    #[arg(long)]
    pub(crate) host_budget_us: Option<u64>,
}

/// Who runs the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum ExecutorKind {
    /// `tokio::task::LocalSet`
    LocalSet,
    /// `clockworker::Executor` with two queues
    Clockworker,
}
