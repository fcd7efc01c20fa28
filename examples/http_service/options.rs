//! What can be chosen on the command line.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use clap::{Parser, ValueEnum};

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

    /// Stop after this many seconds; 0 serves until ctrl-c
    #[arg(long, default_value_t = 0)]
    seconds: u64,

    /// Background loops that compact the store without end; 0 for none
    #[arg(long, default_value_t = 8, value_parser = at_most_one_per_shard)]
    pub(crate) compactors: usize,

    /// Entries that a compactor merges before it yields
    #[arg(long, default_value_t = 300, value_parser = at_least_one)]
    pub(crate) chunk: usize,

    /// Keys that the store begins with: key-000000, key-000001, …
    #[arg(long, default_value_t = 100_000)]
    pub(crate) keys: usize,

    /// Clockworker: the requests' share of the thread; compaction's is 1
    #[arg(long, default_value_t = 19)]
    pub(crate) share: u32,

    /// Clockworker: the service that the requests' queue asks for per turn, in microseconds
    #[arg(long, default_value_t = 100)]
    request_us: u64,

    /// Clockworker: how long tasks may run before tokio looks at its sockets, in microseconds, instead of by what looking costs
    #[arg(long)]
    host_budget_us: Option<u64>,
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

impl Options {
    pub(crate) fn request(&self) -> Duration {
        Duration::from_micros(self.request_us)
    }

    pub(crate) fn host_budget(&self) -> Option<Duration> {
        self.host_budget_us.map(Duration::from_micros)
    }

    /// Done when it is time to stop: at ctrl-c, or when the seconds are over.
    pub(crate) fn stop(&self) -> impl Future<Output = ()> + 'static {
        let seconds = self.seconds;
        async move {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                () = tokio::time::sleep(Duration::from_secs(seconds)), if seconds > 0 => {}
            }
        }
    }
}

fn at_most_one_per_shard(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(compactors) if compactors <= SHARDS => Ok(compactors),
        _ => Err(format!("a number from 0 to {SHARDS}, one per shard of the store")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number from 1".to_owned()),
        Ok(entries) => Ok(entries),
    }
}
