//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ArmReport, CellReport, Report};
use crate::numbers::{grouped, interval, ratio};
use crate::spread::Spread;
use crate::stats::Estimate;

/// A thread that was kept from its core for more than this part of the time had a neighbour. Its own times do not count
/// what was taken, but a policy that goes by the clock was told that its jobs had run for longer.
const TOLERABLE_STRETCH: f64 = 1.02;

/// Writes tables, bars and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    for cell in &report.cells {
        write_cell(report, cell, out)?;
    }
    for bar in &report.bars {
        writeln!(out, "{bar}")?;
    }
    for cell in &report.cells {
        write_doubts(cell, out)?;
    }
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_cell(report: &Report, cell: &CellReport, out: &mut impl Write) -> io::Result<()> {
    let arguments = &report.heading.arguments;
    writeln!(
        out,
        "{}, at {} % utilisation: {} rounds of {} s, pieces of {} µs",
        cell.service.title(),
        cell.load_percent,
        arguments.rounds,
        arguments.window_s,
        arguments.piece_us
    )?;
    writeln!(
        out,
        "response and slowdown of all rounds together; ratios are medians of the rounds' (95 % interval)"
    )?;
    writeln!(out, "{}\n", all_jobs(cell))?;
    writeln!(
        out,
        "By size: slowdown p50 / p99 / p99.9 / largest; of so many jobs, how many had not ended with their window"
    )?;
    writeln!(out, "{}\n", by_class(cell))
}

fn all_jobs(cell: &CellReport) -> Table {
    let mut table = table(&[
        "executor",
        "mean response\nµs",
        "× LocalSet",
        "response, µs\np50 / p99 / p99.9",
        "slowdown\np50 / p99 / p99.9",
        "p99 slowdown\n× LocalSet",
        "mean response\n× simulator",
        "overhead\nns / poll",
    ]);
    table.add_rows(cell.arms.iter().map(|arm| {
        [
            arm.title.to_owned(),
            number(arm.response_ns.mean / 1e3),
            with_interval(arm.mean_ratio.as_ref()),
            tail(&arm.response_ns, 1e3),
            tail(&arm.slowdown, 1.0),
            with_interval(arm.slowdown_p99_ratio.as_ref()),
            with_interval(Some(&arm.simulated_ratio)),
            number(arm.overhead_ns_per_poll),
        ]
    }));
    align_numbers(&mut table);
    table
}

fn by_class(cell: &CellReport) -> Table {
    let classes = cell.arms.first().map_or(&[][..], |arm| &arm.classes);
    let titles: Vec<String> = classes.iter().map(|class| class.class.to_string()).collect();
    let titles: Vec<&str> = ["executor"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let mut table = table(&titles);
    table.add_rows(cell.arms.iter().map(class_row));
    align_numbers(&mut table);
    table
}

fn class_row(arm: &ArmReport) -> Vec<String> {
    let cells = arm.classes.iter().map(|class| {
        let slowdown = &class.slowdown;
        let unfinished = format!("{} of {}", grouped(class.unfinished), grouped(class.jobs));
        format!("{} / {}\n{unfinished}", tail(slowdown, 1.0), number(slowdown.max))
    });
    [arm.title.to_owned()].into_iter().chain(cells).collect()
}

/// What a reader must know before believing an arm's figures.
fn write_doubts(cell: &CellReport, out: &mut impl Write) -> io::Result<()> {
    for arm in cell.arms.iter().filter(|arm| arm.stretch_max > TOLERABLE_STRETCH) {
        let (service, load, stretch) = (cell.service, cell.load_percent, arm.stretch_max);
        writeln!(
            out,
            "{service:?} at {load} %, {}: a round took {stretch:.2} times its CPU time: the machine was not quiet",
            arm.title
        )?;
    }
    Ok(())
}

fn tail(spread: &Spread, unit: f64) -> String {
    [spread.p50, spread.p99, spread.p999].map(|value| number(value / unit)).join(" / ")
}

fn with_interval(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || "–".to_owned(),
        |estimate| format!("{} ({})", ratio(estimate.median), interval(estimate)),
    )
}

/// Three digits that count, and all before the point.
fn number(value: f64) -> String {
    match value {
        small if small < 9.995 => format!("{value:.2}"),
        middling if middling < 99.95 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    }
}

fn table(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(titles);
    table
}

fn align_numbers(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!(
            [0.0, 1.234, 9.999, 56.78, 99.96, 12_345.6].map(number),
            ["0.00", "1.23", "10.0", "56.8", "100", "12,346"]
        );
    }
}
