//! What `overhead` says.

use super::Overhead;
use super::measure::{Quantity, Topic};
use crate::harness::{Arm, Cell, Report};
use crate::measurements::Keyed;
use crate::numbers::{NOTHING, number};
use crate::page::{Better, Chapter, Headline, Plot, Section, Side, TIME_PER_POLL, Table};
use crate::stats::Interval;

const COSTS: [&str; 4] = ["woken_first", "two_queues", "qlas", "las"];

/// Their names there, which are those of `compare`: it comes first where there are both.
const COST_NAMES: [&str; 4] = ["one queue", "two queues", "QLAS", "LAS"];

pub(super) fn of(report: &Report<Overhead>) -> Chapter {
    let cells = &report.cells;
    let measures = cells.chunk_by(|one, next| one.shape == next.shape);
    let sections = cells.chunk_by(|one, next| one.shape.section == next.shape.section);
    let section = Section {
        method: "Interleaved rounds; each cell is the median of its samples and the median of the ratios of samples of the \
                 same round, with a 95 % interval. – where an executor cannot do it. What is measured “again” is the noise \
                 floor."
            .to_owned(),
        plots: sections.filter_map(plot).collect(),
        tables: measures.flat_map(tables).collect(),
        ..report.section("Overhead beside other executors")
    };
    Chapter { headlines: headlines(cells), sections: vec![section] }
}

/// At the shape in the middle: 1,000 tasks × 1,000 yields.
fn headlines(cells: &[Cell<Topic>]) -> Vec<Headline> {
    let polls = cells.chunk_by(|one, next| one.shape == next.shape).next();
    polls.map_or_else(Vec::new, |polls| costs(&polls[polls.len() / 2], COSTS, "overhead"))
}

/// What a poll costs as it comes, with two queues, with QLAS and with LAS, by a command that has such keys for them.
pub(crate) fn costs<S>(cell: &Cell<S>, keys: [&str; 4], command: &str) -> Vec<Headline> {
    let line = |(key, name)| {
        let (ratio, kind) = (cell.arm(key)?.ratio("ns_per_poll"), Some(Interval::Confidence95));
        let line = Headline::ratio(Side::Cost, (TIME_PER_POLL, name), ratio, kind, Better::Less, command)?;
        Some(match name {
            "one queue" => line.with_phrase("a poll takes # as it comes"),
            "LAS" => line.with_phrase("# with LAS"),
            _ => line,
        })
    };
    keys.into_iter().zip(COST_NAMES).filter_map(line).collect()
}

fn base(cell: &Cell<Topic>) -> &str {
    cell.arms.first().map_or(NOTHING, |arm| &arm.title)
}

/// The first table of a section as a picture: of executors the column in the middle, of clockworker alone the last one.
fn plot(section: &[Cell<Topic>]) -> Option<Plot> {
    let cells = section.chunk_by(|one, next| one.shape == next.shape).next()?;
    let Quantity { key, title } = &cells[0].shape.quantities[0];
    let axis = format!("× {}, 95 % intervals: less is better", base(&cells[0]));
    let (column, bars): (&str, Vec<_>) = if cells[0].shape.section.is_of_itself() {
        let last = |cell: &Cell<Topic>| (cell.title.clone(), cell.arms.last().and_then(|arm| arm.ratio(key)));
        (&cells[0].arms.last()?.title, cells.iter().map(last).collect())
    } else {
        let middle = &cells[cells.len() / 2];
        let arms = middle.arms.iter().map(|arm| (arm.title.clone(), arm.ratio(key)));
        (&middle.title, arms.collect())
    };
    Plot::ratios(format!("{title}, {column}"), axis, Better::Less, bars)
}

fn tables(cells: &[Cell<Topic>]) -> impl Iterator<Item = Table> {
    cells[0].shape.quantities.iter().map(|quantity| table(cells, quantity))
}

fn table(cells: &[Cell<Topic>], Quantity { key, title }: &Quantity) -> Table {
    let (first, section) = (&cells[0], cells[0].shape.section);
    let rounds = cells.iter().map(Cell::rounds).max().unwrap_or(0);
    let caption = format!("{}: {title}, {rounds} rounds; ratios to {}", section.key(), base(first));
    let (cell_titles, arm_titles): (Vec<&str>, Vec<&str>) = (
        cells.iter().map(|cell| cell.title.as_str()).collect(),
        first.arms.iter().map(|arm| arm.title.as_str()).collect(),
    );
    let at =
        |cell: usize, arm: usize| cells[cell].arms.get(arm).map_or(NOTHING.to_owned(), |arm| shown(arm, key));
    let of_itself = section.is_of_itself();
    let (columns, rows) = if of_itself { (arm_titles, cell_titles) } else { (cell_titles, arm_titles) };
    let row = |(row, title): (usize, &&str)| {
        let numbers =
            (0..columns.len()).map(|column| if of_itself { at(row, column) } else { at(column, row) });
        [(*title).to_owned()].into_iter().chain(numbers).collect()
    };
    let table = Table::new(caption, ["executor"].into_iter().chain(columns.iter().copied()));
    Table { rows: rows.iter().enumerate().map(row).collect(), ..table }
}

fn shown(arm: &Arm, key: &str) -> String {
    match (arm.value(key), arm.ratio(key)) {
        (None, _) => NOTHING.to_owned(),
        (Some(value), None) => number(value),
        (Some(value), Some(_)) => format!("{}; {}", number(value), arm.compared(key)),
    }
}
