//! What `tenants` says.

use clockworker_terminal::table::Column;

use super::flood::{self, ADDED_POLLS, ALONE, ALONE_WOKEN, BESIDE, BESIDE_WOKEN, FLOOD_CPU};
use super::options::Scene;
use super::{Shape, Tenants, arrivals, shares, turns, unlike};
use crate::harness::{Arm, Cell, Report, again, rows};
use crate::numbers::{NOTHING, compared, grouped};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table, time_by_percentile};
use crate::stats::{self, Estimate, Interval};

pub(super) fn of(report: &Report<Tenants>) -> Chapter {
    let (cells, seed) = (&report.cells, report.heading.arguments.common.seed);
    let of = |scene| cells.iter().filter(move |cell| cell.shape.scene == scene);
    let section = Section {
        method: format!(
            "One thread, on tokio. Quiet: {} tenants of one task, which sleeps for 5 to 14 ms and then has {} polls of \
             {} µs; who floods has {} tasks that always have work, in polls as long. Responses count from the end of the sleep, \
             most of which is tokio's timer, and from the wake. Jobs as they arrive: exponential, mean 60 µs, in pieces of up \
             to 25 µs. Ratios and parts are medians of the rounds’: of the flood {}, with 95 % intervals; of the other scenes \
             fewer, with their range.",
            flood::QUIET,
            flood::POLLS,
            flood::POLL.as_micros(),
            grouped(flood::TASKS as u64),
            of(Scene::Flood).map(Cell::rounds).max().unwrap_or(0),
        ),
        plots: of(Scene::Flood).flat_map(|cell| plots(cell, seed)).chain(parts_plot(cells, seed)).collect(),
        tables: of(Scene::Flood)
            .flat_map(flood_tables)
            .chain(arrivals_table(of(Scene::Arrivals)))
            .chain(turns_table(of(Scene::History).chain(of(Scene::Visitor)), seed))
            .chain(unlike_table(of(Scene::Unlike), seed))
            .chain(queues_table(of(Scene::Shares).chain(of(Scene::Cap)), seed))
            .collect(),
        ..report.section("Tenants")
    };
    let headlines = of(Scene::Flood).flat_map(|cell| headlines(cell, seed)).collect();
    Chapter { headlines, sections: vec![section] }
}

const P99: &str = "beside_ns.p99";

fn headlines(cell: &Cell<Shape>, seed: u64) -> Vec<Headline> {
    let Some(fair) = cell.arm("fair_groups") else { return Vec::new() };
    let topic =
        format!("Quiet tenants beside one of {} busy tasks, FairGroups", grouped(flood::TASKS as u64));
    let line = |label: &str, value: Option<Estimate>| {
        let kind = Some(Interval::Confidence95);
        Headline::ratio(Side::Gain, (topic.as_str(), label), value, kind, Better::Less, "tenants")
    };
    let alone = stats::estimated_by_seed(fair.samples(flood::P99_BY_ALONE), seed);
    let lines = [line("p99 ÷ LocalSet’s", fair.ratio(P99)), line("p99 ÷ alone", alone)];
    lines.into_iter().flatten().collect()
}

/// The p99 of quiet tenants alone, of an arm that is there twice, over itself: what shows where there is no difference.
pub(super) fn again_alone(cell: &Cell<Shape>, arm: &Arm, seed: u64) -> Option<Estimate> {
    let p99 = format!("{ALONE}.p99");
    stats::paired_by_seed(cell.arm(&again(&arm.key))?.samples(&p99), arm.samples(&p99), seed)
}

fn plots(cell: &Cell<Shape>, seed: u64) -> impl Iterator<Item = Plot> + use<> {
    let base = cell.arms.first().map_or(&[][..], |base| base.samples("alone_ns.p99"));
    let bar = |arm: &Arm, of: &str, where_it_is| {
        let p99 = stats::paired_by_seed(arm.samples(&format!("{of}.p99")), base, seed);
        (format!("{}, {where_it_is}", arm.title), p99.or(Some(ITSELF)))
    };
    let bars = cell.different_arms().flat_map(|arm| [bar(arm, ALONE, "alone"), bar(arm, BESIDE, "flood")]);
    let axis = "× LocalSet without a flood, 95 % intervals: less is better";
    let shown = ["fair_groups", "qlas", "woken_first", "runnable_fifo", "priority", "local_set"];
    let arms = shown.iter().filter_map(|key| cell.arm(key));
    let curves = arms.map(|arm| (arm.title.clone(), arm.curve(BESIDE)));
    let response = time_by_percentile("response");
    let lines = Plot::lines("Quiet tenants beside the flood, by percentile", response, curves);
    [Plot::ratios("Quiet tenants’ p99, alone and beside the flood", axis, Better::Less, bars), lines]
        .into_iter()
        .flatten()
}

const ITSELF: Estimate = Estimate { median: 1.0, low: 1.0, high: 1.0 };

/// What who comes has of a half, and who comes and goes of an equal part.
fn parts_plot(cells: &[Cell<Shape>], seed: u64) -> Option<Plot> {
    let bars = cells.iter().flat_map(|cell| {
        let figure = match cell.shape.scene {
            Scene::History => Some((turns::NEWCOMER, 2.0, "who comes")),
            Scene::Visitor => Some((turns::VISITOR, 1.0, "who comes and goes")),
            _ => None,
        };
        let bar = move |arm: &Arm| {
            let (figure, parts, who) = figure?;
            let due = cell.estimate(arm, figure, seed)?;
            let [median, low, high] = [due.median, due.low, due.high].map(|part| part * parts);
            Some((format!("{}, {who}", arm.title), Some(Estimate { median, low, high })))
        };
        cell.different_arms().filter_map(bar)
    });
    Plot::ratios(
        "Service of a tenant ÷ its due",
        "× its due, with the range of rounds: 1 is fair",
        Better::More,
        bars,
    )
}

fn flood_tables(cell: &Cell<Shape>) -> [Table; 2] {
    [
        Table::of(
            format!("{}: quiet tenants, from the end of the sleep, p50 / p99 in ms", cell.title),
            &cell.arms,
            [
                ("executor", |arm: &&Arm| arm.title.clone()),
                ("alone", |arm| millis(arm, ALONE)),
                ("beside the flood", |arm| millis(arm, BESIDE)),
                ("p99 ÷ alone", |arm| arm.digits(flood::P99_BY_ALONE)),
                ("largest p99 of a tenant ÷ alone", |arm| arm.digits(flood::WORST_BY_ALONE)),
                ("p99 beside × LocalSet", |arm| arm.compared(P99)),
            ],
        ),
        Table::of(
            format!("{}: quiet tenants, from the wake, p50 / p99 in ms", cell.title),
            &cell.arms,
            [
                ("executor", |arm: &&Arm| arm.title.clone()),
                ("alone", |arm| millis(arm, ALONE_WOKEN)),
                ("beside the flood", |arm| millis(arm, BESIDE_WOKEN)),
                ("polls added, p50", |arm| arm.digits(ADDED_POLLS)),
                ("flood, of a core", |arm| arm.percent(FLOOD_CPU)),
            ],
        ),
    ]
}

fn millis(arm: &Arm, of: &str) -> String {
    ["p50", "p99"].map(|part| arm.shown(&format!("{of}.{part}"), 1e6)).join(" / ")
}

type Row<'a> = (&'a Cell<Shape>, &'a Arm, u64);

/// The table of these cells, if there are any.
fn table_of<'a, const N: usize>(
    caption: &str,
    cells: impl Iterator<Item = &'a Cell<Shape>>,
    seed: u64,
    columns: [Column<Row<'a>>; N],
) -> Option<Table> {
    let rows: Vec<Row<'a>> = rows(cells).map(|(cell, arm)| (cell, arm, seed)).collect();
    (!rows.is_empty()).then(|| Table::of(caption, rows, columns).with_words(2))
}

fn arrivals_table<'a>(cells: impl Iterator<Item = &'a Cell<Shape>>) -> Option<Table> {
    let caption = "Jobs as they arrive: response p50 / p99 / p99.9 in µs, and the least that a tenant was served of what it asked for";
    table_of(
        caption,
        cells,
        0,
        [
            ("tenants", |(cell, ..)| cell.title.clone()),
            ("executor", |(_, arm, _)| arm.title.clone()),
            ("all jobs", |(_, arm, _)| arm.tail(arrivals::RESPONSE, 1e3)),
            ("p99 × LocalSet", |(_, arm, _)| arm.compared("response_ns.p99")),
            ("the greatest tenant's", |(_, arm, _)| arm.tail(arrivals::GREATEST, 1e3)),
            ("the others'", |(_, arm, _)| arm.tail(arrivals::OTHERS, 1e3)),
            ("least served", |(_, arm, _)| arm.digits(arrivals::LEAST)),
        ],
    )
}

fn estimated((cell, arm, seed): &Row<'_>, figure: &str) -> String {
    compared(cell.estimate(arm, figure, *seed).as_ref())
}

fn turns_table<'a>(cells: impl Iterator<Item = &'a Cell<Shape>>, seed: u64) -> Option<Table> {
    table_of(
        "All of them always have work: parts of the thread's work",
        cells,
        seed,
        [
            ("tenants", |(cell, ..)| cell.title.clone()),
            ("executor", |(_, arm, _)| arm.title.clone()),
            ("who comes, in the first fifth (due: 0.50)", |row| estimated(row, turns::NEWCOMER_SOON)),
            ("who comes, in all (due: 0.50)", |row| estimated(row, turns::NEWCOMER)),
            ("who comes and goes ÷ due", |row| estimated(row, turns::VISITOR)),
            ("least of those that stay ÷ due", |row| estimated(row, turns::LEAST_STAYING)),
        ],
    )
}

fn unlike_table<'a>(cells: impl Iterator<Item = &'a Cell<Shape>>, seed: u64) -> Option<Table> {
    let caption = format!(
        "Tenants of polls of {} ns and of {} µs, and one with a poll of {} µs every {} ms: its wait p50 / p99 / p99.9 in µs",
        unlike::SHORT.as_nanos(),
        unlike::LONG.as_micros(),
        unlike::REQUEST.as_micros(),
        unlike::PAUSE.as_millis(),
    );
    table_of(
        &caption,
        cells,
        seed,
        [
            ("tenants", |(cell, ..)| cell.title.clone()),
            ("executor", |(_, arm, _)| arm.title.clone()),
            ("wait", |(_, arm, _)| arm.tail(unlike::WAIT, 1e3)),
            ("p99 × LocalSet", |(_, arm, _)| arm.compared("wait_ns.p99")),
            ("long polls, of the work (due: 0.50)", |row| estimated(row, unlike::OF_LONG)),
        ],
    )
}

fn queues_table<'a>(cells: impl Iterator<Item = &'a Cell<Shape>>, seed: u64) -> Option<Table> {
    table_of(
        "Queues that always have work",
        cells,
        seed,
        [
            ("queues", |(cell, ..)| cell.title.clone()),
            ("layout", |(_, arm, _)| arm.title.clone()),
            ("furthest from its share", |(_, arm, _)| shown_error(arm, shares::SHARE_ERROR)),
            ("capped, of the time", |(_, arm, _)| shown_error(arm, shares::CAPPED)),
            ("off the cap", |(_, arm, _)| shown_error(arm, shares::CAP_ERROR)),
            ("the other, of the time", |(_, arm, _)| shown_error(arm, shares::BESIDE_CAPPED)),
        ],
    )
}

fn shown_error(arm: &Arm, figure: &str) -> String {
    arm.value(figure).map_or_else(|| NOTHING.to_owned(), |part| format!("{:.2} %", part * 100.0))
}
