//! A server's process, from outside.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};

use serde::Serialize;

use super::command::{Command, Usage};
use crate::failure::Failure;

/// A running server. Dropping it ends its process.
#[derive(Debug)]
pub struct Server {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    address: SocketAddr,
    driver: String,
}

impl Server {
    /// Starts a process of this program as the server that `subcommand` makes of `setup`, and waits until it listens.
    ///
    /// To be called on a thread that is not pinned: the process finds its core by itself.
    ///
    /// # Errors
    ///
    /// If it does not start, or cannot serve.
    pub fn start(subcommand: &str, setup: &impl Serialize) -> Result<Self, Failure> {
        let failed = |error| Failure::run(format!("cannot start a server: {error}"));
        let program = env::current_exe().map_err(failed)?;
        let setup = serde_json::to_string(setup).map_err(|error| failed(error.into()))?;
        let mut process = Process::new(program)
            .args([subcommand, &setup])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(commands), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked for")
        };
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let answers = BufReader::new(answers);
        let mut server = Server { process, commands, answers, address, driver: String::new() };
        let line = server.line()?;
        let (address, driver) = line.split_once(' ').ok_or_else(|| misunderstood(&line))?;
        server.address = address.parse().map_err(|_| misunderstood(&line))?;
        server.driver = driver.to_owned();
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How its host does I/O.
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// Gives it a command; what it has used up so far.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn command(&mut self, command: Command) -> Result<Usage, Failure> {
        writeln!(self.commands, "{command}")
            .map_err(|error| Failure::run(format!("a server takes no commands any more: {error}")))?;
        let line = self.line()?;
        Usage::read(&line).ok_or_else(|| misunderstood(&line))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        match read {
            Ok(length) if length > 0 => Ok(line.trim_end().to_owned()),
            Ok(_) => Err(Failure::run("a server ended")),
            Err(error) => Err(Failure::run(format!("a server does not answer: {error}"))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It would end by itself when its input does, unless something keeps it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn misunderstood(line: &str) -> Failure {
    Failure::run(format!("a server said '{line}'"))
}
