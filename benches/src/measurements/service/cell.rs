//! A cell: servers that are compared under the same load.
//!
//! All servers of a cell are up for all rounds, and all are stopped (`SIGSTOP`) but the one that has its window. The rate of a
//! round's open loop may follow from its own closed loops, so that it has the machine's speed of the moment.

use std::time::Duration;

use anyhow::Result;

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
/// From when a request was due until its answer was read.
pub(super) const LATENCY: &str = "latency_ns";
/// From when a request was due until it was sent.
pub(super) const LATENESS: &str = "lateness_ns";

/// Files that are open beside the connections.
const OTHER_FILES: u64 = 64;

pub(super) struct Cell {
    part: &'static str,
    title: String,
    titles: Vec<String>,
    arms: Vec<Setup>,
    load: Load,
    pinning: Pinning,
    /// Tells its schedules from those of other cells.
    pub(super) number: u64,
    /// By place, once they are started.
    servers: Vec<Running>,
}

struct Running {
    server: Box<dyn Server>,
    compactors: u32,
    /// Answers a second in the closed loop of the round.
    closed_rate: f64,
}

/// What the client does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) start: Start,
    pub(super) connections: usize,
    pub(super) loops: &'static [Loop],
    pub(super) window: Duration,
    pub(super) rounds: u32,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loop {
    /// Each connection has one request under way.
    Closed,
    /// Requests are sent at half the pace of the closed loops before.
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
    /// Latencies, of an open loop.
    pub(super) sample: Sample,
    /// Answers a second.
    pub(super) rate: f64,
    /// Chunks a second.
    pub(super) chunks: f64,
}

impl Cell {
    pub(super) fn new(
        part: &'static str,
        title: String,
        arms: Vec<Setup>,
        load: Load,
        pinning: &Pinning,
    ) -> Self {
        let is_mixed = arms.iter().any(|arm| arm.compactors != arms[0].compactors);
        let title_of = |arm: &Setup| match arm.compactors {
            0 if is_mixed => format!("{}, no compactors", arm.title()),
            _ => arm.title().to_owned(),
        };
        let titles = arms.iter().map(title_of).collect();
        let (pinning, servers) = (pinning.clone(), Vec::new());
        Cell { part, title, titles, arms, load, pinning, number: 0, servers }
    }
}

/// The rate of an open loop at half load: half of what the slowest server does that has no compactors.
fn half_load(closed: impl Iterator<Item = (u32, f64)>) -> f64 {
    let alone = closed.filter(|(compactors, _)| *compactors == 0);
    alone.map(|(_, rate)| rate / 2.0).fold(f64::INFINITY, f64::min)
}

impl Experiment for Cell {
    fn part(&self) -> &str {
        self.part
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn arms(&self) -> &[String] {
        &self.titles
    }

    fn rounds(&self) -> u32 {
        self.load.rounds
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn phases(&self) -> usize {
        self.load.loops.len()
    }

    /// Chunks are compared with those of the first arm that has any.
    fn base(&self, figure: &str) -> usize {
        let with_chunks = || self.arms.iter().position(|arm| arm.compactors > 0);
        if figure.ends_with(CHUNKS) { with_chunks().unwrap_or(0) } else { 0 }
    }

    fn start(&mut self, places: &[usize]) -> Result<()> {
        process::allow_files((places.len() * self.load.connections) as u64 + OTHER_FILES)?;
        for &arm in places {
            let setup = self.arms[arm];
            let server = (self.load.start)(setup, &self.load, &self.pinning)?;
            self.servers.push(Running { server, compactors: setup.compactors, closed_rate: 0.0 });
        }
        Ok(())
    }

    fn sample(&mut self, window: &Window) -> Result<Sample> {
        let closed = self.servers.iter().map(|running| (running.compactors, running.closed_rate));
        let rate = match self.load.loops[window.phase] {
            Loop::Closed => None,
            Loop::HalfLoad => Some(half_load(closed)),
            Loop::Rate(rate) => Some(rate),
        };
        // One schedule for all arms of a round.
        let part = self.number << 32 | u64::from(window.round);
        let running = &mut self.servers[window.place];
        let Found { sample, rate: answered, chunks } = running.server.window(&self.load, rate, part)?;
        let (rate_key, chunks_key) =
            if rate.is_none() { (CLOSED_RATE, CLOSED_CHUNKS) } else { (OPEN_RATE, CHUNKS) };
        if rate.is_none() {
            running.closed_rate = answered;
        }
        let chunks = if running.compactors == 0 { f64::NAN } else { chunks };
        Ok(sample.number(rate_key, answered).number(chunks_key, chunks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_sets_the_pace_unless_it_has_compactors() {
        let found = |compactors| [(0, 100.0), (compactors, 50.0), (0, 150.0)].into_iter();
        assert_eq!([0, 8].map(|compactors| half_load(found(compactors))), [25.0, 50.0]);
    }
}
