//! What `priority` says.

use super::options::Section as Part;
use super::{BARRED_ARM, BARRED_POLL_US, Priority, Shape};
use crate::beside::scene::{BACKGROUND_CPU, P99, QUEUEING_DELAY, TOTAL_LATENCY, curves, ended, lateness};
use crate::harness::{Arm, Cell, Report};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table};
use crate::stats::{self, Estimate, Interval};

pub(super) fn of(report: &Report<Priority>) -> Chapter {
    let cells = &report.cells;
    let first = cells
        .iter()
        .find(|cell| (cell.shape.section, cell.shape.background_poll_us) == (Part::Shares, BARRED_POLL_US));
    let (rounds, counted_s) = cells.first().map_or((0, 0.0), |cell| (cell.rounds(), cell.shape.counted_s));
    let section = Section {
        method: format!(
            "{rounds} rounds of {counted_s} s; in each, every executor gets the same schedule of arrivals. Latency counts from \
             the intended arrival. “Foreground only” is what latency could be. Latencies are those of all rounds together; \
             ratios are medians of the rounds’, with 95 % intervals."
        ),
        plots: cells.iter().flat_map(plots).collect(),
        tables: cells.iter().map(table).collect(),
        doubts: cells.iter().flat_map(doubts).collect(),
        ..report.section("Shares and requests")
    };
    let headlines =
        first.map(|cell| headlines(cell, report.heading.arguments.common.seed)).unwrap_or_default();
    Chapter { headlines, sections: vec![section] }
}

fn headlines(cell: &Cell<Shape>, seed: u64) -> Vec<Headline> {
    let (Some(own), Some(base)) = (cell.arm(BARRED_ARM), cell.arm("local_set")) else { return Vec::new() };
    let topic = format!("Beside endless polls of {} µs, shares 99:1", cell.shape.background_poll_us);
    let line = |side, label: &str, value: Option<Estimate>, better| {
        let (names, kind) = ((topic.as_str(), label), Some(Interval::Confidence95));
        Headline::ratio(side, names, value, kind, better, "priority")
    };
    let over = stats::paired_by_seed(own.samples(P99), base.samples(P99), seed);
    [
        line(Side::Gain, "p99 ÷ LocalSet’s", over, Better::Less),
        line(Side::Cost, "p99 ÷ alone", own.ratio(P99), Better::Less),
        line(Side::Cost, "endless work ÷ LocalSet’s", own.ratio(BACKGROUND_CPU), Better::More),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn plots(cell: &Cell<Shape>) -> impl Iterator<Item = Plot> + use<> {
    let bars = cell.arms.iter().map(|arm| (arm.title.clone(), arm.ratio(P99)));
    let axis = "× foreground alone, 95 % intervals: less is better";
    let ratios = Plot::ratios(format!("{}: foreground p99", cell.title), axis, Better::Less, bars);
    ratios.into_iter().chain(curves(&format!("{}:", cell.title), cell).into_iter().flatten())
}

fn table(cell: &Cell<Shape>) -> Table {
    Table::of(
        format!("{}: p50 / p99 / p99.9 in ms; ratios with 95 % intervals", cell.title),
        &cell.arms,
        [
            ("executor", |arm: &&Arm| arm.title.clone()),
            ("queueing delay, ms", |arm| arm.tail(QUEUEING_DELAY, 1e6)),
            ("total latency, ms", |arm| arm.tail(TOTAL_LATENCY, 1e6)),
            ("p50 × alone", |arm| arm.compared("total_latency_ns.p50")),
            ("p99 × alone", |arm| arm.compared(P99)),
            ("background, of a core", |arm| arm.percent(BACKGROUND_CPU)),
            ("× LocalSet", |arm| arm.compared(BACKGROUND_CPU)),
            ("ended / offered", |arm| ended(arm)),
        ],
    )
}

fn doubts(cell: &Cell<Shape>) -> impl Iterator<Item = String> {
    cell.arms.iter().filter_map(|arm| lateness(&format!("{}, {}", cell.title, arm.title), arm))
}
