//! What `compare` says.

use super::background::{Arm as Sharing, BACKGROUND_RATE, BACKGROUND_SHARE, CPU_USED, OFFERED_LOAD};
use super::overhead::NS_PER_POLL;
use super::{Compare, Scene};
use crate::beside::figures::{QUEUEING_DELAY, TOTAL_LATENCY, ended, lateness};
use crate::harness::report::{Arm, Cell, Report};
use crate::numbers::percent;
use crate::page::headline::{Better, Headline, Side, TIME_PER_POLL};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::{Plot, distribution, time_by_percentile, turned};
use crate::stats::conclusion::Interval;
use crate::stats::{self, Estimate};

/// The arms on the first screen, with the names they have there.
const COSTS: [(&str, &str); 4] = [
    ("woken_first_one_queue", "one queue"),
    ("woken_first_two_queues", "two queues"),
    ("qlas", "QLAS"),
    ("las", "LAS"),
];

const P99: &str = "total_latency_ns.p99";

/// The chapter of a report.
pub fn of(report: &Report<Compare>) -> Chapter {
    let mut chapter = Chapter::default();
    let is_overhead = |cell: &&Cell<Scene>| matches!(cell.shape, Scene::Overhead { .. });
    let (overhead, background): (Vec<_>, Vec<_>) = report.cells.iter().partition(is_overhead);
    if !overhead.is_empty() {
        chapter.headlines.extend(costs(&overhead));
        chapter.sections.push(of_overhead(report, &overhead));
    }
    for cell in background {
        let shares = format!("{}:{BACKGROUND_SHARE}", report.heading.arguments.foreground_share);
        chapter.headlines.extend(beside(cell, &format!("shares {shares}")));
        chapter.sections.push(of_background(report, cell, &shares));
    }
    if let Some(last) = chapter.sections.last_mut() {
        last.bars = report.bars.clone();
    }
    chapter
}

/// At the shape with the most yields: nothing but polls.
fn costs(cells: &[&Cell<Scene>]) -> Vec<Headline> {
    let yields = |cell: &&&Cell<Scene>| match cell.shape {
        Scene::Overhead { yields, .. } => yields,
        Scene::Background { .. } => 0,
    };
    let Some(cell) = cells.iter().max_by_key(yields) else { return Vec::new() };
    let line = |(arm, name)| {
        let (ratio, kind) = (cell.arm(arm)?.ratio(NS_PER_POLL)?, Some(Interval::Confidence95));
        let line = Headline::ratio(Side::Cost, (TIME_PER_POLL, name), &ratio, kind, Better::Less, "compare");
        Some(match arm {
            "woken_first_one_queue" => line.with_phrase("a poll takes # as it comes"),
            "las" => line.with_phrase("# with LAS"),
            _ => line,
        })
    };
    COSTS.into_iter().filter_map(line).collect()
}

fn of_overhead(report: &Report<Compare>, cells: &[&Cell<Scene>]) -> Section {
    let plot = |cell: &&Cell<Scene>| {
        let bars = cell.arms.iter().map(|arm| (arm.title.clone(), arm.ratio(NS_PER_POLL)));
        let title = format!("Time per poll, {} tasks × yields", cell.title);
        Plot::ratios(title, "× LocalSet, 95 % intervals: less is better", Better::Less, bars)
    };
    let rows = cells.iter().flat_map(|cell| cell.arms.iter().map(move |arm| (cell.title.clone(), arm)));
    let rounds = cells.first().map_or(0, |cell| cell.rounds());
    let table = Table::of(
        format!(
            "Self-waking polls: medians of {rounds} rounds, and ratios paired within a round, with 95 % intervals"
        ),
        rows,
        [
            ("tasks × yields", |(shape, _): &(String, &Arm)| shape.clone()),
            ("executor", |(_, arm)| arm.title.clone()),
            ("ns per poll", |(_, arm)| arm.shown(NS_PER_POLL, 1.0)),
            ("× LocalSet", |(_, arm)| arm.compared(NS_PER_POLL)),
        ],
    );
    Section {
        question: "What does the executor itself cost, where tasks do nothing but yield?".to_owned(),
        method: "Every round runs every executor once, in an order shuffled anew, and divides by LocalSet’s \
                 sample of the same round. “LocalSet again” is LocalSet measured twice: the noise floor."
            .to_owned(),
        plots: cells.iter().filter_map(plot).collect(),
        tables: vec![table.with_words(2)],
        ..report.section("What a poll costs")
    }
}

fn own_and_local_set(cell: &Cell<Scene>) -> Option<(&Arm, &Arm)> {
    cell.arm(Sharing::Clockworker.key()).zip(cell.arm(Sharing::LocalSet.key()))
}

/// Clockworker's p99 over LocalSet's: median and range over the repetitions.
fn p99_over_local_set(cell: &Cell<Scene>) -> Option<Estimate> {
    let (own, base) = own_and_local_set(cell)?;
    stats::finite_ratios(own.samples(P99), base.samples(P99)).as_deref().map(stats::median_and_range)
}

fn beside(cell: &Cell<Scene>, shares: &str) -> Vec<Headline> {
    let range = (cell.rounds() > 1).then_some(cell.interval);
    let line = |side, topic: &str, value: Option<Estimate>, better, phrase| {
        let line = Headline::ratio(side, (topic, shares), &value?, range, better, "compare");
        Some(line.with_phrase(phrase))
    };
    let (p99, phrase) = ("Foreground p99 beside background ÷ LocalSet’s", "foreground p99 beside it is #");
    let (work, done) = ("Background work done ÷ LocalSet’s", "background work gets # done");
    let rate = own_and_local_set(cell).and_then(|(own, _)| own.ratio(BACKGROUND_RATE));
    [
        line(Side::Gain, p99, p99_over_local_set(cell), Better::Less, phrase),
        line(Side::Cost, work, rate, Better::More, done),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_background(report: &Report<Compare>, cell: &Cell<Scene>, shares: &str) -> Section {
    let Scene::Background { counted_s, .. } = cell.shape else { return Section::default() };
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

fn plots(cell: &Cell<Scene>) -> Vec<Plot> {
    let alone = cell.arms.iter().map(|arm| (format!("{} ÷ alone", arm.title), arm.ratio(P99)));
    let bars = alone.chain([("Clockworker ÷ LocalSet with background".to_owned(), p99_over_local_set(cell))]);
    let curves = || cell.arms.iter().map(|arm| (arm.title.clone(), arm.curve(TOTAL_LATENCY)));
    let (title, what) = ("Foreground total latency", "total latency");
    [
        Plot::ratios("Foreground p99", "ratio, range of repetitions: less is better", Better::Less, bars),
        Plot::lines(format!("{title}, by percentile"), time_by_percentile(what), curves()),
        Plot::lines(format!("{title}, distribution"), distribution(what), curves().map(turned)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn table(cell: &Cell<Scene>) -> Table {
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
