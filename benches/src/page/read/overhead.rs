//! Files of `overhead`: polls, spawns, wakes, queues, groups, memory and idleness, beside other executors.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, NOTHING, compared, number};
use crate::failure::Failure;
use crate::harness::conclusion::{Conclusion, Interval};
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-overhead",
    version: 1,
    arguments: &["overhead"],
    question: "What do polls, spawns, wakes, queues, memory and idleness cost, beside a dozen other executors?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Arguments,
    sections: Vec<Part>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Part {
    section: String,
    grids: Vec<Grid>,
}

#[derive(Debug, Deserialize)]
struct Grid {
    key: String,
    title: String,
    versus: String,
    shapes: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    key: String,
    title: String,
    cells: Vec<Option<Cell>>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    median: f64,
    ratio: Option<Estimate>,
}

/// The arms on the first screen, with the names they have there: those of `compare`, which comes first where there are
/// both.
const COSTS: [(&str, &str); 4] =
    [("woken_first", "one queue"), ("two_queues", "two queues"), ("qlas", "QLAS"), ("las", "LAS")];

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let grids = || report.sections.iter().flat_map(|part| &part.grids);
    let polls = grids().find(|grid| grid.key == "ns_per_poll");
    let headlines = polls.map(headlines).unwrap_or_default();
    let plots = report.sections.iter().flat_map(|part| part.grids.first()).filter_map(plot).collect();
    let tables = report
        .sections
        .iter()
        .flat_map(|part| part.grids.iter().map(|grid| table(&part.section, grid)))
        .collect();
    let section = Section {
        title: "Overhead beside other executors".to_owned(),
        question: READER.question.to_owned(),
        command: report.arguments.command("overhead"),
        note: report.note,
        method: "Interleaved rounds as above; each cell is the median of its samples and the median of the ratios \
                 of samples of the same round, with a 95 % interval. – where an executor cannot do it."
            .to_owned(),
        plots,
        tables,
        bars: report.bars,
        ..Section::default()
    };
    Ok(Chapter { headlines, sections: vec![section] })
}

/// At the shape in the middle: 1,000 tasks × 1,000 yields.
fn headlines(polls: &Grid) -> Vec<Headline> {
    let middle = polls.shapes.len() / 2;
    let line = |(key, name): (&str, &str)| {
        let row = polls.rows.iter().find(|row| row.key == key)?;
        let ratio = row.cells.get(middle)?.as_ref()?.ratio?;
        let (topic, kind) = (parts::TIME_PER_POLL, Some(Interval::Confidence95));
        let line = Headline::ratio(Side::Cost, (topic, name), &ratio, kind, Better::Less, "overhead");
        Some(match key {
            "woken_first" => line.with_phrase("a poll takes # as it comes"),
            "las" => line.with_phrase("# with LAS"),
            _ => line,
        })
    };
    COSTS.into_iter().filter_map(line).collect()
}

/// What the ratios of a grid are to, and the column that its picture shows: the middle one of those that are compared with
/// LocalSet, the last one of those compared with the first.
fn shown(grid: &Grid) -> (&str, usize) {
    match grid.versus.as_str() {
        "first_shape" => {
            (grid.shapes.first().map_or("the first column", String::as_str), grid.shapes.len() - 1)
        }
        _ => ("LocalSet", grid.shapes.len() / 2),
    }
}

fn plot(grid: &Grid) -> Option<Plot> {
    let (base, column) = shown(grid);
    let shape = grid.shapes.get(column)?;
    let bars = grid.rows.iter().map(|row| {
        let ratio = row.cells.get(column).and_then(|cell| cell.as_ref()?.ratio);
        (row.title.clone(), ratio)
    });
    let (title, axis) =
        (format!("{}, {shape}", grid.title), format!("× {base}, 95 % intervals: less is better"));
    Plot::ratios(title, axis, Better::Less, bars)
}

fn table(section: &str, grid: &Grid) -> Table {
    let (base, _) = shown(grid);
    let columns: Vec<&str> = ["executor"].into_iter().chain(grid.shapes.iter().map(String::as_str)).collect();
    let mut table = Table::new(format!("{section}: {}; ratios to {base}", grid.title), &columns);
    table.rows = grid
        .rows
        .iter()
        .map(|row| [row.title.clone()].into_iter().chain(row.cells.iter().map(cell)).collect())
        .collect();
    table
}

fn cell(cell: &Option<Cell>) -> String {
    match cell {
        None => NOTHING.to_owned(),
        Some(Cell { median, ratio: None }) => number(*median),
        Some(Cell { median, ratio }) => format!("{}; {}", number(*median), compared(ratio.as_ref())),
    }
}
