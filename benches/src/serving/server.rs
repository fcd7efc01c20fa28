//! A server's process, from inside: one thread that serves.
//!
//! The process's first thread waits on standard input and costs nothing meanwhile. It answers every command on standard
//! output, where the server has said first where it listens, with what the process has used up. At the end of its input the process ends,
//! so that no server outlives what started it.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{process, thread};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::gate::Gate;
use crate::failure::Failure;
use crate::harness::pinning::{Pinning, Side};
use crate::terminal;

/// Where every server listens, on a port that the system chooses.
pub(crate) const ADDRESS: &str = "127.0.0.1:0";

/// The buffer of each connection: two of the largest messages, so that a read that fetches one knows that it has fetched
/// all there was.
pub(crate) const BUFFER: usize = 8 << 10;

/// What a server tells once it listens.
#[derive(Serialize, Deserialize)]
pub(crate) struct Listening {
    pub address: SocketAddr,
    /// How its host does I/O.
    pub driver: String,
}

/// A command for a server's process: lets the background run, or rest. Each is answered with [`Usage`].
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    Go,
    Stop,
}

/// What a server's process has done so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Usage {
    /// CPU time of all of its threads; zero where the system does not tell.
    pub cpu: Duration,
    /// Pieces of work of the background.
    pub work: u64,
}

/// What a server is given to run with.
pub(crate) struct World<S> {
    pub setup: S,
    pub gate: Arc<Gate>,
}

impl<S> World<S> {
    /// Tells where the server listens, and how its host does I/O.
    pub(crate) fn listens(&self, address: SocketAddr, driver: &str) -> io::Result<()> {
        say(&Listening { address, driver: driver.to_owned() })
    }
}

/// Reads how a server is set up, which its process is told as an argument of the command line.
pub(crate) fn read_setup<S: DeserializeOwned>(text: &str) -> Result<S, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Is a server until standard input ends: has `serve` serve on a thread of its own, and obeys meanwhile.
pub(crate) fn stand<S: Clone + Send + 'static>(
    setup: &S,
    serve: fn(&World<S>) -> io::Result<Infallible>,
) -> Result<(), Failure> {
    let pinning = Pinning::detect();
    let gate = Arc::new(Gate::default());
    let world = World { setup: setup.clone(), gate: gate.clone() };
    let server = pinning.clone();
    thread::spawn(move || {
        server.pin(Side::Measured);
        let Err(error) = serve(&world);
        give_up(&error);
    });
    pinning.pin(Side::Load);
    for command in serde_json::Deserializer::from_reader(io::stdin().lock()).into_iter() {
        let command: Command =
            command.map_err(|error| Failure::run(format!("no command for a server: {error}")))?;
        gate.set(command == Command::Go);
        say(&Usage { cpu: cpu(), work: gate.done() })
            .map_err(|error| Failure::run(format!("cannot write to standard output: {error}")))?;
    }
    Ok(())
}

fn say(answer: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    writeln!(out)
}

/// A server that cannot go on ends at once: its client then sees its connections closed, and fails.
pub(crate) fn give_up(error: &io::Error) -> ! {
    terminal::complain(&Failure::run(format!("the server failed: {error}")));
    process::exit(1)
}

/// Does nothing for ever: what a host is given as its main future, so that connections are tasks like any other.
pub(crate) async fn forever() -> Infallible {
    std::future::pending().await
}

#[cfg(unix)]
fn cpu() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn cpu() -> Duration {
    Duration::ZERO
}
