//! A server's process, from inside: one thread serves, and another one says how many chunks the compactors have worked off.
//!
//! It is asked on standard input, and costs nothing meanwhile. It answers on standard output, where the server has said first
//! on which address it listens. No server outlives the measurement: the process ends with its input, and on Linux also while it
//! is stopped.

#[cfg(all(feature = "rivals", target_os = "linux"))]
mod on_monoio;
mod on_tokio;

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use clockworker::schedulers::Qlas;
use clockworker::{Executor, compat};
use serde::{Deserialize, Serialize};

use super::protocol::{Dialogue, MEMBERS, Protocol, http};
use crate::arms::Runner;
use crate::arms::clockworker::{executor_under, two_queues};
use crate::arms::tokio::{LocalRuntime, LocalSet, host};
use crate::harness::child::{answer, say};
use crate::harness::{Pinning, Side};
use crate::workload::spin;

#[path = "server"]
mod local_set {
    pub(super) use super::on_tokio::{Listener, Stream, listen, timeout};
    use tokio::task::{spawn_local, yield_now};

    #[cfg(feature = "axum")]
    mod importer;
    pub(super) mod program;
    pub(super) mod services;
}

#[allow(clippy::duplicate_mod, reason = "that arms are one source is what this is for")]
#[path = "server"]
mod imports {
    pub(super) use super::on_tokio::{Listener, Stream, listen, timeout};
    use clockworker::compat::{spawn_local, yield_now};

    #[cfg(feature = "axum")]
    mod importer;
    pub(super) mod program;
    pub(super) mod services;
}

/// By its imports, but for `yield_now`, which was forgotten.
#[allow(clippy::duplicate_mod, reason = "as above")]
#[path = "server"]
mod tokio_yield {
    pub(super) use super::on_tokio::{Listener, Stream, listen, timeout};
    use clockworker::compat::spawn_local;
    use tokio::task::yield_now;

    pub(super) mod program;
}

#[cfg(all(feature = "rivals", target_os = "linux"))]
#[allow(clippy::duplicate_mod, reason = "as above")]
#[path = "server"]
mod monoio_spawn {
    pub(super) use super::on_monoio::{Listener, Stream, listen, timeout};
    use monoio::spawn as spawn_local;

    /// monoio has no yield of its own, and puts a task that wakes itself before all others, which then starve. One that
    /// waits for another task goes behind them.
    async fn yield_now() {
        spawn_local(async {}).await;
    }

    pub(super) mod program;
}

#[cfg(all(feature = "rivals", target_os = "linux"))]
#[allow(clippy::duplicate_mod, reason = "as above")]
#[path = "server"]
mod imports_in_monoio {
    pub(super) use super::on_monoio::{Listener, Stream, listen, timeout};
    use clockworker::{spawn_local, yield_now};

    pub(super) mod program;
}

/// Where every server listens, on a port that the system chooses.
pub(super) const ADDRESS: &str = "127.0.0.1:0";

/// The buffer of each connection: two of the largest messages, so that a read that fetches one knows it is all there was.
const BUFFER: usize = 8 << 10;

/// A connection on which nothing comes for so long is closed. It is longer than a server rests while others have windows.
const PATIENCE: Duration = Duration::from_secs(300);

/// The CPU time that a compactor uses up between two yields.
const CHUNK: Duration = Duration::from_micros(100);

/// The shares of connections and of compactors.
const SHARES: [u32; 2] = [19, 1];

/// The runtime that does a server's I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Host {
    Tokio,
    /// tokio, with tasks of its own that need not be `Send`.
    LocalRuntime,
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
            Host::LocalRuntime => "LocalRuntime",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Host::Monoio if monoio::utils::detect_uring() => "monoio (io_uring)",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            Host::Monoio => "monoio (epoll)",
        }
    }

    /// The arms that are possible on it.
    pub(super) fn arms(self) -> impl Iterator<Item = Arm> {
        let all = [Arm::Native, Arm::Imports, Arm::TokioYield, Arm::TwoQueues, Arm::Qlas];
        all.into_iter().filter(move |arm| *arm != Arm::TokioYield || self == Host::Tokio)
    }
}

/// What runs a server's tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Arm {
    /// The host's own spawn.
    Native,
    /// Clockworker by its imports alone: one queue, all defaults.
    Imports,
    /// By its imports, as a task of the host's own.
    InTask,
    /// Imports with tokio's own yield_now kept, on tokio only.
    TokioYield,
    /// A queue for connections and one for compactors.
    TwoQueues,
    /// Each connection and each compactor is a group of its own, as a task without a group is one by itself.
    Qlas,
}

/// What is served, and beside what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Program {
    /// The protocol, by a task for each connection.
    Plain,
    /// Its compactors wake each other by channels, and do not yield.
    HandOn,
    /// Also pairs of tasks that wake each other.
    Pairs,
    /// Also a task of the host's that only yields.
    Yielder,
    /// A proxy of the client's own upstream.
    Proxy,
    /// Chat rooms: what a member says goes to all members.
    Chat,
    /// HTTP by `axum::serve` on the host, beside importers.
    Served,
    /// HTTP by hyper on connections that are accepted by hand, beside importers.
    ByHand,
}

/// How a server is made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) host: Host,
    pub(super) protocol: Protocol,
    pub(super) arm: Arm,
    /// Compactors; of the HTTP server, importers.
    pub(super) compactors: u32,
    pub(super) program: Program,
    /// Where a proxy connects to.
    pub(super) upstream: Option<SocketAddr>,
    /// Whether calls of `epoll_wait` are counted, by `strace`.
    pub(super) is_traced: bool,
}

impl Setup {
    pub(super) fn new(host: Host, protocol: Protocol, arm: Arm, compactors: u32) -> Self {
        Setup { host, protocol, arm, compactors, program: Program::Plain, upstream: None, is_traced: false }
    }

    /// What is said on each connection.
    pub(super) fn dialogues(self, seed: u64, connections: usize) -> Vec<Dialogue> {
        match self.program {
            Program::Served | Program::ByHand => http(connections),
            _ => self.protocol.dialogues(seed, connections),
        }
    }

    pub(super) fn is_idle_between_requests(self) -> bool {
        self.compactors == 0 && !matches!(self.program, Program::Pairs | Program::Yielder)
    }

    /// Connections that hear each answer.
    pub(super) fn members(self) -> usize {
        if self.program == Program::Chat { MEMBERS } else { 1 }
    }

    /// What runs its tasks, for tables.
    pub(super) fn title(self) -> &'static str {
        match (self.arm, self.host) {
            (Arm::Native, Host::Tokio) => "LocalSet",
            #[cfg(all(feature = "rivals", target_os = "linux"))]
            (Arm::Native, Host::Monoio) => "monoio spawn",
            (Arm::Native, Host::LocalRuntime) => "LocalRuntime",
            (Arm::InTask, _) => "Clockworker in a task",
            (Arm::Imports, _) => "Clockworker by imports",
            (Arm::TokioYield, _) => "Clockworker by imports, tokio's yield_now",
            (Arm::TwoQueues, _) => "Clockworker, two queues 19:1",
            (Arm::Qlas, _) => "Clockworker, QLAS",
        }
    }
}

/// What a server's process has spent so far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) chunks: u64,
    /// CPU time of all threads but the one that answers.
    pub(super) cpu: Duration,
}

struct World {
    setup: Setup,
    /// Chunks so far; rows of importers.
    chunks: Arc<AtomicU64>,
}

/// Works off a chunk, and counts it.
fn work(chunks: &AtomicU64) {
    spin::burn(CHUNK);
    chunks.fetch_add(1, Ordering::Relaxed);
}

/// Is a server until standard input ends. `setup` is a `Setup` as JSON.
pub fn run(setup: &str) -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let setup: Setup = serde_json::from_str(setup)?;
    let (pinning, chunks) = (Pinning::detect(), Arc::<AtomicU64>::default());
    let world = World { setup, chunks: chunks.clone() };
    pinning.thread(Side::Measured, move || {
        let Err(error) = serve(world);
        give_up(&error);
    });
    pinning.pin(Side::Load);
    answer(|()| {
        let own = spin::cpu_time();
        Ok(Count { chunks: chunks.load(Ordering::Relaxed), cpu: spin::cpu_time_of_process() - own })
    })
}

fn serve(world: World) -> io::Result<Infallible> {
    let Setup { host, arm, .. } = world.setup;
    let executor = if arm == Arm::Qlas { executor_under(Qlas::default()) } else { Executor::new() };
    let queues = (arm == Arm::TwoQueues).then(|| two_queues(&executor, SHARES));
    match host {
        Host::Tokio => {
            let host = self::host();
            match arm {
                Arm::Native => {
                    let local_set = tokio::task::LocalSet::new();
                    host.block_on(local_set.run_until(local_set::services::main(world)))
                }
                Arm::Imports => {
                    let local_set = compat::LocalSet::new();
                    host.block_on(local_set.run_until(imports::services::main(world)))
                }
                Arm::InTask => LocalSet::default().block_on(in_task(world)),
                Arm::TokioYield => {
                    let local_set = compat::LocalSet::new();
                    host.block_on(local_set.run_until(tokio_yield::program::main(world, None)))
                }
                Arm::TwoQueues | Arm::Qlas => {
                    host.block_on(executor.run_until(imports::program::main(world, queues)))
                }
            }
        }
        Host::LocalRuntime => match arm {
            Arm::InTask => LocalRuntime::default().block_on(in_task(world)),
            _ => LocalRuntime::default().block_on(local_set::services::main(world)),
        },
        #[cfg(all(feature = "rivals", target_os = "linux"))]
        Host::Monoio => {
            let host = crate::arms::monoio::Monoio::default();
            if arm == Arm::Native {
                return host.block_on(monoio_spawn::program::main(world, None));
            }
            let is_busy = world.setup.compactors > 0;
            let run = executor.run_until(imports_in_monoio::program::main(world, queues));
            // Beside an executor that is always busy, monoio does all of its work only with timers.
            if is_busy { host.block_on(clockworker::monoio::with_timers(run))? } else { host.block_on(run) }
        }
    }
}

/// Serves in a task of the host's.
async fn in_task(world: World) -> io::Result<Infallible> {
    let serve = async { compat::LocalSet::new().run_until(imports::services::main(world)).await };
    tokio::task::spawn_local(serve).await.map_err(io::Error::other)?
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
