//! What `tcp` says.

use super::options::Section as Part;
use super::{BACKGROUND_RATE, Shape, Tcp};
use crate::harness::{Arm, Cell, Report, rows};
use crate::measurements::Keyed;
use crate::numbers::{NOTHING, grouped, micros};
use crate::page::{
    Axis, Better, Chapter, Headline, Plot, Scale, Section, Side, Table, Unit, time_by_percentile,
};
use crate::serving::cell::{
    CPU_PER_ECHO, CPU_USED, DRIVER, ECHO_RATE, LATENCY, LATENESS, MESSAGE_RATE, at_load,
};
use crate::stats::spread::is_worst;
use crate::stats::{self, Interval};

const CONNECTIONS: u32 = 64;
const BYTES: u32 = 1_024;

/// Where messages are sent later than this, latencies say something of the client.
const TOLERABLE_LATENESS_NS: f64 = 50_000.0;

/// What stands above a part, what it answers, and what the ratios of its backgrounds are to.
fn words(part: Part) -> (&'static str, &'static str, &'static str) {
    match part {
        Part::Plain => (
            "TCP echo, alone",
            "What does an echo server pay for Clockworker instead of its host’s own spawn?",
            "",
        ),
        Part::Background => (
            "TCP echo beside background work",
            "What becomes of I/O where the thread has other work too?",
            " (the background’s: to that beside the host’s own spawn)",
        ),
        Part::Budgets => (
            "TCP echo by host budget",
            "What does it cost, and gain, to let the host in more often?",
            " (the background’s: to that at the largest budget)",
        ),
    }
}

pub(super) fn of(report: &Report<Tcp>) -> Chapter {
    let mut chapter = Chapter::default();
    for cells in report.cells.chunk_by(|one, other| one.shape.section == other.shape.section) {
        let part = cells[0].shape.section;
        let (title, question, base) = words(part);
        chapter.headlines.extend(headlines(cells, report.heading.arguments.common.seed));
        chapter.sections.push(Section {
            question: question.to_owned(),
            command: report.heading.command(&format!("tcp --only {}", part.key())),
            method: format!(
        "A pinned server process and one client on the other core, the same for all; windows of {} ms of all servers \
         interleaved, four for each in each loop of a round, {} rounds; ratios paired within a round. Open loops send on a \
         schedule made beforehand, and latency counts from the intended time.",
        (cells[0].shape.window_s * 1e3).round(),
        cells[0].rounds()
    ),
            plots: plots(part, cells),
            tables: vec![closed_loops(base, cells), open_loops(cells)],
            doubts: loops(cells).flat_map(doubts).collect(),
            ..report.section(title)
        });
    }
    chapter.sections.iter_mut().skip(1).for_each(|section| section.bars.clear());
    chapter
}

struct Loop<'a> {
    cell: &'a Cell<Shape>,
    arm: &'a Arm,
    load: u32,
}

impl Loop<'_> {
    fn key(&self, figure: &str) -> String {
        at_load(self.load, figure)
    }

    fn latency(&self, part: &str) -> String {
        self.arm.shown(&self.key(&format!("{LATENCY}.{part}")), 1e3)
    }

    /// Its ratio; a time that was made up has none.
    fn latency_compared(&self, part: &str) -> String {
        let figure = self.key(&format!("{LATENCY}.{part}"));
        match self.arm.value(&figure) {
            Some(nanos) if !is_worst(nanos as u64) => self.arm.compared(&figure),
            _ => NOTHING.to_owned(),
        }
    }
}

fn loops(cells: &[Cell<Shape>]) -> impl Iterator<Item = Loop<'_>> {
    rows(cells).flat_map(|(cell, arm)| cell.shape.loads.iter().map(move |&load| Loop { cell, arm, load }))
}

/// The key of a figure at the load that was asked for first, as a rule the lower one.
fn at_first_load(cell: &Cell<Shape>, figure: &str) -> String {
    at_load(cell.shape.loads.first().copied().unwrap_or(0), figure)
}

/// The cells of the first screen, one for each host: of the connections and bytes that the bars are for, or the most.
fn foremost(cells: &[Cell<Shape>]) -> impl Iterator<Item = &Cell<Shape>> {
    let most = |wanted: u32, all: fn(&Shape) -> u32| {
        cells.iter().map(|cell| all(&cell.shape)).max_by_key(|&number| (number == wanted, number))
    };
    let connections = most(CONNECTIONS, |shape| shape.connections);
    let bytes = most(BYTES, |shape| shape.bytes);
    let is_one = move |shape: &Shape| (Some(shape.connections), Some(shape.bytes)) == (connections, bytes);
    cells.iter().filter(move |cell| is_one(&cell.shape))
}

fn headlines(cells: &[Cell<Shape>], seed: u64) -> Vec<Headline> {
    let of_cell = |cell: &Cell<Shape>| match cell.shape.section {
        Part::Plain => costs(cell),
        Part::Background => gain(cell, seed).into_iter().collect(),
        Part::Budgets => Vec::new(),
    };
    foremost(cells).flat_map(of_cell).collect()
}

fn costs(cell: &Cell<Shape>) -> Vec<Headline> {
    let topic = format!("TCP ÷ plain spawn’s, {} connections", cell.shape.connections);
    let line = |what: &str, figure: &str, better| {
        let label = (&topic, format!("{what}, {}", cell.shape.host.title()));
        let value = cell.arm("clockworker")?.ratio(figure);
        Headline::ratio(Side::Cost, label, value, Some(Interval::Confidence95), better, "tcp")
    };
    let tail = at_first_load(cell, "latency_ns.p999");
    [line("throughput", ECHO_RATE, Better::More), line("p99.9", &tail, Better::Less)]
        .into_iter()
        .flatten()
        .collect()
}

fn gain(cell: &Cell<Shape>, seed: u64) -> Option<Headline> {
    let p99 = at_first_load(cell, "latency_ns.p99");
    let [own, base] = ["clockworker_with_background", "native_with_background"].map(|key| cell.arm(key));
    let value = stats::paired_by_seed(own?.samples(&p99), base?.samples(&p99), seed);
    let label = ("TCP beside background ÷ plain spawn’s", format!("p99, {}", cell.shape.host.title()));
    Headline::ratio(Side::Gain, label, value, Some(Interval::Confidence95), Better::Less, "tcp")
}

fn plots(part: Part, cells: &[Cell<Shape>]) -> Vec<Plot> {
    let (own, base) = match part {
        Part::Plain => ("clockworker", "the host’s own spawn"),
        Part::Background => ("clockworker_with_background", "the host’s own spawn alone"),
        Part::Budgets => return cells.iter().flat_map(by_budget).collect(),
    };
    let plot = |what: &str, figure: fn(&Cell<Shape>) -> String, better, word: &str| {
        let ratio = |cell: &Cell<Shape>| cell.arm(own)?.ratio(&figure(cell));
        let bars = cells.iter().map(|cell| (cell.title.clone(), ratio(cell)));
        let axis = format!("× {base}, 95 %: {word} is better");
        Plot::ratios(format!("{what}, Clockworker"), axis, better, bars)
    };
    let ratios = [
        plot("Throughput", |_| ECHO_RATE.to_owned(), Better::More, "more"),
        plot("p99.9 at the lower load", |cell| at_first_load(cell, "latency_ns.p999"), Better::Less, "less"),
    ];
    ratios.into_iter().flatten().chain(foremost(cells).filter_map(by_percentile)).collect()
}

fn by_percentile(cell: &Cell<Shape>) -> Option<Plot> {
    let points = |arm: &Arm| {
        let mut curve = arm.curve(&at_first_load(cell, LATENCY));
        curve.retain(|(_, nanos)| !is_worst(*nanos as u64));
        curve
    };
    let series = cell.different_arms().map(|arm| (arm.title.clone(), points(arm)));
    Plot::lines(format!("Latency, {}", cell.title), time_by_percentile("latency, open loop"), series)
}

/// The trade: what the background gets done, and how long messages wait, by budget.
fn by_budget(cell: &Cell<Shape>) -> impl Iterator<Item = Plot> + use<> {
    let budgets: Vec<(f64, &Arm)> =
        cell.arms.iter().filter_map(|arm| Some((budget(&arm.key)?, arm))).collect();
    let latency = [("p50", "p50"), ("p99", "p99"), ("p99.9", "p999")].map(|(name, part)| {
        let figure = at_first_load(cell, &format!("{LATENCY}.{part}"));
        let points = budgets.iter().filter_map(|(x, arm)| Some((*x, arm.value(&figure)?)));
        (name.to_owned(), points.collect())
    });
    let done = at_first_load(cell, BACKGROUND_RATE);
    let done = |(x, arm): &(f64, &Arm)| (*x, arm.ratio(&done).map_or(1.0, |ratio| ratio.median));
    let work = [("background polls".to_owned(), budgets.iter().map(done).collect())];
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

/// The host budget in nanoseconds of an arm with that key, if it is one of a row of budgets.
fn budget(key: &str) -> Option<f64> {
    let micros: f64 = key.strip_prefix("budget_")?.strip_suffix("_us")?.parse().ok()?;
    Some(micros * 1e3)
}

fn closed_loops(base: &str, cells: &[Cell<Shape>]) -> Table {
    Table::of(
        format!(
            "Closed loops: medians; ratios to the first line of the same load{base}, with 95 % intervals"
        ),
        rows(cells),
        [
            ("load", |(cell, _): &(&Cell<Shape>, &Arm)| cell.title.clone()),
            ("server", |(_, arm)| arm.title.clone()),
            ("driver", |(_, arm)| arm.facts.get(DRIVER).cloned().unwrap_or_default()),
            ("echoes / s", |(_, arm)| arm.shown(ECHO_RATE, 1.0)),
            ("× first", |(_, arm)| arm.compared(ECHO_RATE)),
            ("CPU used", |(_, arm)| arm.percent(CPU_USED)),
            ("CPU per echo, ns", |(_, arm)| arm.shown(CPU_PER_ECHO, 1.0)),
            ("× first", |(_, arm)| arm.compared(CPU_PER_ECHO)),
            ("background polls / s", |(_, arm)| arm.shown(BACKGROUND_RATE, 1.0)),
            ("× base", |(_, arm)| arm.compared(BACKGROUND_RATE)),
        ],
    )
    .with_words(3)
}

fn open_loops(cells: &[Cell<Shape>]) -> Table {
    Table::of(
        "Open loops: all rounds together; ratios as above",
        loops(cells),
        [
            ("load", |row: &Loop<'_>| row.cell.title.clone()),
            ("server", |row| row.arm.title.clone()),
            ("messages / s", |row| {
                format!("{} ({} %)", row.arm.shown(&row.key(MESSAGE_RATE), 1.0), row.load)
            }),
            ("p50, µs", |row| row.latency("p50")),
            ("× first", |row| row.latency_compared("p50")),
            ("p99, µs", |row| row.latency("p99")),
            ("× first", |row| row.latency_compared("p99")),
            ("p99.9, µs", |row| row.latency("p999")),
            ("× first", |row| row.latency_compared("p999")),
            ("background polls / s", |row| row.arm.shown(&row.key(BACKGROUND_RATE), 1.0)),
            ("× base", |row| row.arm.compared(&row.key(BACKGROUND_RATE))),
            ("not back in time", |row| {
                let (messages, unanswered) = row.arm.counts(&row.key(LATENCY));
                format!("{} of {}", grouped(unanswered), grouped(messages))
            }),
        ],
    )
    .with_words(2)
}

fn doubts(row: Loop<'_>) -> impl Iterator<Item = String> + use<> {
    let named = format!("{}, {} at {} %", row.cell.title, row.arm.title, row.load);
    let (messages, few) = row.arm.counts(&row.key(LATENCY));
    let unanswered = (few > 0).then(|| {
        let (few, all) = (grouped(few), grouped(messages));
        format!("{named}: {few} of {all} messages were not back half a second after the window")
    });
    let late =
        row.arm.value(&row.key(&format!("{LATENESS}.p99"))).filter(|late| *late > TOLERABLE_LATENESS_NS);
    let late =
        late.map(|late| format!("{named}: messages were sent up to {} µs late (p99)", micros(late as u64)));
    unanswered.into_iter().chain(late)
}
