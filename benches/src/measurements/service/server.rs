//! A server's process, from inside: one thread serves, and another one says how many chunks the compactors have worked off.
//!
//! It is asked on standard input, and costs nothing meanwhile. It answers on standard output, where the server has said first
//! on which address it listens. No server outlives the measurement: the process ends with its input, and on Linux also while it
//! is stopped.

#[cfg(all(feature = "rivals", target_os = "linux"))]
mod monoio;
mod tokio;

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use clockworker::{Executor, Queue};
use serde::{Deserialize, Serialize};

use super::protocol::Protocol;
use crate::harness::child::{answer, say};
use crate::harness::{Pinning, Side};
use crate::workload::spin;

/// Where every server listens, on a port that the system chooses.
const ADDRESS: &str = "127.0.0.1:0";

/// The buffer of each connection: two of the largest messages, so that a read that fetches one knows it is all there was.
const BUFFER: usize = 8 << 10;

/// A connection on which nothing comes for so long is closed. It is longer than a server rests while others have windows.
const PATIENCE: Duration = Duration::from_secs(300);

/// The CPU time that a compactor uses up between two yields.
const CHUNK: Duration = Duration::from_micros(100);

/// The shares of the queues of connections and of compactors.
const FOREGROUND_SHARE: u32 = 19;
const BACKGROUND_SHARE: u32 = 1;

/// The runtime that does a server's I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Host {
    Tokio,
    #[cfg(all(feature = "rivals", target_os = "linux"))]
    Monoio,
}

impl Host {
    pub(super) const ALL: &[Host] = &[
        Host::Tokio,
        #[cfg(all(feature = "rivals", target_os = "linux"))]
        Host::Monoio,
    ];

    /// With the driver that it has on this machine, if it has several.
    pub(super) fn title(self) -> &'static str {
        match self {
            Host::Tokio => "tokio",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Host::Monoio if ::monoio::utils::detect_uring() => "monoio (io_uring)",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Host::Monoio => "monoio (epoll)",
        }
    }

    /// Whether an arm is possible on it, beside the host's own spawn.
    pub(super) fn has(self, arm: Arm) -> bool {
        match arm {
            Arm::Native => false,
            Arm::TokioYield => self == Host::Tokio,
            _ => true,
        }
    }
}

/// What runs a server's tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// The host's own spawn: tokio's LocalSet, or monoio's spawn
    #[value(skip)]
    Native,
    /// Clockworker by its imports alone: one queue, all defaults
    Imports,
    /// Imports with tokio's own yield_now kept, on tokio only
    TokioYield,
    /// A queue for connections and one for compactors, shares 19:1
    TwoQueues,
    /// QLAS: each connection and each compactor is a group of its own
    Qlas,
}

/// How a server is made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) host: Host,
    pub(super) protocol: Protocol,
    pub(super) arm: Arm,
    pub(super) compactors: u32,
}

impl Setup {
    /// What runs its tasks, for tables.
    pub(super) fn title(self) -> &'static str {
        match (self.arm, self.host) {
            (Arm::Native, Host::Tokio) => "LocalSet",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            (Arm::Native, Host::Monoio) => "monoio spawn",
            (Arm::Imports, _) => "Clockworker by imports",
            (Arm::TokioYield, _) => "Clockworker by imports, tokio's yield_now",
            (Arm::TwoQueues, _) => "Clockworker, two queues 19:1",
            (Arm::Qlas, _) => "Clockworker, QLAS",
        }
    }
}

struct World {
    setup: Setup,
    /// Chunks so far.
    chunks: Arc<AtomicU64>,
}

/// Works off a chunk, and counts it.
fn work(chunks: &AtomicU64) {
    spin::burn(CHUNK);
    chunks.fetch_add(1, Ordering::Relaxed);
}

/// Is a server until standard input ends. `setup` is a [`Setup`] as JSON.
pub fn run(setup: &str) -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let setup: Setup = serde_json::from_str(setup)?;
    let (pinning, chunks) = (Pinning::detect(), Arc::<AtomicU64>::default());
    let world = World { setup, chunks: chunks.clone() };
    pinning.thread(Side::Measured, move || {
        let Err(error) = serve(&world);
        give_up(&error);
    });
    pinning.pin(Side::Load);
    answer(|()| Ok(chunks.load(Ordering::Relaxed)))
}

fn serve(world: &World) -> io::Result<Infallible> {
    match world.setup.host {
        Host::Tokio => tokio::serve(world),
        #[cfg(all(feature = "rivals", target_os = "linux"))]
        Host::Monoio => monoio::serve(world),
    }
}

/// The first that a server says.
fn listens(address: io::Result<SocketAddr>) -> io::Result<()> {
    say(&address?).map_err(io::Error::other)
}

/// A server that cannot go on ends at once: its client then sees its connections closed, and fails.
fn give_up(error: &io::Error) -> ! {
    let _ = writeln!(io::stderr(), "error: the server failed: {error}");
    std::process::exit(1)
}

/// The queue of connections and that of compactors.
fn two_queues(executor: &Executor) -> io::Result<[Queue; 2]> {
    let queue = |name, share| executor.new_queue(name).share(share).create().map_err(io::Error::other);
    Ok([queue("connections", FOREGROUND_SHARE)?, queue("compactors", BACKGROUND_SHARE)?])
}
