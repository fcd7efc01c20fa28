//! What `compare` says.

use super::{BACKGROUND_SHARE, CLOCKWORKER, Compare, LOCAL_SET, NS_PER_POLL, Shape, by_scenario};
use crate::beside::scene::{BACKGROUND_RATE, CPU_USED, OFFERED_LOAD, P99, QUEUEING_DELAY, TOTAL_LATENCY};
use crate::beside::scene::{curves, ended, lateness};
use crate::harness::{Arm, Cell, Report, rows};
use crate::measurements::overhead::chapter::costs;
use crate::numbers::percent;
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table};
use crate::stats::{self, Estimate};

const COSTS: [&str; 4] = ["woken_first_one_queue", "woken_first_two_queues", "qlas", "las"];

pub(super) fn of(report: &Report<Compare>) -> Chapter {
    let mut chapter = Chapter::default();
    let (overhead, background) = by_scenario(&report.cells);
    // At the shape with the most yields: nothing but polls.
    if let Some(most) = overhead.iter().max_by_key(|cell| yields(cell)) {
        chapter.headlines.extend(costs(most, COSTS, "compare"));
        chapter.sections.push(of_overhead(report, &overhead));
    }
    for cell in background {
        let shares = format!("{}:{BACKGROUND_SHARE}", report.heading.arguments.foreground_share);
        chapter.headlines.extend(beside(cell, &format!("shares {shares}")));
        chapter.sections.push(of_background(report, cell, &shares));
    }
    chapter.sections.iter_mut().rev().skip(1).for_each(|section| section.bars.clear());
    chapter
}

fn yields(cell: &Cell<Shape>) -> u32 {
    if let Shape::Overhead { yields, .. } = cell.shape { yields } else { 0 }
}

fn of_overhead(report: &Report<Compare>, cells: &[&Cell<Shape>]) -> Section {
    let plot = |cell: &&Cell<Shape>| {
        let bars = cell.arms.iter().map(|arm| (arm.title.clone(), arm.ratio(NS_PER_POLL)));
        let title = format!("Time per poll, {} tasks × yields", cell.title);
        Plot::ratios(title, "× LocalSet, 95 % intervals: less is better", Better::Less, bars)
    };
    let rounds = cells.first().map_or(0, |cell| cell.rounds());
    let table = Table::of(
        format!(
            "Self-waking polls: medians of {rounds} rounds, and ratios paired within a round, with 95 % intervals"
        ),
        rows(cells.iter().copied()),
        [
            ("tasks × yields", |(cell, _): &(&Cell<Shape>, &Arm)| cell.title.clone()),
            ("executor", |(_, arm)| arm.title.clone()),
            ("ns per poll", |(_, arm)| arm.shown(NS_PER_POLL, 1.0)),
            ("× LocalSet", |(_, arm)| arm.compared(NS_PER_POLL)),
        ],
    );
    Section {
        question: "What does the executor itself cost, where tasks do nothing but yield?".to_owned(),
        method: "Every round runs every executor once, in an order drawn anew or in the reverse of \
                 the one before, and divides by LocalSet’s sample of the same round. “LocalSet again” is LocalSet measured twice: the noise floor."
            .to_owned(),
        plots: cells.iter().filter_map(plot).collect(),
        tables: vec![table.with_words(2)],
        ..report.section("What a poll costs")
    }
}

/// Clockworker's p99 over LocalSet's: median and range over the repetitions.
fn p99_over_local_set(cell: &Cell<Shape>) -> Option<Estimate> {
    let (own, base) = (cell.arm(CLOCKWORKER)?, cell.arm(LOCAL_SET)?);
    stats::finite_ratios(own.samples(P99), base.samples(P99)).as_deref().map(stats::median_and_range)
}

fn beside(cell: &Cell<Shape>, shares: &str) -> impl Iterator<Item = Headline> {
    let range = (cell.rounds() > 1).then_some(cell.interval);
    let line = |side, topic: &str, value: Option<Estimate>, better, phrase| {
        Some(Headline::ratio(side, (topic, shares), value, range, better, "compare")?.with_phrase(phrase))
    };
    let (p99, phrase) = ("Foreground p99 beside background ÷ LocalSet’s", "foreground p99 beside it is #");
    let (work, done) = ("Background work done ÷ LocalSet’s", "background work gets # done");
    let rate = cell.arm(CLOCKWORKER).and_then(|own| own.ratio(BACKGROUND_RATE));
    [
        line(Side::Gain, p99, p99_over_local_set(cell), Better::Less, phrase),
        line(Side::Cost, work, rate, Better::More, done),
    ]
    .into_iter()
    .flatten()
}

fn of_background(report: &Report<Compare>, cell: &Cell<Shape>, shares: &str) -> Section {
    let Shape::Background { counted_s, .. } = cell.shape else { return Section::default() };
    let load = cell.arms.first().and_then(|arm| arm.value(OFFERED_LOAD)).unwrap_or_default();
    Section {
        question: "What happens to requests when background work shares their thread?".to_owned(),
        method: format!(
            "Foreground tasks, 1,000 a second, arrive on a schedule made beforehand and offer {} of a core; eight \
             background tasks loop over 100 µs of work and a sleep; {} × {counted_s} s. Clockworker’s queues have the \
             shares {shares}. Latency counts from the intended arrival.",
            percent(load),
            cell.rounds(),
        ),
        plots: plots(cell),
        tables: vec![table(cell)],
        doubts: cell.arms.iter().flat_map(doubts).collect(),
        ..report.section(&cell.title)
    }
}

fn plots(cell: &Cell<Shape>) -> Vec<Plot> {
    let alone = cell.arms.iter().map(|arm| (format!("{} ÷ alone", arm.title), arm.ratio(P99)));
    let bars = alone.chain([("Clockworker ÷ LocalSet with background".to_owned(), p99_over_local_set(cell))]);
    let axis = "ratio, range of repetitions: less is better";
    let ratios = Plot::ratios("Foreground p99", axis, Better::Less, bars);
    ratios.into_iter().chain(curves("Foreground total latency,", cell).into_iter().flatten()).collect()
}

fn table(cell: &Cell<Shape>) -> Table {
    Table::of(
        "Foreground beside background: p50 / p90 / p99 in ms; ratios with the range of repetitions",
        &cell.arms,
        [
            ("executor", |arm: &&Arm| arm.title.clone()),
            ("queueing delay, ms", |arm| three(arm, QUEUEING_DELAY)),
            ("total latency, ms", |arm| three(arm, TOTAL_LATENCY)),
            ("p99 × alone", |arm| arm.compared(P99)),
            ("background loops / s", |arm| arm.shown(BACKGROUND_RATE, 1.0)),
            ("× LocalSet", |arm| arm.compared(BACKGROUND_RATE)),
            ("ended / offered", |arm| ended(arm)),
            ("CPU used", |arm| arm.percent(CPU_USED)),
            ("sent late (p99), µs", |arm| arm.shown("lateness_ns.p99", 1e3)),
        ],
    )
}

fn three(arm: &Arm, distribution: &str) -> String {
    ["p50", "p90", "p99"].map(|part| arm.shown(&format!("{distribution}.{part}"), 1e6)).join(" / ")
}

fn doubts(arm: &Arm) -> impl Iterator<Item = String> {
    let (title, (_, unfinished)) = (&arm.title, arm.counts(TOTAL_LATENCY));
    let unended = (unfinished > 0)
        .then(|| format!("{title}: {unfinished} foreground tasks had not ended at the drain limit"));
    unended.into_iter().chain(lateness(title, arm))
}
