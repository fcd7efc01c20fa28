//! The command `tcp`: an echo server on several hosts, its tasks spawned by the host itself and by clockworker.
//!
//! Every server is a process of its own, with one thread that serves, pinned to one core; the client is one thread of this
//! process, pinned to another, and the same for all. Each connection is one task. The client checks every byte that comes
//! back; a broken connection or a wrong echo ends the run.
//!
//! In a *closed loop* each connection has one message under way, and the throughput counts. In an *open loop* messages are
//! sent when a schedule drawn beforehand says so, and latencies count from that moment, so that a server that falls behind
//! is not let off. `serving/cell.rs` says how servers take turns.
//!
//! In every round, and for each loop in turn, every server has four windows, in balanced order, so that a machine that grows faster or slower meanwhile does so for all.

mod chapter;
pub mod options;
pub mod server;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Measurement, Pinning, Plan, Report, Rounds, or_default, report};
use crate::numbers::grouped;
use crate::page::Chapter;
use crate::process;
use crate::serving::cell::{self, ECHO_RATE, LATENCY, Loop, at_load};
use crate::serving::dialogue::Echoes;
use crate::serving::host::Host;
use crate::stats::{Bar, Conclusion};

use options::{Options, Section};
use server::Setup;

pub(crate) struct Tcp;

/// Files that are open beside a cell's connections.
const OTHER_FILES: u64 = 64;

impl Measurement for Tcp {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "tcp";
    const SCHEMA: &'static str = "clockworker-tcp";
    const QUESTION: &'static str =
        "What do I/O services pay and gain: throughput and latency of an echo server?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;
    const ARGUMENTS: &'static [&'static str] = &["tcp", "--only", "plain,background,budgets"];
    const HOST: &'static str = "as the tables say, each server with its own";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let cells = cells(options, pinning);
        process::allow_files(cells.iter().map(Cell::sockets).max().unwrap_or(0) + OTHER_FILES)?;
        Ok(cells.into_iter().map(|cell| Box::new(cell) as _).collect())
    }

    fn bars(_options: &Options, cells: &[report::Cell<Shape>]) -> Vec<Conclusion> {
        let judged = |cell: &&report::Cell<Shape>| {
            let Shape { section, bytes, host, .. } = cell.shape;
            section == Section::Plain && bytes == BARRED_BYTES && host != Host::Smol
        };
        cells.iter().filter(judged).flat_map(bars_of).collect()
    }
}

/// Polls of the background a second, where there is one: in closed loops, and by load.
const BACKGROUND_RATE: &str = "background_rate";

const ROUNDS: Rounds = Rounds { usual: 40, limit: Some(Duration::from_secs(80)), warms_up: true };

const TURNS: usize = 4;

/// So long from the start of an open loop nothing counts: a server's caches are those of the one before it.
const LEAD: Duration = Duration::from_millis(4);

type Cell = cell::Cell<Shape, Setup, Echoes>;
type Arm = cell::Arm<Setup>;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub section: Section,
    pub host: Host,
    pub connections: u32,
    pub bytes: u32,
    /// CPU time of the background's shortest and longest polls in microseconds, if there is a background.
    pub polls_us: Option<(u32, u32)>,
    /// The rates of the open loops, in percent of the pace in the closed loops.
    pub loads: Vec<u32>,
    pub window_s: f64,
}

fn cells(options: &Options, pinning: &Pinning) -> Vec<Cell> {
    let mut cells = Vec::new();
    for section in options.sections() {
        for host in options.hosts() {
            for shape in shapes(section, host, options) {
                let part = cells.len() as u64;
                cells.push(cell(shape, part, options, pinning));
            }
        }
    }
    cells
}

fn cell(shape: Shape, part: u64, options: &Options, pinning: &Pinning) -> Cell {
    let arms = arms(&shape, options);
    // A background is compared with that beside the native spawn, or with that of the largest budget.
    let base = if shape.section == Section::Budgets { arms.len() - 1 } else { 1 };
    let at_loads = shape.loads.iter().map(|&load| Loop::AtLoad(load));
    Cell {
        title: shape.title(),
        server: "tcp-server",
        arms,
        dialogue: |seed, shape| Echoes::new(seed, shape.bytes as usize),
        connections: shape.connections as usize,
        loops: [Loop::Closed].into_iter().chain(at_loads).collect(),
        window: Duration::from_secs_f64(shape.window_s),
        lead: LEAD,
        turns: TURNS,
        rounds: ROUNDS,
        background: (BACKGROUND_RATE, base),
        seed: options.common.seed,
        part,
        pinning: pinning.clone(),
        running: Vec::new(),
        shape,
    }
}

fn shapes(section: Section, host: Host, options: &Options) -> Vec<Shape> {
    let (quick, plain) = (options.common.quick, section == Section::Plain);
    let (connections, loads): (&[u32], &[u32]) =
        if plain { (&[1, 64, 100], &[50, 70]) } else { (&[64], &[50]) };
    let window = if plain { 60 } else { 120 };
    let (connections, window) = if quick { (&[8][..], 10) } else { (connections, window) };
    let polls: &[(u32, u32)] =
        if section == Section::Budgets && !quick { &[(5, 5), (20, 100)] } else { &[(20, 100)] };
    let polls = or_default(&options.polls, polls).into_iter().map(Some);
    let polls = if plain { vec![None] } else { polls.collect() };
    let window_s = f64::from(options.window.unwrap_or(window)) / 1e3;
    let mut shapes = Vec::new();
    for bytes in or_default(&options.sizes, &[1_024]) {
        for connections in or_default(&options.connections, connections) {
            for &polls_us in &polls {
                let loads = or_default(&options.loads, loads);
                shapes.push(Shape { section, host, connections, bytes, polls_us, loads, window_s });
            }
        }
    }
    shapes
}

fn arms(shape: &Shape, options: &Options) -> Vec<Arm> {
    let native = Setup {
        host: shape.host,
        by_clockworker: false,
        host_budget_us: None,
        foreground_share: options.foreground_share,
        polls_us: None,
        self_waking: options.self_waking,
        seed: options.common.seed,
    };
    let clockworker = Setup { by_clockworker: true, ..native };
    let beside_background = |setup| Setup { polls_us: shape.polls_us, ..setup };
    let own = shape.host.native();
    match shape.section {
        Section::Plain => {
            let base = arm("native", own.to_owned(), native);
            vec![base.clone(), base, arm("clockworker", "Clockworker".to_owned(), clockworker)]
        }
        Section::Background => {
            let with_background = format!("{own} with background");
            let shares = format!("Clockworker, {}:1", options.foreground_share);
            vec![
                arm("native", format!("{own} alone"), native),
                arm("native_with_background", with_background, beside_background(native)),
                arm("clockworker_with_background", shares, beside_background(clockworker)),
            ]
        }
        Section::Budgets => {
            let with_budget = |micros: u32| {
                let setup = Setup { host_budget_us: Some(micros), ..beside_background(clockworker) };
                arm(&format!("budget_{micros}_us"), format!("{} µs", grouped(micros.into())), setup)
            };
            let alone = arm("alone", "without background".to_owned(), clockworker);
            [alone].into_iter().chain(options.budgets().into_iter().map(with_budget)).collect()
        }
    }
}

fn arm(key: &str, title: String, setup: Setup) -> Arm {
    Arm { key: key.to_owned(), title, setup, has_background: setup.polls_us.is_some() }
}

impl Shape {
    fn title(&self) -> String {
        let Shape { host, connections, bytes, polls_us, .. } = self;
        let background = polls_us.map_or_else(String::new, |(shortest, longest)| match shortest == longest {
            true => format!("; background polls of {shortest} µs"),
            false => format!("; background polls of {shortest} to {longest} µs"),
        });
        let plural = if *connections == 1 { "" } else { "s" };
        let (connections, bytes) = (grouped((*connections).into()), grouped((*bytes).into()));
        format!("{}, {connections} connection{plural}, {bytes} B{background}", host.title())
    }
}

const BARRED_BYTES: u32 = 1_024;

const THROUGHPUT: [(u32, f64); 3] = [(1, 0.95), (64, 0.98), (100, 0.98)];

/// What its p99.9 may be of the native spawn's, where there are so many connections.
const TAIL: (u32, f64) = (64, 1.05);

fn bars_of(cell: &report::Cell<Shape>) -> Vec<Conclusion> {
    let connections = cell.shape.connections;
    let Some(&(_, least)) = THROUGHPUT.iter().find(|(number, _)| *number == connections) else {
        return Vec::new();
    };
    let conclude = |what: &str, figure: &str, bar| {
        let named = format!("{what}, {}, Clockworker ÷ native", cell.title);
        cell.conclude("clockworker", figure, named, Some(bar))
    };
    let throughput = conclude("Throughput", ECHO_RATE, Bar::AtLeast(least));
    let (fewest, most) = TAIL;
    let loads = cell.shape.loads.iter().filter(|_| connections >= fewest);
    let tails = loads.filter_map(|&load| {
        let figure = format!("{}.p999", at_load(load, LATENCY));
        conclude(&format!("p99.9 at {load} % load"), &figure, Bar::AtMost(most))
    });
    throughput.into_iter().chain(tails).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Cell as Found, Experiment, Figure, options_of};
    use crate::stats::Estimate;

    fn cells_of(line: &str) -> Vec<Cell> {
        cells(&options_of(&format!("--hosts tokio {line}")).unwrap(), &Pinning::detect())
    }

    #[test]
    fn every_combination_is_a_cell_and_without_options_those_are_that_are_judged() {
        let titles = |line: &str| cells_of(line).iter().map(|cell| cell.title.clone()).collect::<Vec<_>>();
        let judged = ["1 connection", "64 connections", "100 connections"];
        assert_eq!(titles(""), judged.map(|connections| format!("tokio, {connections}, 1,024 B")));
        let combined = titles("--connections 1,64 --sizes 64,4096");
        assert_eq!((combined.len(), combined[3].as_str()), (4, "tokio, 64 connections, 4,096 B"));
    }

    #[test]
    fn a_background_is_measured_by_that_of_the_native_spawn_or_of_the_largest_budget() {
        for (line, polls, wanted) in [
            ("--only background", "20 to 100", "native_with_background"),
            ("--only budgets --budgets 50,500", "5", "budget_500_us"),
        ] {
            let cell = &cells_of(line)[0];
            let title = format!("tokio, 64 connections, 1,024 B; background polls of {polls} µs");
            assert_eq!(cell.title, title);
            assert_eq!(cell.base(&cell.cells()[0], &at_load(50, BACKGROUND_RATE)), Some(wanted));
        }
    }

    /// The bars of cells in which all ratios are 1.
    fn limits(line: &str) -> Vec<Option<Bar>> {
        let plan = cells_of(&format!("--loads 50 {line}"));
        let mut cells: Vec<Found<Shape>> = plan.iter().flat_map(Experiment::cells).collect();
        for arm in cells.iter_mut().flat_map(|cell| &mut cell.arms[1..]) {
            let ratio = Some(Estimate { median: 1.0, low: 1.0, high: 1.0 });
            let figure = || Figure { ratio, base: Some("native".to_owned()), ..Figure::default() };
            arm.figures = [ECHO_RATE, "load_50_latency_ns.p999"].map(|key| (key.to_owned(), figure())).into();
        }
        Tcp::bars(&options_of("").unwrap(), &cells).iter().map(|bar| bar.bar).collect()
    }

    #[test]
    fn bars_are_by_connections_and_only_many_have_one_for_tails() {
        let throughput = [0.95, 0.98].map(|least| Some(Bar::AtLeast(least)));
        let tail = Some(Bar::AtMost(1.05));
        assert_eq!(limits("--connections 1,64"), [throughput[0], throughput[1], tail]);
        assert_eq!(limits("--connections 100"), [throughput[1], tail]);
        for line in ["--connections 1000", "--connections 64 --sizes 64,4096", "--only background"] {
            assert!(limits(line).is_empty(), "{line}");
        }
    }
}
