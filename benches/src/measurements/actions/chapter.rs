//! What `actions` says.

use super::world::LOOPS;
use super::{Actions, DATABASE, LATENCY, LATENCY_P99, RATE, Shape, busy};
use crate::harness::{Cell, Report, report};
use crate::measurements::Keyed;
use crate::measurements::arm::Arm;
use crate::numbers::number;
use crate::page::{Better, Chapter, Headline, Section, Side, Table};

pub(super) fn of(report: &Report<Actions>) -> Chapter {
    let options = &report.heading.arguments;
    let [start, dispatch, completion, flush] = options.shares;
    let section = Section {
        method: format!(
            "One thread with all loops, on tokio, and one with the database, SQLite in write-ahead mode. {} workers. Shares, where \
             there are queues: start {start}, dispatch {dispatch}, completion with the workers {completion}, flush {flush}. \
             Completion is from an action’s dispatch until it is recorded. Ratios are medians of the rounds’, fewer for many \
             instances.",
            options.workers,
        ),
        tables: report.cells.iter().flat_map(tables).collect(),
        ..report.section("A queue of actions")
    };
    let full = report.cells.iter().rfind(|cell| cell.shape.step.is_empty());
    Chapter { headlines: full.into_iter().flat_map(headlines).collect(), sections: vec![section] }
}

fn headlines(cell: &Cell<Shape>) -> impl Iterator<Item = Headline> {
    let queues = cell.arm(&Arm::Queues.key());
    let topic = format!("A queue of actions, {}, ÷ LocalSet’s", cell.title);
    let line = |figure, label, better| {
        let ratio = queues?.ratio(figure);
        Headline::ratio(Side::Gain, (topic.as_str(), label), ratio, Some(cell.interval), better, "actions")
    };
    let lines =
        [line(RATE, "actions per second", Better::More), line(LATENCY_P99, "completion p99", Better::Less)];
    lines.into_iter().flatten()
}

fn tables(cell: &Cell<Shape>) -> [Table; 2] {
    let speed = Table::of(
        format!("{}: actions per second, completion in ms", cell.title),
        &cell.arms,
        [
            ("executor", |arm: &&report::Arm| arm.title.clone()),
            ("actions/s", |arm| arm.shown(RATE, 1.0)),
            ("× LocalSet", |arm| arm.compared(RATE)),
            ("p50 / p99 / p99.9", |arm| arm.tail(LATENCY, 1e6)),
            ("p99 × LocalSet", |arm| arm.compared(LATENCY_P99)),
        ],
    );
    let columns = ["executor"].into_iter().chain(LOOPS.map(|(_, name)| name)).chain(["database’s thread"]);
    let mut shares =
        Table::new(format!("{}: part of the run in polls of each loop, in %", cell.title), columns);
    let percent = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |part| number(part * 100.0));
    shares.rows.extend(cell.arms.iter().map(|arm| {
        let parts = LOOPS.map(|(_, name)| percent(arm.value(&busy(name))));
        let all = [arm.title.clone()].into_iter().chain(parts).chain([percent(arm.value(DATABASE))]);
        all.collect()
    }));
    [speed, shares]
}
