//! A cell: services that are compared with each other, beside the same compaction.
//!
//! All services of a cell are up at the same time, connected, and rest while another has its window. In every round every
//! service has two windows. All services have the same schedules in a round, and others in the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::options::Options;
use super::setup::Setup;
use super::talk::Talk;
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report;
use crate::harness::sample::Sample;
use crate::serving::client::Client;
use crate::serving::contender::{self, Contender};
use crate::serving::host::Host;
use crate::serving::schedule::Schedule;

/// From the intended arrival of a request until its answer.
pub const LATENCY: &str = "latency_ns";

/// From the intended arrival of a request until it was sent.
pub const LATENESS: &str = "lateness_ns";

/// Chunks a second that the compactors worked off, if there are compactors.
pub const CHUNKS: &str = "chunk_rate";

/// How a service's host does its I/O.
pub const DRIVER: &str = "driver";

/// Connections to each service.
pub const CONNECTIONS: usize = 16;

/// The mean time between two requests of a connection.
pub const THINK_TIME: Duration = Duration::from_millis(2);

/// How long the last answers may take, beside compactors that go on.
const LIMIT: Duration = Duration::from_millis(500);

/// This part of a window, from its start on, does not count: what has rested has no backlog yet.
const LEAD_PART: u32 = 6;

/// Windows that a service has in a round.
const WINDOWS: u64 = 2;

/// What a window takes beside its length, about.
const BETWEEN_WINDOWS: Duration = Duration::from_millis(10);

/// Services that are compared, beside the same compaction.
#[derive(Debug)]
pub struct Cell {
    shape: Shape,
    arms: Vec<Arm>,
    window: Duration,
    seed: u64,
    /// What tells this cell's random numbers from those of others.
    part: u64,
    pinning: Pinning,
    /// The services, once they are started.
    contenders: Vec<Contender<Talk>>,
}

/// Host and compaction of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The services' host.
    pub host: Host,
    /// Tasks beside the connections that always have work.
    pub compactors: u32,
    /// The CPU time that each uses up between two yields, in microseconds, if there are any.
    pub chunk_us: Option<u32>,
    /// How long each window is, in seconds.
    pub window_s: f64,
}

/// Requests a second, of all connections.
pub fn rate() -> f64 {
    CONNECTIONS as f64 / THINK_TIME.as_secs_f64()
}

/// The cells that are asked for, in the order in which they run.
///
/// # Errors
///
/// If there is nothing to compare.
pub fn plan(options: &Options, pinning: &Pinning) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for host in options.hosts() {
        let arms = options.arms(host);
        if arms.len() < 2 {
            let reason =
                format!("--arms: there is nothing to compare with {} on {}", host.native(), host.title());
            return Err(Failure::request(reason));
        }
        for (compactors, chunk_us) in options.loads() {
            let window = options.window();
            cells.push(Cell {
                shape: Shape { host, compactors, chunk_us, window_s: window.as_secs_f64() },
                arms: arms.clone(),
                window,
                seed: options.common.seed,
                part: cells.len() as u64,
                pinning: pinning.clone(),
                contenders: Vec::new(),
            });
        }
    }
    Ok(cells)
}

impl Shape {
    /// How much compaction there is, in a few words.
    pub fn load(&self) -> String {
        match self.chunk_us {
            None => "none".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
    }
}

impl Cell {
    fn title(&self) -> String {
        format!("{}, compactors: {}", self.shape.host.title(), self.shape.load())
    }

    /// How the services are set up.
    fn setups(&self) -> impl Iterator<Item = Setup> {
        let Shape { host, compactors, chunk_us, .. } = self.shape;
        let chunk = Duration::from_micros(chunk_us.unwrap_or(0).into());
        self.arms.iter().map(move |&arm| Setup { host, arm, compactors, chunk })
    }

    /// Poisson: with a think time that is exponential on every connection all together are that.
    fn schedule(&self, window: u64) -> Schedule {
        let part = (self.part << 40) | (window & 0xff_ffff_ffff);
        let lead = self.window / LEAD_PART;
        Schedule::draw(self.seed, part, rate(), CONNECTIONS, self.window).with_lead(lead)
    }
}

impl Experiment<Shape> for Cell {
    fn start(&mut self) -> Result<(), Failure> {
        let talk = || Talk::new(self.seed, CONNECTIONS);
        let alone = self.pinning.apart();
        self.contenders = contender::start("service-server", self.setups(), CONNECTIONS, talk, alone)?;
        Ok(())
    }

    fn cells(&self) -> Vec<report::Cell<Shape>> {
        let title = |arm: &Arm| (arm.key().to_owned(), arm.title(self.shape.host));
        let mut arms = report::arms(self.arms.iter().map(title));
        for (arm, contender) in arms.iter_mut().zip(&self.contenders) {
            arm.facts.insert(DRIVER.to_owned(), contender.server.driver().to_owned());
        }
        vec![report::Cell::new(self.title(), self.shape.clone(), arms)]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let schedule = self.schedule(window.round.wrapping_mul(WINDOWS) | window.turn as u64);
        let run = |client: &mut Client<Talk>| client.open(&schedule, LIMIT);
        let (open, usage) = self.contenders[window.arm].window(run)?;
        let sample =
            Sample::default().with_values(LATENCY, open.latencies).with_values(LATENESS, open.lateness);
        Ok(match self.shape.compactors {
            0 => sample,
            _ => sample.with_rate(CHUNKS, usage.polls as f64, open.elapsed.as_secs_f64()),
        })
    }

    fn rounds(&self) -> Rounds {
        Rounds { usual: 16, limit: None, warms_up: true }
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn turns(&self) -> usize {
        WINDOWS as usize
    }

    fn round_takes(&self) -> Option<Duration> {
        Some((self.window + BETWEEN_WINDOWS) * (WINDOWS as u32 * self.arms.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::options::options_of;

    fn cells(line: &str) -> Result<Vec<Cell>, Failure> {
        plan(&options_of(&format!("--host tokio {line}")).unwrap(), &Pinning::detect())
    }

    #[test]
    fn every_combination_is_a_cell_and_no_compactors_are_one() {
        let titles: Vec<String> =
            cells("--compactors 0,4 --chunks 20,100").unwrap().iter().map(Cell::title).collect();
        let wanted =
            ["tokio, compactors: none", "tokio, compactors: 4 × 20 µs", "tokio, compactors: 4 × 100 µs"];
        assert_eq!(titles, wanted);
    }

    #[test]
    fn nothing_to_compare_with_is_refused() {
        assert!(cells("--arms native").is_err());
    }
}
