//! A cell: servers that are compared under the same load.
//!
//! All servers of a cell stay up, and all are stopped (`SIGSTOP`) but the one that has its window.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use super::schedule::Gap;
use super::server::Setup;
use crate::harness::{Experiment, Pinning, Sample, Side, Window};
use crate::process;

/// Answers a second in closed loops.
pub(super) const CLOSED_RATE: &str = "closed_rate";
/// Requests a second in open loops.
pub(super) const OPEN_RATE: &str = "open_rate";
/// Chunks a second in closed loops, and in open ones.
pub(super) const CLOSED_CHUNKS: &str = "closed_chunks";
pub(super) const CHUNKS: &str = "chunks";
/// From when a request was due until its answer was read, in closed loops and in open ones.
pub(super) const CLOSED_LATENCY: &str = "closed_latency_ns";
pub(super) const LATENCY: &str = "latency_ns";
/// CPU time of the server's thread for each answer, in closed loops and in open ones.
pub(super) const CLOSED_CPU: &str = "closed_cpu_ns";
pub(super) const CPU: &str = "cpu_ns";
/// Calls of `epoll_wait` for each write.
pub(super) const EPOLLS: &str = "epolls";
/// From when a request was due until it was sent.
pub(super) const LATENESS: &str = "lateness_ns";

/// Files that are open beside the connections.
const OTHER_FILES: usize = 64;

/// What the client does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) start: Start,
    pub(super) connections: usize,
    pub(super) loops: &'static [Loop],
    pub(super) window: Duration,
    /// Between requests of an open loop.
    pub(super) gap: Gap,
    pub(super) rounds: u32,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loop {
    /// Each connection has one request under way.
    Closed,
    /// Requests are sent at half the pace of a closed loop that the base had when the round began.
    HalfLoad,
    /// Requests are sent at so many a second.
    Rate(f64),
}

/// A server that is up, with its client. It is stopped outside of its windows.
pub(super) trait Server {
    /// Has a window: an open loop of so many requests a second, or a closed loop. `part` tells its schedule from others.
    fn window(&mut self, load: &Load, rate: Option<f64>, part: u64) -> Result<Found>;
}

/// Starts a server, and stops it when its client is connected. The thread is not pinned.
pub(super) type Start = fn(Setup, &Load, &Pinning) -> Result<Box<dyn Server>>;

/// What was found in a window.
pub(super) struct Found {
    /// Latencies, and what is only found with some servers.
    pub(super) sample: Sample,
    /// Answers a second.
    pub(super) rate: f64,
    /// Chunks a second.
    pub(super) chunks: f64,
    /// CPU time of the server's thread for each answer, in nanoseconds; NaN if it is not known.
    pub(super) cpu: f64,
}

struct Cell {
    arms: Vec<Setup>,
    load: Load,
    pinning: Pinning,
    /// Tells its schedules from those of other cells.
    number: u64,
    /// By place.
    servers: BTreeMap<usize, Box<dyn Server>>,
    /// The round, and the rate of its open loop at half load.
    half_load: Option<(u32, f64)>,
}

/// Chunks are compared with those of the first arm that has any.
pub(super) fn experiment(
    part: &'static str,
    title: String,
    arms: Vec<Setup>,
    load: Load,
    number: u64,
    pinning: &Pinning,
) -> Experiment {
    let is_mixed = arms.iter().any(|arm| arm.compactors != arms[0].compactors);
    let title_of = |arm: &Setup| match arm.compactors {
        0 if is_mixed => format!("{}, no compactors", arm.title()),
        _ => arm.title().to_owned(),
    };
    let titles: Vec<String> = arms.iter().map(title_of).collect();
    let (pinning, servers) = (pinning.clone(), BTreeMap::new());
    let mut cell = Cell { arms, load, pinning, number, servers, half_load: None };
    Experiment::new(part, title, titles, move |window| cell.sample(window))
        .rounds(load.rounds)
        .side(Side::Load)
}

impl Cell {
    fn sample(&mut self, window: &Window) -> Result<Sample> {
        let load = self.load;
        let loops = load.loops.iter();
        loops.copied().try_fold(Sample::default(), |sample, one| {
            let rate = match one {
                Loop::Closed => None,
                Loop::Rate(rate) => Some(rate),
                Loop::HalfLoad => Some(self.half_load(window.round)?),
            };
            // One schedule for all arms of a round.
            let part = self.number << 32 | u64::from(window.round);
            let found = self.server(window.place, window.arm)?.window(&load, rate, part)?;
            let (rate_key, chunks_key, cpu_key) = match rate {
                None => (CLOSED_RATE, CLOSED_CHUNKS, CLOSED_CPU),
                Some(_) => (OPEN_RATE, CHUNKS, CPU),
            };
            let sample = sample.with(found.sample).number(rate_key, found.rate);
            let setup = self.arms[window.arm];
            let chunks = if setup.compactors > 0 { found.chunks } else { f64::NAN };
            // Others use up what the requests leave.
            let cpu = if setup.is_idle_between_requests() { found.cpu } else { f64::NAN };
            Ok(sample.number(chunks_key, chunks).number(cpu_key, cpu))
        })
    }

    fn half_load(&mut self, round: u32) -> Result<f64> {
        if let Some((_, rate)) = self.half_load.filter(|(of, _)| *of == round) {
            return Ok(rate);
        }
        let load = self.load;
        let rate = self.server(0, 0)?.window(&load, None, 0)?.rate / 2.0;
        self.half_load = Some((round, rate));
        Ok(rate)
    }

    /// The server of a place, which is started if it is not there yet.
    fn server(&mut self, place: usize, arm: usize) -> Result<&mut Box<dyn Server>> {
        if !self.servers.contains_key(&place) {
            let files = (self.servers.len() + 1) * self.load.connections + OTHER_FILES;
            process::allow_files(files as u64)?;
            self.pinning.release();
            let server = (self.load.start)(self.arms[arm], &self.load, &self.pinning)?;
            self.pinning.pin(Side::Load);
            self.servers.insert(place, server);
        }
        Ok(self.servers.get_mut(&place).expect("it was just started"))
    }
}
