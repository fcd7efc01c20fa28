//! Examples that serve: started, asked, and told to stop.

mod connection;

pub(crate) use connection::Connection;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program;

/// An example that serves, started. Killed when dropped, so that a test that fails leaves nothing behind.
pub(crate) struct Service {
    pub(crate) process: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Service {
    /// Starts the example of that name, and waits until it listens.
    pub(crate) fn start(name: &str, options: &[&str]) -> Self {
        let mut command = Command::new(program::path(name));
        let mut process = command.args(options).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let mut service = Self { process, stdout, address: String::new() };
        let line = service.read_line();
        let address = line.strip_prefix("listening on ").expect(&line);
        let address = address.strip_prefix("http://").unwrap_or(address);
        service.address = address.split(',').next().unwrap().to_owned();
        service
    }

    pub(crate) fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::new(TcpStream::connect(&self.address).unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// What ctrl-c does. Returns when the service takes no more connections.
    pub(crate) fn interrupt(&mut self) {
        self.signal(Signal::INT);
        assert_eq!(self.read_line(), "stopping");
    }

    /// Waits for its end, which is to be a good one. What it printed since.
    pub(crate) fn summary(self) -> Vec<String> {
        let (code, summary) = self.end();
        assert_eq!(code, Some(0), "{summary:?}");
        summary
    }

    /// Waits for its end. Its exit code, and what it printed since.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        let mut summary = String::new();
        self.stdout.read_to_string(&mut summary).unwrap();
        (self.process.wait().unwrap().code(), summary.lines().map(str::to_owned).collect())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
