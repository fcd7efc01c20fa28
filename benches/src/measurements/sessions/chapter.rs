//! What `sessions` says.

use super::options::Scenario;
use super::scene::{DISPATCH, ELAPSED, LATE, SKIPPED_BY_SENT};
use super::{JUDGED, LATE_P99, Sessions, Shape};
use crate::harness::{Arm, Cell, Report, rows};
use crate::numbers::{NOTHING, grouped};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, Table, time_by_percentile};

pub(super) fn of(report: &Report<Sessions>) -> Chapter {
    let (cells, options) = (&report.cells, &report.heading.arguments);
    let of = |scenario| cells.iter().filter(move |cell| cell.shape.scenario == scenario);
    let period = options
        .period
        .map_or_else(|| "30 ms (300 ms of 10,000 sessions)".to_owned(), |millis| format!("{millis} ms"));
    let section = Section {
        method: format!(
            "One thread, on tokio: a manager of so many sessions, with {} events each (in bursts: at once), a checkpoint of each \
             session every {}, in queues of shares {} with a request of {} µs for checkpoints. Lateness is when a checkpoint had been \
             asked for, less when it was due; most of it is tokio's timer, which counts milliseconds, where there is no burst. Ratios are medians of the rounds’.",
            options.events, period, options.shares, options.request,
        ),
        plots: of(Scenario::Burst)
            .filter(|cell| JUDGED.contains(&cell.shape.sessions))
            .filter_map(plot)
            .collect(),
        tables: [
            late_table("Checkpoints beside bursts of events", of(Scenario::Burst)),
            late_table("Checkpoints alone", of(Scenario::CheckpointOverhead)),
            fanout_table(of(Scenario::FanoutOverhead)),
        ]
        .into_iter()
        .flatten()
        .chain(cells.chunk_by(|one, next| one.shape.scenario == next.shape.scenario).map(counters_table))
        .collect(),
        ..report.section("Sessions")
    };
    Chapter { headlines: of(Scenario::Burst).filter_map(headline).collect(), sections: vec![section] }
}

fn headline(cell: &Cell<Shape>) -> Option<Headline> {
    let value = cell.arm("queues")?.ratio(LATE_P99).filter(|_| JUDGED.contains(&cell.shape.sessions));
    let label = format!("p99 lateness, {} sessions ÷ LocalSet’s", grouped(cell.shape.sessions.into()));
    let named = ("Checkpoints of a session manager beside bursts", label);
    Headline::ratio(Side::Gain, named, value, Some(cell.interval), Better::Less, "sessions")
}

fn plot(cell: &Cell<Shape>) -> Option<Plot> {
    let curves = cell.different_arms().map(|arm| (arm.title.clone(), arm.curve(LATE)));
    Plot::lines(format!("Lateness of checkpoints: {}", cell.title), time_by_percentile("lateness"), curves)
}

type Row<'a> = (&'a Cell<Shape>, &'a Arm);

fn sessions((cell, _): &Row<'_>) -> String {
    grouped(cell.shape.sessions.into())
}

fn late_table<'a>(caption: &str, cells: impl Iterator<Item = &'a Cell<Shape>>) -> Option<Table> {
    let caption = format!("{caption}: lateness in ms, dispatch in ns per event, all of it in ms");
    let table = Table::of(
        caption,
        rows(cells),
        [
            ("sessions", sessions as fn(&Row<'_>) -> String),
            ("executor", |(_, arm)| arm.title.clone()),
            ("p50", |(_, arm)| arm.shown(&format!("{LATE}.p50"), 1e6)),
            ("p99", |(_, arm)| arm.shown(LATE_P99, 1e6)),
            ("p99 × LocalSet", |(_, arm)| arm.compared(LATE_P99)),
            ("dispatch", |(_, arm)| arm.digits(DISPATCH)),
            ("elapsed", |(_, arm)| arm.digits(ELAPSED)),
            ("elapsed × LocalSet", |(_, arm)| arm.compared(ELAPSED)),
        ],
    );
    (!table.rows.is_empty()).then(|| table.with_words(2))
}

fn fanout_table<'a>(cells: impl Iterator<Item = &'a Cell<Shape>>) -> Option<Table> {
    let table = Table::of(
        "Fan-out to a client of all sessions: dispatch in ns per event, all of it in ms",
        rows(cells),
        [
            ("sessions", sessions as fn(&Row<'_>) -> String),
            ("executor", |(_, arm)| arm.title.clone()),
            ("dispatch", |(_, arm)| arm.digits(DISPATCH)),
            ("× LocalSet", |(_, arm)| arm.compared(DISPATCH)),
            ("unheard skipped ÷ sent", |(_, arm)| arm.digits(SKIPPED_BY_SENT)),
            ("elapsed", |(_, arm)| arm.digits(ELAPSED)),
            ("elapsed × LocalSet", |(_, arm)| arm.compared(ELAPSED)),
        ],
    );
    (!table.rows.is_empty()).then(|| table.with_words(2))
}

/// What the managers counted in a scenario: medians of the rounds. Counters that are 0 everywhere are left out.
fn counters_table(cells: &[Cell<Shape>]) -> Table {
    let scenario = cells[0].title.split(',').next().unwrap_or_default();
    let caption = format!("{scenario}: what the manager counted");
    let arms: Vec<&Arm> = cells[0].arms.iter().collect();
    let columns = ["sessions", "counter"].into_iter().chain(arms.iter().map(|arm| arm.title.as_str()));
    let mut table = Table { words: 2, ..Table::new(caption, columns) };
    let names = arms[0].figures.keys().filter(|name| name.ends_with("_total") || name.ends_with("_last"));
    for name in names {
        for cell in cells.iter().filter(|cell| cell.arms.iter().any(|arm| arm.value(name) > Some(0.0))) {
            let counts = cell.arms.iter().map(|arm| count(arm, name));
            table.rows.push(
                [grouped(cell.shape.sessions.into()), name.clone()].into_iter().chain(counts).collect(),
            );
        }
    }
    table
}

fn count(arm: &Arm, name: &str) -> String {
    arm.value(name).map_or_else(|| NOTHING.to_owned(), |count| grouped(count.round() as u64))
}
