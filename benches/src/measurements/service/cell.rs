//! A cell: services that are compared with each other, beside the same compaction.
//!
//! All services of a cell are up at the same time, connected, and rest while another has its window. In every round every
//! service has two windows. All services have the same schedules in a round, and others in the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::server::Setup;
use super::talk::Talk;
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report;
use crate::harness::sample::Sample;
use crate::serving::contest::{Arm, Contest};
use crate::serving::host::Host;
use crate::serving::schedule::Schedule;

/// Chunks a second that the compactors worked off, if there are compactors.
pub(super) const CHUNKS: &str = "chunk_rate";

/// Connections to each service.
pub(super) const CONNECTIONS: usize = 16;

/// The mean time between two requests of a connection.
const THINK_TIME: Duration = Duration::from_millis(2);

/// This part of a window, from its start on, does not count: what has rested has no backlog yet.
const LEAD_PART: u32 = 6;

/// Windows that a service has in a round.
const WINDOWS: u64 = 2;

/// What a window takes beside its length, about.
const BETWEEN_WINDOWS: Duration = Duration::from_millis(10);

/// Services that are compared, beside the same compaction.
pub(super) struct Cell {
    shape: Shape,
    contest: Contest<Setup, Talk>,
}

/// Host and compaction of a cell.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub host: Host,
    /// Tasks beside the connections that always have work.
    pub compactors: u32,
    /// The CPU time that each uses up between two yields, in microseconds, if there are any.
    pub chunk_us: Option<u32>,
    /// How long each window is, in seconds.
    pub window_s: f64,
}

/// Requests a second, of all connections.
pub(super) fn rate() -> f64 {
    CONNECTIONS as f64 / THINK_TIME.as_secs_f64()
}

/// The cells that are asked for, in the order in which they run. There has to be something to compare.
pub(super) fn plan(options: &Options, pinning: &Pinning) -> Result<Vec<Cell>, Failure> {
    let (mut cells, window) = (Vec::new(), options.window());
    for host in options.hosts() {
        let arms = options.arms(host);
        if arms.len() < 2 {
            let reason =
                format!("--arms: there is nothing to compare with {} on {}", host.native(), host.title());
            return Err(Failure::request(reason));
        }
        for (compactors, chunk_us) in options.loads() {
            let chunk = Duration::from_micros(chunk_us.unwrap_or(0).into());
            let contender = |arm: &super::arm::Arm| Arm {
                key: arm.key(),
                title: arm.title(host),
                setup: Setup { host, arm: *arm, compactors, chunk },
            };
            let contest = Contest {
                arms: arms.iter().map(contender).collect(),
                connections: CONNECTIONS,
                window,
                seed: options.common.seed,
                part: cells.len() as u64,
                pinning: pinning.clone(),
                running: Vec::new(),
            };
            let shape = Shape { host, compactors, chunk_us, window_s: window.as_secs_f64() };
            cells.push(Cell { shape, contest });
        }
    }
    Ok(cells)
}

impl Shape {
    /// How much compaction there is, in a few words.
    pub(super) fn load(&self) -> String {
        match self.chunk_us {
            None => "none".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
    }

    fn title(&self) -> String {
        format!("{}, compactors: {}", self.host.title(), self.load())
    }
}

impl Experiment<Shape> for Cell {
    fn start(&mut self) -> Result<(), Failure> {
        let seed = self.contest.seed;
        self.contest.start("service-server", || Talk::new(seed, CONNECTIONS))
    }

    fn cells(&self) -> Vec<report::Cell<Shape>> {
        vec![report::Cell::new(self.shape.title(), self.shape.clone(), self.contest.reported())]
    }

    /// Poisson: with a think time that is exponential on every connection all together are that.
    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let number = window.round.wrapping_mul(WINDOWS) | window.turn as u64;
        let lead = self.contest.window / LEAD_PART;
        let schedule = Schedule { lead, ..self.contest.schedule(number, rate()) };
        let chunks = (self.shape.compactors > 0).then_some(CHUNKS);
        self.contest.open_loop(window.arm, &schedule, "", chunks)
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
        Some((self.contest.window + BETWEEN_WINDOWS) * (WINDOWS as u32 * self.contest.arms.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::options::options_of;

    #[test]
    fn every_combination_is_a_cell_and_no_compactors_are_one() {
        let options = options_of("--host tokio --compactors 0,4 --chunks 20,100").unwrap();
        let cells = plan(&options, &Pinning::detect()).unwrap();
        let titles: Vec<String> = cells.iter().map(|cell| cell.shape.title()).collect();
        let wanted = ["none", "4 × 20 µs", "4 × 100 µs"];
        assert_eq!(titles, wanted.map(|load| format!("tokio, compactors: {load}")));
    }
}
