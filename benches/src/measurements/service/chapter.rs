//! What `service` says.

use super::{CHUNKS, CONNECTIONS, Service, Shape, rate};
use crate::harness::{Arm, Cell, Report, rows};
use crate::numbers::{grouped, micros};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table};
use crate::serving::cell::{DRIVER, LATENCY, LATENESS};
use crate::serving::host::Host;
use crate::stats::spread::TOLERABLE_LATENESS_NS;
use crate::stats::{Estimate, Interval};

const CHUNK_US: u32 = 100;

/// The compactors of the first screen: one shows what it costs, many what you gain.
const ONE: u32 = 1;
const MANY: u32 = 16;

const IMPORTS: &str = "imports";

pub(super) fn of(report: &Report<Service>) -> Chapter {
    let hosts = report.cells.chunk_by(|one, other| one.shape.host == other.shape.host);
    let mut sections: Vec<Section> = hosts.map(|cells| section(report, cells)).collect();
    sections.iter_mut().skip(1).for_each(|section| section.bars.clear());
    Chapter { headlines: headlines(&report.cells), sections }
}

fn section(report: &Report<Service>, cells: &[Cell<Shape>]) -> Section {
    let first = &cells[0];
    let host = first.shape.host.title();
    let driver = first.arms.first().and_then(|arm| arm.facts.get(DRIVER)).map_or("unknown", String::as_str);
    Section {
        command: report.heading.command(&format!("service --host {host}")),
        method: format!(
            "A key-value service on one thread (driver: {driver}), whose {CONNECTIONS} connections send {} requests / s when a \
             schedule drawn beforehand says so; latency counts from that moment. Compactors work off chunks of CPU time on \
             the same thread, and yield between them. {} rounds, each of which measures every arm in two windows of {} ms, in \
             a balanced order.",
            grouped(rate().round() as u64),
            first.rounds(),
            (first.shape.window_s * 1e3).round()
        ),
        plots: plots(host, cells),
        tables: vec![table(cells)],
        doubts: cells.iter().flat_map(doubts).collect(),
        ..report.section(format!("A service on {host}"))
    }
}

fn load(shape: &Shape) -> String {
    if shape.compactors == 0 { "no compactors".to_owned() } else { shape.load() }
}

fn is_usual(cell: &&Cell<Shape>) -> bool {
    cell.shape.chunk_us.is_none_or(|chunk| chunk == CHUNK_US)
}

fn headlines(cells: &[Cell<Shape>]) -> Vec<Headline> {
    let mean = |side, compactors| {
        let usual = cells.iter().filter(|cell| cell.shape.host == Host::Tokio).filter(is_usual);
        let cell = usual.into_iter().find(|cell| cell.shape.compactors == compactors)?;
        let value = cell.arm(IMPORTS)?.ratio("latency_ns.mean");
        let label = ("Imports changed ÷ LocalSet’s", format!("mean, {}", load(&cell.shape)));
        let (kind, better) = (Some(Interval::Confidence95), Better::Less);
        Headline::ratio(side, label, value, kind, better, "service")
    };
    [mean(Side::Cost, ONE), mean(Side::Gain, MANY)].into_iter().flatten().collect()
}

fn plots(host: &str, cells: &[Cell<Shape>]) -> Vec<Plot> {
    let base = cells[0].arms.first().map_or("", |arm| arm.title.as_str());
    let plot = |what: &str, figure: &str, better, word: &str| {
        let of_cell = |cell: &Cell<Shape>| -> Vec<(String, Option<Estimate>)> {
            let named = |arm: &Arm| (format!("{}: {}", load(&cell.shape), arm.title), arm.ratio(figure));
            cell.arms.iter().map(named).collect()
        };
        let bars = cells.iter().filter(is_usual).flat_map(of_cell);
        Plot::ratios(format!("{what}, {host}"), format!("× {base}, 95 %: {word} is better"), better, bars)
    };
    [
        plot("Mean latency", "latency_ns.mean", Better::Less, "less"),
        plot("p99 latency", "latency_ns.p99", Better::Less, "less"),
        plot("Compaction", CHUNKS, Better::More, "more"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn table(cells: &[Cell<Shape>]) -> Table {
    Table::of(
        "Latencies in µs, all rounds together; ratios to the first line of the same compaction, with 95 % intervals",
        rows(cells),
        [
            ("compaction", |(cell, _): &(&Cell<Shape>, &Arm)| load(&cell.shape)),
            ("tasks run by", |(_, arm)| arm.title.clone()),
            ("mean", |(_, arm)| arm.shown("latency_ns.mean", 1e3)),
            ("× first", |(_, arm)| arm.compared("latency_ns.mean")),
            ("p50", |(_, arm)| arm.shown("latency_ns.p50", 1e3)),
            ("× first", |(_, arm)| arm.compared("latency_ns.p50")),
            ("p99", |(_, arm)| arm.shown("latency_ns.p99", 1e3)),
            ("× first", |(_, arm)| arm.compared("latency_ns.p99")),
            ("p99.9", |(_, arm)| arm.shown("latency_ns.p999", 1e3)),
            ("× first", |(_, arm)| arm.compared("latency_ns.p999")),
            ("chunks / s", |(_, arm)| arm.shown(CHUNKS, 1.0)),
            ("× first", |(_, arm)| arm.compared(CHUNKS)),
        ],
    )
    .with_words(2)
}

fn doubts(cell: &Cell<Shape>) -> Vec<String> {
    let unanswered = cell.arms.iter().filter_map(|arm| match arm.counts(LATENCY) {
        (_, 0) => None,
        (all, few) => Some(format!(
            "{}, {}: {} of {} requests were not answered half a second after the window",
            cell.title,
            arm.title,
            grouped(few),
            grouped(all)
        )),
    });
    let late =
        cell.arms.iter().filter_map(|arm| arm.value(&format!("{LATENESS}.p99"))).fold(0.0, f64::max) as u64;
    let late = (late > TOLERABLE_LATENESS_NS).then(|| {
        let micros = micros(late);
        format!("{}: requests were sent up to {micros} µs late (p99): the machine was not quiet", cell.title)
    });
    unanswered.chain(late).collect()
}
