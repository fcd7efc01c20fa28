//! [`Child`]: a process of this program that is asked on its standard input and answers on its standard output, in JSON.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufReader, Write};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;
use serde_json::de::IoRead;

pub struct Child {
    process: process::Child,
    questions: ChildStdin,
    answers: Deserializer<IoRead<BufReader<ChildStdout>>>,
}

impl Child {
    /// Starts a process of this program.
    ///
    /// To be called on a thread that is not pinned: the process finds its core by itself.
    pub fn start(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments);
        Self::of(&mut command)
    }

    /// Starts a process of this program by a command that has another program run it.
    pub fn of(command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process of this program")?;
        let (Some(questions), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked for")
        };
        Ok(Child { process, questions, answers: Deserializer::from_reader(BufReader::new(answers)) })
    }

    /// Its standard error, if the command that started it has one for others to read.
    pub fn complaints(&mut self) -> Option<ChildStderr> {
        self.process.stderr.take()
    }

    /// What it says next. If there is nothing, the process has ended, or does so when its input does.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T> {
        T::deserialize(&mut self.answers).context("a process of this program does not answer")
    }

    pub fn let_run(&self, run: bool) -> Result<()> {
        let_run(&self.process, run)
    }

    pub fn ask<T: DeserializeOwned>(&mut self, question: &impl Serialize) -> Result<T> {
        serde_json::to_writer(&mut self.questions, question)?;
        // The end of a number or a word such as `null` is known by what follows.
        writeln!(self.questions)?;
        self.questions.flush()?;
        self.hear()
    }
}

/// Lets a process run, or stops it until then.
pub fn let_run(process: &process::Child, run: bool) -> Result<()> {
    let signal = if run { Signal::CONT } else { Signal::STOP };
    Ok(kill_process(Pid::from_child(process), signal)?)
}

impl Drop for Child {
    fn drop(&mut self) {
        // It would end by itself when its input does, unless something keeps it.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Is such a process: answers until its standard input ends.
pub fn answer<Q: DeserializeOwned, A: Serialize>(mut answer: impl FnMut(Q) -> Result<A>) -> Result<()> {
    for question in Deserializer::from_reader(io::stdin().lock()).into_iter() {
        say(&answer(question?)?)?;
    }
    Ok(())
}

/// Says something to the process that started this one.
pub fn say(answer: &impl Serialize) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    writeln!(out)?;
    Ok(())
}
