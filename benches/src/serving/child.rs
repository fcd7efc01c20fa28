//! A server's process, from outside.

use serde::Serialize;

use super::server::{Command, Listening, Usage};
use crate::failure::Failure;
use crate::harness::child::Child;

pub(crate) struct Server {
    process: Child,
    pub listening: Listening,
}

impl Server {
    /// Starts a process of this program as the server that `subcommand` makes of `setup`, and waits until it listens.
    ///
    /// To be called on a thread that is not pinned: the process finds its core by itself.
    pub(crate) fn start(subcommand: &str, setup: &impl Serialize) -> Result<Self, Failure> {
        let setup = serde_json::to_string(setup)
            .map_err(|error| Failure::run(format!("cannot start a server: {error}")))?;
        let mut process = Child::start("a server", [subcommand, &setup])?;
        let listening = process.hear()?;
        Ok(Server { process, listening })
    }

    pub(crate) fn command(&mut self, command: &Command) -> Result<Usage, Failure> {
        self.process.ask(command)
    }
}
