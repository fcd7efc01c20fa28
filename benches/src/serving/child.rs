//! A server's process, from outside.

use std::env;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Deserializer;
use serde_json::de::IoRead;

use super::server::{Command, Listening, Usage};
use crate::failure::Failure;

type Answers = Deserializer<IoRead<BufReader<ChildStdout>>>;

pub(crate) struct Server {
    process: Child,
    commands: ChildStdin,
    answers: Answers,
    pub listening: Listening,
}

impl Server {
    /// Starts a process of this program as the server that `subcommand` makes of `setup`, and waits until it listens.
    ///
    /// To be called on a thread that is not pinned: the process finds its core by itself.
    pub(crate) fn start(subcommand: &str, setup: &impl Serialize) -> Result<Self, Failure> {
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
        let mut answers = Deserializer::from_reader(BufReader::new(answers));
        // If there is no answer, the process has ended, or does so now that its input does.
        let listening = next(&mut answers)?;
        Ok(Server { process, commands, answers, listening })
    }

    pub(crate) fn command(&mut self, command: &Command) -> Result<Usage, Failure> {
        serde_json::to_writer(&mut self.commands, command)
            .map_err(std::io::Error::from)
            .and_then(|()| self.commands.flush())
            .map_err(|error| Failure::run(format!("a server takes no commands any more: {error}")))?;
        next(&mut self.answers)
    }
}

fn next<T: for<'de> Deserialize<'de>>(answers: &mut Answers) -> Result<T, Failure> {
    T::deserialize(answers).map_err(|error| match error.is_eof() {
        true => Failure::run("a server ended"),
        false => Failure::run(format!("a server does not answer: {error}")),
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        // It would end by itself when its input does, unless something keeps it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
