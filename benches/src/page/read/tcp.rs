//! Files of `tcp`: an echo server on several hosts, plainly spawned and on Clockworker.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, NOTHING, compared, number};
use crate::failure::Failure;
use crate::harness::conclusion::{Conclusion, Interval};
use crate::latencies::is_worst;
use crate::numbers::{grouped, percent};
use crate::page::axis::{Axis, Scale, Unit};
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-tcp",
    version: 1,
    arguments: &["tcp", "--only", "plain,background,budgets"],
    question: "What do I/O services pay and gain: throughput and latency of an echo server?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Arguments,
    cells: Vec<Cell>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    title: String,
    section: String,
    host: String,
    connections: u32,
    bytes: u32,
    arms: Vec<Arm>,
}

#[derive(Debug, Deserialize)]
struct Arm {
    arm: String,
    title: String,
    driver: String,
    closed: Closed,
    open: Vec<Open>,
}

#[derive(Debug, Deserialize)]
struct Closed {
    rate: f64,
    rate_ratio: Option<Estimate>,
    cpu_ns: f64,
    cpu_ratio: Option<Estimate>,
    background_rate: Option<f64>,
    background_ratio: Option<Estimate>,
}

#[derive(Debug, Deserialize)]
struct Open {
    load: u32,
    rate: f64,
    latency_ns: [u64; 3],
    latency_ratios: Option<[Estimate; 3]>,
    messages: u64,
    unanswered: u64,
    background_rate: Option<f64>,
    background_ratio: Option<Estimate>,
    rounds: Vec<Round>,
}

#[derive(Debug, Deserialize)]
struct Round {
    p99_ns: f64,
}

/// What `tcp` calls its parts, what they are called here, and what they answer.
const SECTIONS: [(&str, &str, &str); 3] = [
    (
        "plain",
        "TCP echo, alone",
        "What does an echo server pay for Clockworker instead of its host’s own spawn?",
    ),
    (
        "background",
        "TCP echo beside background work",
        "What becomes of I/O where the thread has other work too?",
    ),
    ("budgets", "TCP echo by host budget", "What does it cost, and gain, to let the host in more often?"),
];

/// The cell of the first screen.
const CONNECTIONS: u32 = 64;
const BYTES: u32 = 1_024;

const METHOD: &str = "A pinned server process and one client on the other core, the same for all; windows of all servers \
     interleaved, ratios paired within a round. Open loops send on a schedule made beforehand, and latency counts from the \
     intended time.";

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let mut chapter = Chapter::default();
    for (key, title, question) in SECTIONS {
        let cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.section == key).collect();
        if cells.is_empty() {
            continue;
        }
        chapter.headlines.extend(headlines(&cells, report.arguments.seed));
        chapter.sections.push(Section {
            title: title.to_owned(),
            question: question.to_owned(),
            command: report.arguments.command(&format!("tcp --only {key}")),
            note: report.note.clone(),
            method: METHOD.to_owned(),
            plots: plots(key, &cells),
            tables: vec![closed_loops(&cells), open_loops(&cells)],
            ..Section::default()
        });
    }
    if let Some(first) = chapter.sections.first_mut() {
        first.bars = report.bars;
    }
    Ok(chapter)
}

impl Cell {
    fn arm(&self, key: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.arm == key)
    }
}

/// The cells of the first screen, one for each host: as many connections and bytes as the bars are for, or the most there
/// are.
fn foremost<'a>(cells: &'a [&'a Cell]) -> impl Iterator<Item = &'a Cell> {
    let choose = |wanted: u32, all: &dyn Fn(&Cell) -> u32| {
        let there = cells.iter().map(|cell| all(cell));
        there.max_by_key(|&number| (number == wanted, number)).unwrap_or(wanted)
    };
    let connections = choose(CONNECTIONS, &|cell| cell.connections);
    let bytes = choose(BYTES, &|cell| cell.bytes);
    cells.iter().copied().filter(move |cell| (cell.connections, cell.bytes) == (connections, bytes))
}

fn headlines(cells: &[&Cell], seed: u64) -> Vec<Headline> {
    let mut lines = Vec::new();
    for cell in foremost(cells) {
        match cell.section.as_str() {
            "plain" => lines.extend(costs(cell)),
            "background" => lines.extend(gain(cell, seed)),
            _ => {}
        }
    }
    lines
}

fn costs(cell: &Cell) -> impl Iterator<Item = Headline> + use<> {
    let line = |what: &str, value: &Estimate, better| {
        let label = (
            format!("TCP ÷ plain spawn’s, {} connections", cell.connections),
            format!("{what}, {}", cell.host),
        );
        Headline::ratio(Side::Cost, label, value, Some(Interval::Confidence95), better, "tcp")
    };
    let arm = cell.arm("clockworker");
    let throughput = arm.and_then(|arm| arm.closed.rate_ratio);
    let tail = arm.and_then(|arm| arm.open.first()?.latency_ratios);
    [
        throughput.map(|value| line("throughput", &value, Better::More)),
        tail.map(|[.., p999]| line("p99.9", &p999, Better::Less)),
    ]
    .into_iter()
    .flatten()
}

/// Beside the same background, plainly spawned.
fn gain(cell: &Cell, seed: u64) -> Option<Headline> {
    let [own, base] = ["clockworker_with_background", "native_with_background"].map(|key| {
        Some(cell.arm(key)?.open.first()?.rounds.iter().map(|round| round.p99_ns).collect::<Vec<_>>())
    });
    let value = parts::paired(&own?, &base?, seed)?;
    let label = ("TCP beside background ÷ plain spawn’s", format!("p99, {}", cell.host));
    Some(Headline::ratio(Side::Gain, label, &value, Some(Interval::Confidence95), Better::Less, "tcp"))
}

fn plots(section: &str, cells: &[&Cell]) -> Vec<Plot> {
    if section == "budgets" {
        return cells.iter().flat_map(|cell| by_budget(cell)).collect();
    }
    let own = if section == "plain" { "clockworker" } else { "clockworker_with_background" };
    let bars = |of: fn(&Arm) -> Option<Estimate>| {
        cells.iter().map(|cell| (cell.title.clone(), cell.arm(own).and_then(of))).collect::<Vec<_>>()
    };
    let base = if section == "plain" { "the host’s own spawn" } else { "the host’s own spawn alone" };
    let axis = |better: &str| format!("× {base}, 95 %: {better} is better");
    let ratios = [
        Plot::ratios(
            "Throughput, Clockworker",
            axis("more"),
            Better::More,
            bars(|arm| arm.closed.rate_ratio),
        ),
        Plot::ratios(
            "p99.9 at the lower load, Clockworker",
            axis("less"),
            Better::Less,
            bars(|arm| arm.open.first()?.latency_ratios.map(|[.., p999]| p999)),
        ),
    ];
    let percentiles = foremost(cells).filter_map(by_percentile);
    ratios.into_iter().flatten().chain(percentiles).collect()
}

fn by_percentile(cell: &Cell) -> Option<Plot> {
    let points = |arm: &Arm| {
        let latencies = arm.open.first().map_or([0; 3], |open| open.latency_ns);
        let values = [0.5, 0.99, 0.999].into_iter().zip(latencies);
        values.filter(|(_, nanos)| !is_worst(*nanos)).map(|(part, nanos)| (part, nanos as f64)).collect()
    };
    let series = cell.arms.iter().map(|arm| (arm.title.clone(), points(arm)));
    Plot::lines(format!("Latency, {}", cell.title), parts::time_by_percentile("latency, open loop"), series)
}

/// The trade: what the background gets done, and how long messages wait, by budget.
fn by_budget(cell: &Cell) -> impl Iterator<Item = Plot> + use<> {
    let budgets: Vec<(f64, &Open)> = cell.arms.iter().filter_map(Arm::budget).collect();
    let percentile =
        |place: usize| budgets.iter().map(|(x, open)| (*x, open.latency_ns[place] as f64)).collect();
    let latency =
        [("p50", 0), ("p99", 1), ("p99.9", 2)].map(|(name, place)| (name.to_owned(), percentile(place)));
    let done = |(x, open): &(f64, &Open)| Some((*x, open.background_ratio.map_or(1.0, |ratio| ratio.median)));
    let work = [("background polls".to_owned(), budgets.iter().filter_map(done).collect())];
    let x = || Axis::new("host budget", Scale::Log, Unit::Nanos);
    let title = &cell.title;
    [
        Plot::lines(
            format!("Latency by host budget, {title}"),
            (x(), Axis::new("latency, open loop", Scale::Log, Unit::Nanos)),
            latency,
        ),
        Plot::lines(
            format!("Background work by host budget, {title}"),
            (x(), Axis::new("of the largest budget’s", Scale::Linear, Unit::Percent)),
            work,
        ),
    ]
    .into_iter()
    .flatten()
}

impl Arm {
    /// Its host budget in nanoseconds, and what it did in the first open loop, if it is one of a row of budgets.
    fn budget(&self) -> Option<(f64, &Open)> {
        let micros: f64 = self.arm.strip_prefix("budget_")?.strip_suffix("_us")?.parse().ok()?;
        Some((micros * 1e3, self.open.first()?))
    }
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| grouped(value.round() as u64))
}

fn closed_loops(cells: &[&Cell]) -> Table {
    let mut table = Table::new(
        "Closed loops: medians; ratios to the first line of the same load, with 95 % intervals",
        &[
            "load",
            "server",
            "driver",
            "echoes / s",
            "× first",
            "CPU per echo, ns",
            "× first",
            "background polls / s",
            "× plain",
        ],
    )
    .with_words(3);
    let row = |cell: &Cell, arm: &Arm| {
        let closed = &arm.closed;
        let alone = closed.background_rate.is_none();
        vec![
            cell.title.clone(),
            arm.title.clone(),
            arm.driver.clone(),
            rate(Some(closed.rate)),
            compared(closed.rate_ratio.as_ref()),
            if alone { number(closed.cpu_ns) } else { NOTHING.to_owned() },
            compared(closed.cpu_ratio.as_ref()),
            rate(closed.background_rate),
            compared(closed.background_ratio.as_ref()),
        ]
    };
    table.rows = cells.iter().flat_map(|cell| cell.arms.iter().map(|arm| row(cell, arm))).collect();
    table
}

fn open_loops(cells: &[&Cell]) -> Table {
    let mut table = Table::new(
        "Open loops: all rounds together; ratios to the first line of the same load, with 95 % intervals",
        &[
            "load",
            "server",
            "messages / s",
            "p50, µs",
            "× first",
            "p99, µs",
            "× first",
            "p99.9, µs",
            "× first",
            "background polls / s",
            "not back in time",
        ],
    )
    .with_words(2);
    let row = |cell: &Cell, arm: &Arm, open: &Open| {
        let mut row = vec![cell.title.clone(), arm.title.clone()];
        row.push(format!("{} ({})", rate(Some(open.rate)), percent(f64::from(open.load) / 100.0)));
        for (place, &nanos) in open.latency_ns.iter().enumerate() {
            row.push(if is_worst(nanos) { "never".to_owned() } else { number(nanos as f64 / 1e3) });
            row.push(compared(open.latency_ratios.as_ref().map(|ratios| &ratios[place])));
        }
        row.push(rate(open.background_rate));
        row.push(format!("{} of {}", grouped(open.unanswered), grouped(open.messages)));
        row
    };
    let of_cell = |cell: &&Cell| -> Vec<Vec<String>> {
        let cell = *cell;
        cell.arms.iter().flat_map(|arm| arm.open.iter().map(move |open| row(cell, arm, open))).collect()
    };
    table.rows = cells.iter().flat_map(of_cell).collect();
    table
}
