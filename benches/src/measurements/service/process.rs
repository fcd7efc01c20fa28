//! [`Process`]: a server's process, from outside, with what it spends.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use anyhow::Result;

use super::server::{Count, Setup};
use crate::harness::child::Child;
use crate::stopwatch::Stopwatch;

pub(super) struct Process {
    child: Child,
    /// Calls of `epoll_wait` so far, if they are counted.
    epolls: Option<Arc<AtomicU64>>,
}

/// What a server spent during a window.
pub(super) struct Spent {
    /// Chunks a second.
    pub(super) chunks: f64,
    /// CPU time of the thread that serves, in nanoseconds.
    pub(super) cpu: f64,
    /// Calls of `epoll_wait`; NaN if they are not counted.
    pub(super) epolls: f64,
}

/// Stops the server at calls of `epoll_wait` only. All else runs as fast as ever.
const STRACE: [&str; 5] = ["-f", "--seccomp-bpf", "-qq", "-e", "trace=epoll_wait,epoll_pwait,epoll_pwait2"];

/// Whether `strace` can be used.
pub(super) fn can_trace() -> bool {
    Command::new("strace").args(STRACE).arg("true").output().is_ok_and(|output| output.status.success())
}

impl Process {
    /// Starts a server. Where it listens.
    pub(super) fn start(setup: Setup) -> Result<(Self, SocketAddr)> {
        let line = ["service-server", &serde_json::to_string(&setup)?];
        if !setup.is_traced {
            let mut child = Child::start(line)?;
            let address = child.hear()?;
            return Ok((Process { child, epolls: None }, address));
        }
        let mut strace = Command::new("strace");
        let mut child =
            Child::of(strace.args(STRACE).arg(env::current_exe()?).args(line).stderr(Stdio::piped()))?;
        // A line for each call.
        let lines = BufReader::new(child.complaints().expect("it was asked for")).lines();
        let epolls = Arc::<AtomicU64>::default();
        let counted = epolls.clone();
        thread::spawn(move || lines.for_each(|_| counted.store(counted.load(Relaxed) + 1, Relaxed)));
        let address = child.hear()?;
        Ok((Process { child, epolls: Some(epolls) }, address))
    }

    pub(super) fn let_run(&self, run: bool) -> Result<()> {
        self.child.let_run(run)
    }

    /// Lets the server run, and then asks what it spends while `window` lasts.
    pub(super) fn during<T>(&mut self, window: impl FnOnce() -> Result<T>) -> Result<(T, Spent)> {
        self.let_run(true)?;
        let (before, epolls): (Count, f64) = (self.child.ask(&())?, self.epolls());
        let watch = Stopwatch::start();
        let found = window()?;
        let elapsed = watch.elapsed().as_secs_f64();
        let after: Count = self.child.ask(&())?;
        let chunks = (after.chunks - before.chunks) as f64 / elapsed;
        let cpu = after.cpu.saturating_sub(before.cpu).as_nanos() as f64;
        Ok((found, Spent { chunks, cpu, epolls: self.epolls() - epolls }))
    }

    fn epolls(&self) -> f64 {
        self.epolls.as_ref().map_or(f64::NAN, |epolls| epolls.load(Relaxed) as f64)
    }
}
