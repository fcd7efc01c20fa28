//! A cell: servers that are compared under the same load of the [client](super::client).
//!
//! All servers of a cell are up for all rounds, connected, and rest while another has its window. The rate of a round's open
//! loops may follow from its own closed loops, so that it has the machine's speed of the moment.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::client::{Client, Closed};
use super::dialogue::Dialogue;
use super::schedule::Schedule;
use super::server::{Command, Listening, Setup, Usage};
use crate::harness::child::Child;
use crate::harness::{Experiment, Pinning, Sample, Side, Window};
use crate::process;

/// Answers a second in closed loops.
pub(super) const CLOSED_RATE: &str = "closed_rate";
/// Nanoseconds of the server's CPU time for each answer in closed loops, where it has no compactors.
pub(super) const CLOSED_CPU: &str = "closed_cpu_ns";
/// Chunks a second in closed loops, and in open ones.
pub(super) const CLOSED_CHUNKS: &str = "closed_chunks";
pub(super) const CHUNKS: &str = "chunks";
/// From when a request was due until its answer was read.
pub(super) const LATENCY: &str = "latency_ns";
/// From when a request was due until it was sent.
pub(super) const LATENESS: &str = "lateness_ns";
/// Requests a second that were due.
pub(super) const DUE_RATE: &str = "due_rate";

/// How long the last answers of an open loop may take, beside compactors that go on.
const LIMIT: Duration = Duration::from_millis(500);

/// This part of an open loop, from its start on, does not count.
const LEAD_PART: u32 = 6;

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
    running: Vec<Running>,
}

/// What the client does.
pub(super) struct Load {
    pub(super) dialogue: Rc<dyn Dialogue>,
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

struct Running {
    client: Client,
    server: Child,
    setup: Setup,
    /// The closed loop of the round.
    closed: Closed,
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
        let (pinning, running) = (pinning.clone(), Vec::new());
        Cell { part, title, titles, arms, load, pinning, number: 0, running }
    }

    /// Has a window, in which the server's compactors may run. What the client found, and what the server used up.
    fn window<T>(&mut self, place: usize, run: impl FnOnce(&mut Client) -> Result<T>) -> Result<(T, Usage)> {
        let Running { server, client, .. } = &mut self.running[place];
        let before: Usage = server.ask(&Command::Go)?;
        let found = run(client)?;
        let after: Usage = server.ask(&Command::Stop)?;
        client.settle()?;
        let cpu = after.cpu.saturating_sub(before.cpu);
        Ok((found, Usage { cpu, chunks: after.chunks - before.chunks }))
    }

    fn closed_loop(&mut self, place: usize) -> Result<Sample> {
        let length = self.load.window;
        let (closed, usage) = self.window(place, |client| client.closed(length))?;
        let running = &mut self.running[place];
        running.closed = closed;
        let (answers, elapsed) = (closed.answers as f64, closed.elapsed.as_secs_f64());
        let sample = Sample::default().rate(CLOSED_RATE, answers, elapsed);
        Ok(match running.setup.compactors {
            0 => sample.rate(CLOSED_CPU, usage.cpu.as_nanos() as f64, answers.max(1.0)),
            _ => sample.rate(CLOSED_CHUNKS, usage.chunks as f64, elapsed),
        })
    }

    fn open_loop(&mut self, window: &Window, rate: f64) -> Result<Sample> {
        let schedule = self.schedule(window, rate);
        let (open, usage) = self.window(window.place, |client| client.open(&schedule, LIMIT))?;
        let sample = Sample::default()
            .number(DUE_RATE, rate)
            .distribution(LATENCY, open.latencies)
            .distribution(LATENESS, open.lateness);
        Ok(match self.running[window.place].setup.compactors {
            0 => sample,
            _ => sample.rate(CHUNKS, usage.chunks as f64, open.elapsed.as_secs_f64()),
        })
    }

    /// One schedule for all arms of a round.
    fn schedule(&self, window: &Window, rate: f64) -> Schedule {
        let part = self.number << 40 | (window.phase as u64) << 32 | u64::from(window.round);
        let drawn = Schedule::draw(self.load.seed, part, rate, self.load.connections, self.load.window);
        Schedule { lead: self.load.window / LEAD_PART, ..drawn }
    }
}

/// What the rates of open loops are parts of: what the slowest server does that has no compactors.
fn pace(closed: impl Iterator<Item = (u32, Closed)>) -> f64 {
    let alone = closed.filter(|(compactors, _)| *compactors == 0);
    let rates = alone.map(|(_, closed)| closed.answers as f64 / closed.elapsed.as_secs_f64());
    rates.fold(f64::INFINITY, f64::min)
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

    /// Starts all servers, and then the connections to each.
    fn start(&mut self, places: &[usize]) -> Result<()> {
        process::allow_files((places.len() * self.load.connections) as u64 + OTHER_FILES)?;
        let setups = places.iter().map(|&arm| self.arms[arm]);
        let start = |setup| Ok((setup, Child::start(["service-server", &serde_json::to_string(&setup)?])?));
        for (setup, mut server) in setups.map(start).collect::<Result<Vec<_>>>()? {
            let Listening { address } = server.hear()?;
            let (dialogue, alone) = (self.load.dialogue.clone(), self.pinning.apart());
            let client = Client::connect(address, self.load.connections, dialogue, alone)?;
            self.running.push(Running { client, server, setup, closed: Closed::default() });
        }
        Ok(())
    }

    fn sample(&mut self, window: &Window) -> Result<Sample> {
        match self.load.loops[window.phase] {
            Loop::Closed => self.closed_loop(window.place),
            Loop::HalfLoad => {
                let closed = self.running.iter().map(|running| (running.setup.compactors, running.closed));
                let rate = pace(closed) / 2.0;
                self.open_loop(window, rate)
            }
            Loop::Rate(rate) => self.open_loop(window, rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_sets_the_pace_unless_it_has_compactors() {
        let closed = |answers| Closed { answers, elapsed: Duration::from_secs(2) };
        let found = |compactors| [(0, closed(200)), (compactors, closed(100)), (0, closed(300))];
        assert_eq!([0, 8].map(|compactors| pace(found(compactors).into_iter())), [50.0, 100.0]);
    }
}
