//! What is compared: the cells, with the compaction and the services of each.
//!
//! In every round every service has two windows. All services have the same schedules in a round, and others in the next.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::server::Setup;
use super::talk::Talk;
use crate::failure::Failure;
use crate::harness::experiment::Rounds;
use crate::harness::pinning::Pinning;
use crate::serving::cell::{self, Loop};
use crate::serving::host::Host;

/// Chunks a second that the compactors worked off, if there are compactors.
pub(super) const CHUNKS: &str = "chunk_rate";

pub(super) const CONNECTIONS: usize = 16;

/// The mean time between two requests of a connection.
const THINK_TIME: Duration = Duration::from_millis(2);

/// This part of a window, from its start on, does not count: what has rested has no backlog yet.
const LEAD_PART: u32 = 6;

type Cell = cell::Cell<Shape, Setup, Talk>;

/// Host and compaction of a cell.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub host: Host,
    /// Tasks beside the connections that always have work.
    pub compactors: u32,
    /// The CPU time that each uses up between two yields, in microseconds, if there are any.
    pub chunk_us: Option<u32>,
    pub window_s: f64,
}

/// Requests a second, of all connections. With a think time that is exponential on every connection all together are a
/// Poisson process.
pub(super) fn rate() -> f64 {
    CONNECTIONS as f64 / THINK_TIME.as_secs_f64()
}

/// The cells that are asked for, in the order in which they run. There has to be something to compare.
pub(super) fn plan(options: &Options, pinning: &Pinning) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for host in options.hosts() {
        if options.arms(host).len() < 2 {
            let reason =
                format!("--arms: there is nothing to compare with {} on {}", host.native(), host.title());
            return Err(Failure::request(reason));
        }
        for (compactors, chunk_us) in options.loads() {
            let shape = Shape { host, compactors, chunk_us, window_s: options.window().as_secs_f64() };
            let part = cells.len() as u64;
            cells.push(cell(shape, part, options, pinning));
        }
    }
    Ok(cells)
}

fn cell(shape: Shape, part: u64, options: &Options, pinning: &Pinning) -> Cell {
    let Shape { host, compactors, chunk_us, .. } = shape;
    let chunk = Duration::from_micros(chunk_us.unwrap_or(0).into());
    let arms = options.arms(host).into_iter().map(|arm| cell::Arm {
        key: arm.key(),
        title: arm.title(host),
        setup: Setup { host, arm, compactors, chunk },
        has_background: compactors > 0,
    });
    Cell {
        title: format!("{}, compactors: {}", host.title(), shape.load()),
        shape,
        server: "service-server",
        arms: arms.collect(),
        dialogue: |seed, _| Talk::new(seed, CONNECTIONS),
        connections: CONNECTIONS,
        loops: vec![Loop::AtRate(rate())],
        window: options.window(),
        lead: options.window() / LEAD_PART,
        turns: 2,
        rounds: Rounds { usual: 16, limit: None, warms_up: true },
        background: (CHUNKS, 0),
        seed: options.common.seed,
        part,
        pinning: pinning.clone(),
        running: Vec::new(),
    }
}

impl Shape {
    /// How much compaction there is, in a few words.
    pub(super) fn load(&self) -> String {
        match self.chunk_us {
            None => "none".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
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
        let titles: Vec<String> = cells.iter().map(|cell| cell.title.clone()).collect();
        let wanted = ["none", "4 × 20 µs", "4 × 100 µs"];
        assert_eq!(titles, wanted.map(|load| format!("tokio, compactors: {load}")));
    }
}
