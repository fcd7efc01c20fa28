//! The command `service`: what a key-value service gains and loses beside compaction, by its imports alone and by queues.
//!
//! The service is a plain one: a line is a request, each connection is a task, its state is an `Rc<RefCell<HashMap>>`, and
//! each line has a timeout. Compactors work off chunks of CPU time on the same thread and yield between them. On tokio its
//! source is compiled once for each set of imports, so that arms differ by those only; queues differ by some lines of the
//! main function beside it. On monoio the same is done with `monoio::spawn` for a base.
//!
//! A server is a process of its own, with one thread that serves, pinned to one core, as for [`tcp`](super::tcp), whose
//! client this has too. Sixteen connections send when a schedule drawn beforehand says so, and latencies count from that
//! moment. `serving/cell.rs` says how servers take turns.

pub mod arm;
mod chapter;
pub mod options;
mod protocol;
pub mod server;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Measurement, Pinning, Plan, Report, Rounds, report};
use crate::measurements::Keyed;
use crate::page::Chapter;
use crate::serving::cell::{self, Loop};
use crate::serving::host::Host;
use crate::stats::{Bar, Conclusion};

use arm::Arm;
use options::Options;
use protocol::Talk;
use server::Setup;

pub(crate) struct Service;

impl Measurement for Service {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "service";
    const SCHEMA: &'static str = "clockworker-service";
    const QUESTION: &'static str = "What does a service gain and lose, by its imports alone and by queues?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;
    const HOST: &'static str = "as the tables say, each server with its own";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        Ok(cells(options, pinning)?.into_iter().map(|cell| Box::new(cell) as _).collect())
    }

    fn bars(_options: &Options, cells: &[report::Cell<Shape>]) -> Vec<Conclusion> {
        let on_tokio = cells.iter().filter(|cell| cell.shape.host == Host::Tokio);
        on_tokio.flat_map(|cell| AIMS.iter().flat_map(|aim| aim.bars(cell))).collect()
    }
}

/// Chunks a second that the compactors worked off, if there are compactors.
const CHUNKS: &str = "chunk_rate";

const CONNECTIONS: usize = 16;

const THINK_TIME: Duration = Duration::from_millis(2);

/// This part of a window, from its start on, does not count: what has rested has no backlog yet.
const LEAD_PART: u32 = 6;

type Cell = cell::Cell<Shape, Setup, Talk>;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub host: Host,
    pub compactors: u32,
    /// The CPU time that each uses up between two yields, in microseconds, if there are any.
    pub chunk_us: Option<u32>,
    pub window_s: f64,
}

/// Requests a second, of all connections: with exponential think times, together they are a Poisson process.
fn rate() -> f64 {
    CONNECTIONS as f64 / THINK_TIME.as_secs_f64()
}

/// The cells that are asked for, in the order in which they run. There has to be something to compare.
fn cells(options: &Options, pinning: &Pinning) -> Result<Vec<Cell>, Failure> {
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
    fn load(&self) -> String {
        match self.chunk_us {
            None => "none".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
    }
}

/// The chunks that bars are set for. Where there are no compactors, and so no chunks, the bar is that of this length.
const BARRED_CHUNK_US: u32 = 100;

struct Aim {
    arm: Arm,
    /// The mean latency by compactors, in cells of [`BARRED_CHUNK_US`].
    latency: &'static [(u32, f64)],
    /// The latency in every other cell. An arm that has such a bar has all bars of the mean for the p99 too.
    elsewhere: Option<f64>,
    chunks: f64,
}

const IMPORTS: &[(u32, f64)] = &[(0, 1.03), (1, 1.03), (4, 0.5), (16, 0.15)];
const TOKIO_YIELD: &[(u32, f64)] = &[(4, 0.6), (16, 0.6)];
const TWO_QUEUES: &[(u32, f64)] = &[(1, 1.05), (16, 0.12)];

const AIMS: [Aim; 3] = [
    Aim { arm: Arm::Imports, latency: IMPORTS, elsewhere: Some(1.05), chunks: 0.95 },
    Aim { arm: Arm::ImportsTokioYield, latency: TOKIO_YIELD, elsewhere: Some(1.05), chunks: 0.95 },
    Aim { arm: Arm::TwoQueues, latency: TWO_QUEUES, elsewhere: None, chunks: 0.9 },
];

impl Aim {
    fn bars(&self, cell: &report::Cell<Shape>) -> impl Iterator<Item = Conclusion> {
        let Shape { host, compactors, chunk_us, .. } = cell.shape;
        let usual = chunk_us.is_none_or(|chunk| chunk == BARRED_CHUNK_US);
        let listed = self.latency.iter().find(|(number, _)| usual && *number == compactors);
        let latency = listed.map(|(_, limit)| *limit).or(self.elsewhere).map(Bar::AtMost);
        let bars = [
            ("mean", "latency_ns.mean", latency),
            ("p99", "latency_ns.p99", latency.filter(|_| self.elsewhere.is_some())),
            ("chunks per second", CHUNKS, Some(Bar::AtLeast(self.chunks))),
        ];
        bars.into_iter().filter_map(move |(quantity, figure, bar)| {
            let (load, title) = (cell.shape.load(), self.arm.title(host));
            let named = format!("{quantity}, compactors: {load}, {title} ÷ LocalSet");
            cell.conclude(&self.arm.key(), figure, named, Some(bar?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Cell as Found, Figure, arms, options_of};
    use crate::stats::Estimate;

    #[test]
    fn every_combination_is_a_cell_and_no_compactors_are_one() {
        let options = options_of("--host tokio --compactors 0,4 --chunks 20,100").unwrap();
        let cells = cells(&options, &Pinning::detect()).unwrap();
        let titles: Vec<String> = cells.iter().map(|cell| cell.title.clone()).collect();
        let wanted = ["none", "4 × 20 µs", "4 × 100 µs"];
        assert_eq!(titles, wanted.map(|load| format!("tokio, compactors: {load}")));
    }

    fn found(compactors: u32, chunk_us: Option<u32>) -> Found<Shape> {
        let shape = Shape { host: Host::Tokio, compactors, chunk_us, window_s: 1.0 };
        let mut arms = arms(Arm::on(Host::Tokio).map(|arm| (arm.key(), arm.title(Host::Tokio))));
        let ratio = Some(Estimate { median: 0.1, low: 0.1, high: 0.1 });
        let figure = Figure { ratio, base: Some(Arm::Native.key()), ..Figure::default() };
        for arm in &mut arms[1..] {
            let figures = ["latency_ns.mean", "latency_ns.p99", CHUNKS];
            arm.figures = figures.map(|key| (key.to_owned(), figure.clone())).into();
        }
        Found::new("", shape, arms)
    }

    #[test]
    fn every_cell_has_the_bars_that_were_set_for_it() {
        let limits = |compactors, chunk| {
            let bars = Service::bars(&options_of("").unwrap(), &[found(compactors, chunk)]);
            bars.into_iter().filter_map(|bar| bar.bar).collect::<Vec<_>>()
        };
        let (most, least) = (Bar::AtMost, Bar::AtLeast);
        let usual = [most(0.15), most(0.15), least(0.95), most(0.6), most(0.6), least(0.95), most(0.12)];
        assert_eq!(limits(16, Some(100)), [&usual[..], &[least(0.9)]].concat());
        let other = [most(1.05), most(1.05), least(0.95), most(1.05), most(1.05), least(0.95), least(0.9)];
        assert_eq!(limits(16, Some(20)), other);
        assert_eq!(limits(0, None)[..2], [most(1.03), most(1.03)]);
    }
}
