//! What a server's process is told, and what it answers, a line each.

use std::fmt;
use std::time::Duration;

use crate::failure::Failure;

/// A command for a server's process. Each is answered with its [`Usage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Let the background run.
    Go,
    /// Let it rest.
    Stop,
    /// Change nothing.
    Report,
}

/// What a server's process has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all of its threads; zero where the system does not tell.
    pub cpu: Duration,
    /// Polls of the background.
    pub polls: u64,
}

impl Command {
    /// Reads what `Display` wrote.
    ///
    /// # Errors
    ///
    /// If it is no command.
    pub fn read(line: &str) -> Result<Self, Failure> {
        let all = [Command::Go, Command::Stop, Command::Report];
        let found = all.into_iter().find(|command| command.to_string() == line);
        found.ok_or_else(|| Failure::run(format!("'{line}' is no command for a server")))
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Go => "go",
            Command::Stop => "stop",
            Command::Report => "report",
        })
    }
}

impl Usage {
    /// This process's, with what its background has counted.
    pub fn now(polls: u64) -> Self {
        Usage { cpu: cpu(), polls }
    }

    /// Reads what `Display` wrote.
    pub fn read(line: &str) -> Option<Self> {
        let (cpu, polls) = line.trim_end().split_once(' ')?;
        Some(Usage { cpu: Duration::from_nanos(cpu.parse().ok()?), polls: polls.parse().ok()? })
    }

    /// Since `before`.
    pub fn since(self, before: Self) -> Self {
        Usage { cpu: self.cpu.saturating_sub(before.cpu), polls: self.polls - before.polls }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cpu.as_nanos(), self.polls)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_answers_are_read_as_they_were_written() {
        for command in [Command::Go, Command::Stop, Command::Report] {
            assert_eq!(Command::read(&command.to_string()).unwrap(), command);
        }
        assert!(Command::read("gone").is_err());
        let usage = Usage { cpu: Duration::from_nanos(1_234_567_890_123), polls: 42 };
        assert_eq!(Usage::read(&usage.to_string()), Some(usage));
        assert_eq!(Usage::read("12"), None);
    }
}
