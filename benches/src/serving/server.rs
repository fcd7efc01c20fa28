//! A server's process, from inside: one thread that serves.
//!
//! The process's first thread waits on standard input and costs nothing meanwhile. It answers every command on standard
//! output, where the server has said first where it listens, with what the process has used up. At the end of its input the process ends,
//! so that no server outlives what started it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::failure::Failure;
use crate::harness::child::{answer, say};
use crate::harness::{Pinning, Side};
use crate::process;
use crate::terminal;
use crate::workload::spin;

/// Where every server listens, on a port that the system chooses.
pub(crate) const ADDRESS: &str = "127.0.0.1:0";

/// The buffer of each connection: two of the largest messages, so that a read that fetches one knows it is all there was.
pub(crate) const BUFFER: usize = 8 << 10;

#[derive(Serialize, Deserialize)]
pub(crate) struct Listening {
    pub address: SocketAddr,
    pub driver: String,
}

/// A command for a server's process: lets the background run, or rest. Each is answered with [`Usage`].
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    Go,
    Stop,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Usage {
    /// CPU time of all of its threads; zero where the system does not tell.
    pub cpu: Duration,
    pub work: u64,
}

/// Lets the background run or rest, from another thread. It rests at first.
#[derive(Default)]
pub(crate) struct Gate {
    open: AtomicBool,
    opened: Notify,
    /// Pieces of work so far; written by the server's thread only.
    done: AtomicU64,
}

impl Gate {
    pub(crate) fn set(&self, open: bool) {
        self.open.store(open, Ordering::Release);
        if open {
            self.opened.notify_waiters();
        }
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Does a piece of work, of as much CPU time as `time` says once the background may run.
    pub(crate) async fn work(&self, time: impl FnOnce() -> Duration) {
        while !self.open.load(Ordering::Acquire) {
            // It is woken by what opens the gate from here on; what did so before is seen.
            let opened = self.opened.notified();
            if !self.open.load(Ordering::Acquire) {
                opened.await;
            }
        }
        spin::burn(time());
        // One writer: a load and a store do.
        self.done.store(self.done() + 1, Ordering::Relaxed);
    }
}

pub(crate) struct World<S> {
    pub setup: S,
    pub gate: Arc<Gate>,
}

impl<S> World<S> {
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
    pinning.thread(Side::Measured, move || {
        let Err(error) = serve(&world);
        give_up(&error);
    });
    pinning.pin(Side::Load);
    answer(|command: Command| {
        gate.set(command == Command::Go);
        Ok(Usage { cpu: process::cpu_time(), work: gate.done() })
    })
}

/// A server that cannot go on ends at once: its client then sees its connections closed, and fails.
pub(crate) fn give_up(error: &io::Error) -> ! {
    terminal::complain(&Failure::run(format!("the server failed: {error}")));
    std::process::exit(1)
}

/// Does nothing for ever: what a host is given as its main future, so that connections are tasks like any other.
pub(crate) async fn forever() -> Infallible {
    std::future::pending().await
}
