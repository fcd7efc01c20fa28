//! The service: a process of its own, with one thread that serves.

#[cfg(target_os = "linux")]
mod monoio;
mod tokio;

use std::convert::Infallible;
use std::io;
use std::sync::mpsc;
use std::time::Duration;

use clockworker::schedulers::Qlas;
use clockworker::{Executor, Queue};

use super::arm::{BACKGROUND_SHARE, FOREGROUND_SHARE};
use super::compaction::Compaction;
use super::setup::Setup;
use crate::failure::Failure;
use crate::serving::host::Host;
use crate::serving::server::{Listening, stand};

/// A connection that says nothing for so long is closed. Longer than a server rests while others have their windows.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a service is given to run with.
#[derive(Debug)]
struct World {
    setup: Setup,
    compaction: Compaction,
    listening: mpsc::Sender<Listening>,
}

/// Is the service until standard input ends.
///
/// # Errors
///
/// If it cannot serve, or standard output cannot be written.
pub fn command(setup: &Setup) -> Result<(), Failure> {
    let setup = setup.clone();
    stand(move |gate, listening| {
        let compaction = Compaction::new(gate, setup.chunk);
        serve(&World { setup, compaction, listening })
    })
}

fn serve(world: &World) -> io::Result<Infallible> {
    match world.setup.host {
        #[cfg(target_os = "linux")]
        Host::Monoio => monoio::serve(world),
        #[cfg(not(target_os = "linux"))]
        Host::Monoio => Err(io::Error::other("monoio needs Linux")),
        Host::Tokio => tokio::serve(world),
        Host::Smol => Err(io::Error::other("this service does not run on smol")),
    }
}

impl World {
    /// A copy of the work for each compactor.
    fn compactions(&self) -> impl Iterator<Item = Compaction> {
        (0..self.setup.compactors).map(|_| self.compaction.clone())
    }

    fn say(&self, listening: Listening) -> io::Result<()> {
        self.listening.send(listening).map_err(io::Error::other)
    }
}

/// A queue for connections and one for compactors, otherwise with the defaults.
fn two_queues(executor: &Executor) -> io::Result<[Queue; 2]> {
    let queue = |name, share| executor.new_queue(name).share(share).create().map_err(io::Error::other);
    Ok([queue("connections", FOREGROUND_SHARE)?, queue("compactors", BACKGROUND_SHARE)?])
}

/// One queue with QLAS, for which a task without a group is one by itself.
fn qlas() -> io::Result<Executor> {
    Executor::builder().scheduler(Qlas::new()).build().map_err(io::Error::other)
}
