//! [`Child`]: a process of this program that is asked on its standard input and answers on its standard output, in JSON.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufReader, Write};
use std::process::{self, ChildStdin, ChildStdout, Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;
use serde_json::de::IoRead;

use crate::failure::Failure;

pub(crate) struct Child {
    /// What it is, for complaints.
    what: &'static str,
    process: process::Child,
    questions: ChildStdin,
    answers: Deserializer<IoRead<BufReader<ChildStdout>>>,
}

impl Child {
    /// Starts a process of this program.
    ///
    /// To be called on a thread that is not pinned: the process finds its core by itself.
    pub(crate) fn start(
        what: &'static str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Self, Failure> {
        let failed = |error| Failure::run(format!("cannot start {what}: {error}"));
        let mut process = Command::new(env::current_exe().map_err(failed)?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(questions), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked for")
        };
        Ok(Child { what, process, questions, answers: Deserializer::from_reader(BufReader::new(answers)) })
    }

    /// What it says next. If there is nothing, the process has ended, or does so when its input does.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        T::deserialize(&mut self.answers).map_err(|error| match error.is_eof() {
            true => Failure::run(format!("{} ended", self.what)),
            false => Failure::run(format!("{} does not answer: {error}", self.what)),
        })
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, question: &impl Serialize) -> Result<T, Failure> {
        serde_json::to_writer(&mut self.questions, question)
            .map_err(io::Error::from)
            .and_then(|()| self.questions.flush())
            .map_err(|error| Failure::run(format!("{} takes no commands any more: {error}", self.what)))?;
        self.hear()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It would end by itself when its input does, unless something keeps it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Is such a process: answers until its standard input ends.
pub(crate) fn answer<Q: DeserializeOwned, A: Serialize>(
    mut answer: impl FnMut(Q) -> Result<A, Failure>,
) -> Result<(), Failure> {
    for question in Deserializer::from_reader(io::stdin().lock()).into_iter() {
        let question = question.map_err(|error| Failure::run(format!("no command: {error}")))?;
        say(&answer(question)?)
            .map_err(|error| Failure::run(format!("cannot write to standard output: {error}")))?;
    }
    Ok(())
}

/// Says something to the process that started this one.
pub(crate) fn say(answer: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    writeln!(out)
}
