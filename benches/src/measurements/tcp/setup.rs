//! How an echo server is set up: what its process is told.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::serving::host::Host;

/// What runs the server's tasks inside its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawner {
    /// The host's own spawn: `monoio::spawn`, tokio's `LocalSet`, smol's `LocalExecutor`.
    Native,
    /// Clockworker, inside the host.
    Clockworker,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// What it does its I/O with.
    pub host: Host,
    /// What runs its tasks.
    pub spawner: Spawner,
    /// How long Clockworker may keep the thread from its host; the default if there is none.
    pub host_budget: Option<Duration>,
    /// What the thread has to do beside its connections.
    pub background: Option<Background>,
}

/// Work that would take all of the thread, if it were let.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// The CPU time of a poll, at least.
    pub shortest: Duration,
    /// The CPU time of a poll, at most.
    pub longest: Duration,
    /// Whether tasks wake themselves, or each other in pairs.
    pub self_waking: bool,
    /// The share of Clockworker's queue of connections, where the background's is 1.
    pub foreground_share: u32,
    /// Where the lengths of the polls start.
    pub seed: u64,
}

impl Setup {
    /// A server without background, as it comes.
    pub fn plain(host: Host, spawner: Spawner) -> Self {
        Setup { host, spawner, host_budget: None, background: None }
    }
}
