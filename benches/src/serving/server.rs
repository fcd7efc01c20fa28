//! A server's process, from inside: one thread that serves.
//!
//! The process's first thread waits on standard input and costs nothing meanwhile. It says on standard output where the
//! server listens, and answers every command with what the process has used up. At the end of its input the process ends,
//! so that no server outlives who started it.

use std::convert::Infallible;
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::{process, thread};

use serde::de::DeserializeOwned;

use super::command::{Command, Usage};
use super::gate::Gate;
use crate::failure::Failure;
use crate::harness::pinning::{Pinning, Side};
use crate::terminal;

/// Where every server listens, on a port that the system chooses.
pub const ADDRESS: &str = "127.0.0.1:0";

/// The buffer of each connection: two of the largest messages, so that a read that fetches one knows that it has fetched
/// all there was.
pub const BUFFER: usize = 8 << 10;

/// What a server tells once it listens.
#[derive(Debug)]
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    /// How its host does I/O.
    pub driver: &'static str,
}

/// Reads how a server is set up, which its process is told as an argument of the command line.
///
/// # Errors
///
/// If it is something else.
pub fn read_setup<S: DeserializeOwned>(text: &str) -> Result<S, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Is a server until standard input ends: has `serve` serve on a thread of its own, and obeys meanwhile.
///
/// # Errors
///
/// If it cannot serve, or standard output cannot be written.
pub fn stand(
    serve: impl FnOnce(Arc<Gate>, mpsc::Sender<Listening>) -> io::Result<Infallible> + Send + 'static,
) -> Result<(), Failure> {
    let pinning = Pinning::detect();
    let gate = Arc::new(Gate::default());
    let (listening, listens) = mpsc::channel();
    let server = (gate.clone(), pinning.clone());
    thread::spawn(move || {
        let (gate, pinning) = server;
        pinning.pin(Side::Measured);
        let Err(error) = serve(gate, listening);
        give_up(&error);
    });
    pinning.pin(Side::Load);
    let Listening { address, driver } =
        listens.recv().map_err(|_| Failure::run("the server's thread ended"))?;
    say(format_args!("{address} {driver}"))?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::run(format!("cannot read standard input: {error}")))?;
        obey(Command::read(&line)?, &gate)?;
    }
    Ok(())
}

fn obey(command: Command, gate: &Gate) -> Result<(), Failure> {
    match command {
        Command::Go => gate.open(),
        Command::Stop => gate.shut(),
        Command::Report => {}
    }
    say(format_args!("{}", Usage::now(gate.polls())))
}

fn say(line: std::fmt::Arguments<'_>) -> Result<(), Failure> {
    terminal::print(|out| writeln!(out, "{line}"))
}

/// A server that cannot go on ends at once: its client then sees its connections closed, and fails.
pub fn give_up(error: &io::Error) -> ! {
    terminal::complain(&Failure::run(format!("the server failed: {error}")));
    process::exit(1)
}

/// Does nothing for ever: what a host is given as its main future, so that connections are tasks like any other.
pub async fn forever() -> Infallible {
    std::future::pending().await
}
