//! What can be chosen on the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Parser;

/// Counts, with an executor on each core, until SIGINT or SIGTERM.
#[derive(Clone, Debug, Parser)]
pub struct Options {
    /// The address to listen on; with port 0 it takes a free one and prints it
    #[arg(long, default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub address: SocketAddr,

    /// Threads, each with an executor [default: one per core that this process may use]
    #[arg(long)]
    pub cores: Option<NonZeroUsize>,

    /// How long what is under way may take once it is time to stop, in milliseconds
    #[arg(long, default_value_t = 10_000)]
    grace_ms: u64,
}

impl Options {
    /// How long what is under way may take once it is time to stop.
    pub fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }
}
