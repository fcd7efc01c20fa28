//! What `tail` says.

use super::schedule::Service;
use super::served::class_named;
use super::{BARRED, BARRED_ARMS, Shape, Tail};
use super::{OF, OVERHEAD, RESPONSE, SIMULATED_RATIO, SLOWDOWN, STRETCH, UNFINISHED};
use crate::harness::{Arm, Cell, Report, rows};
use crate::measurements::Keyed;
use crate::numbers::{NOTHING, compared, grouped};
use crate::page::{
    Better, Chapter, Headline, Plot, Section, Side, Table, distribution, number_by_percentile, turned,
};
use crate::stats::{self, Estimate, Interval};

/// A thread that was kept from its core for more than this part of the time had a neighbour. Its own times do not count
/// what was taken, but a policy that goes by the clock was told that its jobs had run for longer.
const TOLERABLE_STRETCH: f64 = 1.02;

pub(super) fn of(report: &Report<Tail>) -> Chapter {
    let cells = &report.cells;
    let first = cells.iter().find(|cell| (cell.shape.service, cell.shape.load_percent) == BARRED);
    let Some(first) = first.or(cells.first()) else { return Chapter::default() };
    let section = Section {
        method: format!(
            "Jobs arrive at random (Poisson), on a schedule that all executors get, and are served in pieces of up to \
             {} µs; {} rounds of {} s each. Response counts from the intended arrival; slowdown is response over size. {}.",
            first.shape.piece_us,
            first.rounds(),
            first.shape.window_s,
            services(cells).join("; ")
        ),
        plots: cells.iter().flat_map(plots).collect(),
        tables: [all_jobs(cells, report.heading.arguments.common.seed)]
            .into_iter()
            .chain(cells.iter().map(by_size))
            .collect(),
        doubts: cells.iter().flat_map(doubts).collect(),
        ..report.section("Tail latency")
    };
    Chapter { headlines: headlines(first), sections: vec![section] }
}

fn services(cells: &[Cell<Shape>]) -> Vec<String> {
    let mut services: Vec<Service> = cells.iter().map(|cell| cell.shape.service).collect();
    services.dedup();
    services.into_iter().map(|service| format!("{}: {}", service.key(), service.title())).collect()
}

fn headlines(cell: &Cell<Shape>) -> Vec<Headline> {
    let favoured = || BARRED_ARMS.iter().filter_map(|arm| cell.arm(arm));
    let gain = |arm: &Arm| {
        let label = (format!("p99 slowdown ÷ LocalSet’s, {}", cell.title), &arm.title);
        let kind = Some(Interval::Confidence95);
        let line = Headline::ratio(Side::Gain, label, arm.ratio("slowdown.p99"), kind, Better::Less, "tail")?;
        let phrase = format!("p99 slowdown of jobs # with {}", arm.title);
        Some(if arm.key == "qlas" { line.with_phrase(&phrase) } else { line })
    };
    favoured().filter_map(gain).chain(favoured().filter_map(|arm| price(cell, arm))).collect()
}

fn sizes(cell: &Cell<Shape>) -> Vec<&str> {
    let of_base = cell.arms.first().into_iter().flat_map(|arm| arm.distributions.keys());
    let mut sizes: Vec<&str> =
        of_base.filter_map(|key| key.strip_prefix(SLOWDOWN)?.strip_prefix(OF)).collect();
    sizes.sort_by_key(|size| class_named(size));
    sizes
}

fn price(cell: &Cell<Shape>, arm: &Arm) -> Option<Headline> {
    let sizes = *sizes(cell).last()?;
    let p99 = |arm: &Arm| arm.value(&format!("{SLOWDOWN}{OF}{sizes}.p99"));
    let ratio = p99(arm)? / p99(cell.arms.first()?)?;
    let value = ratio.is_finite().then_some(Estimate { median: ratio, low: ratio, high: ratio });
    let label = (format!("p99 slowdown, jobs of {sizes} ÷ LocalSet’s"), &arm.title);
    Headline::ratio(Side::Cost, label, value, None, Better::Less, "tail")
}

fn plots(cell: &Cell<Shape>) -> impl Iterator<Item = Plot> + use<> {
    let title = &cell.title;
    let bars = cell.arms.iter().map(|arm| (arm.title.clone(), arm.ratio("slowdown.p99")));
    let curves = |of: &'static str| cell.different_arms().map(move |arm| (arm.title.clone(), arm.curve(of)));
    let axis = "× LocalSet, 95 % intervals: less is better";
    [
        Plot::ratios(format!("p99 slowdown, {title}"), axis, Better::Less, bars),
        Plot::lines(
            format!("Slowdown by percentile, {title}"),
            number_by_percentile("slowdown"),
            curves(SLOWDOWN),
        ),
        Plot::lines(
            format!("Response times, {title}"),
            distribution("response time"),
            curves(RESPONSE).map(turned),
        ),
    ]
    .into_iter()
    .flatten()
}

fn all_jobs(cells: &[Cell<Shape>], seed: u64) -> Table {
    Table::of(
        "All jobs: p50 / p99 / p99.9 of all rounds together; ratios are medians of the rounds’ (95 % interval)",
        rows(cells).map(|(cell, arm)| (cell, arm, seed)),
        [
            ("sizes, load", |(cell, ..): &(&Cell<Shape>, &Arm, u64)| cell.title.clone()),
            ("executor", |(_, arm, _)| arm.title.clone()),
            ("mean response, µs", |(_, arm, _)| arm.shown("response_ns.mean", 1e3)),
            ("× LocalSet", |(_, arm, _)| arm.compared("response_ns.mean")),
            ("response, µs", |(_, arm, _)| arm.tail(RESPONSE, 1e3)),
            ("slowdown", |(_, arm, _)| arm.tail(SLOWDOWN, 1.0)),
            ("p99 slowdown × LocalSet", |(_, arm, _)| arm.compared("slowdown.p99")),
            ("mean × simulator", |(_, arm, seed)| {
                compared(stats::estimated_by_seed(arm.samples(SIMULATED_RATIO), *seed).as_ref())
            }),
            ("overhead, ns / poll", |(_, arm, _)| arm.shown(OVERHEAD, 1.0)),
        ],
    )
    .with_words(2)
}

fn by_size(cell: &Cell<Shape>) -> Table {
    let sizes = sizes(cell);
    let rows = cell.arms.iter().flat_map(|arm| sizes.iter().map(move |size| (arm, *size)));
    let caption = "slowdown p50 / p99 / p99.9, the largest, and jobs unfinished at the end";
    Table::of(
        format!("By size, {}: {caption}", cell.title),
        rows,
        [
            ("executor", |(arm, _): &(&Arm, &str)| arm.title.clone()),
            ("sizes", |(_, size)| (*size).to_owned()),
            ("jobs", |(arm, size)| grouped(arm.counts(&format!("{SLOWDOWN}{OF}{size}")).0)),
            ("slowdown", |(arm, size)| arm.tail(&format!("{SLOWDOWN}{OF}{size}"), 1.0)),
            ("largest", |(arm, size)| arm.shown(&format!("{SLOWDOWN}{OF}{size}.max"), 1.0)),
            ("unfinished", |(arm, size)| match arm.samples(&format!("{UNFINISHED}{OF}{size}")) {
                [] => NOTHING.to_owned(),
                samples => grouped(samples.iter().sum::<f64>() as u64),
            }),
        ],
    )
    .with_words(2)
}

fn doubts(cell: &Cell<Shape>) -> impl Iterator<Item = String> {
    let stretched = cell.arms.iter().filter(|arm| arm.worst(STRETCH) > TOLERABLE_STRETCH);
    stretched.map(|arm| {
        let (title, stretch) = (&arm.title, arm.worst(STRETCH));
        format!(
            "{}, {title}: a round took {stretch:.2} times its CPU time: the machine was not quiet",
            cell.title
        )
    })
}
