//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ArmReport, CellReport, Report};
use super::rounds;
use crate::conclusions::Verdict;
use crate::latencies::is_worst;
use crate::numbers::{grouped, micros, with_interval};
use crate::stats::Estimate;
use crate::text::TOLERABLE_LATENESS_NS;

/// What stands before the lines of a cell.
const LINES: &str = "mean, µs\np50, µs\np99, µs\np99.9, µs\nchunks / s";

/// Writes tables, bars and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    for cells in report.cells.chunk_by(|one, other| one.shape.host == other.shape.host) {
        write_host(report, cells, out)?;
    }
    write_bars(report, out)?;
    for cell in &report.cells {
        write_doubts(cell, out)?;
    }
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_host(report: &Report, cells: &[CellReport], out: &mut impl Write) -> io::Result<()> {
    let Some((cell, base)) = cells.first().and_then(|cell| Some((cell, cell.arms.first()?))) else {
        return Ok(());
    };
    let rate = grouped(rounds::rate().round() as u64);
    writeln!(
        out,
        "A key-value service on {}, {} connections, {rate} requests / s, open loop; driver: {}",
        cell.shape.host.title(),
        rounds::CONNECTIONS,
        base.driver
    )?;
    writeln!(
        out,
        "{} rounds of two windows of {} ms for each; in brackets the ratio to {}, with a 95 % interval",
        report.heading.arguments.rounds(),
        (cell.window_s * 1e3).round(),
        base.title
    )?;
    writeln!(out, "{}\n", table(cells))
}

fn table(cells: &[CellReport]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL);
    let mut header = vec!["compactors\n× chunk".to_owned(), String::new()];
    header.extend(cells.iter().take(1).flat_map(|cell| &cell.arms).map(|arm| arm.title.clone()));
    table.set_header(header);
    for cell in cells {
        let mut row = vec![cell.shape.load(), LINES.to_owned()];
        row.extend(cell.arms.iter().map(lines));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// All that is said of an arm in a cell, one below the other.
fn lines(arm: &ArmReport) -> String {
    let ratios = arm.latency_ratios.as_ref().map(|ratios| ratios.all());
    let latency = |(place, &nanos): (usize, &f64)| {
        let nanos = nanos.round() as u64;
        let value = if is_worst(nanos) { "never".to_owned() } else { micros(nanos) };
        beside(value, ratios.map(|ratios| ratios[place]))
    };
    let mut lines: Vec<String> = arm.latency_ns.all().into_iter().enumerate().map(latency).collect();
    lines.extend(arm.chunk_rate.map(|rate| beside(grouped(rate.round() as u64), arm.chunk_ratio.as_ref())));
    lines.join("\n")
}

/// A value with its ratio, if it has one.
fn beside(value: String, compared: Option<&Estimate>) -> String {
    match compared {
        Some(found) => format!("{value}  {}", with_interval(found)),
        None => value,
    }
}

fn write_bars(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let with = |verdict| report.bars.iter().filter(|bar| bar.verdict == Some(verdict)).count();
    if report.bars.iter().any(|bar| bar.verdict.is_some()) {
        let [met, missed, undecided] = [Verdict::Met, Verdict::Missed, Verdict::Undecided].map(with);
        writeln!(out, "Bars: {met} met, {missed} missed, {undecided} undecided")?;
    }
    report.bars.iter().try_for_each(|bar| writeln!(out, "{bar}"))
}

/// What a reader must know before believing a cell's latencies.
fn write_doubts(cell: &CellReport, out: &mut impl Write) -> io::Result<()> {
    for arm in cell.arms.iter().filter(|arm| arm.unanswered > 0) {
        let (few, all) = (grouped(arm.unanswered), grouped(arm.requests));
        let name = format!("{}, {}", cell.title, arm.title);
        writeln!(out, "{name}: {few} of {all} requests were not answered half a second after the window")?;
    }
    let late = cell.arms.iter().map(|arm| arm.late_p99_ns).max().unwrap_or(0);
    if late > TOLERABLE_LATENESS_NS {
        let late = micros(late);
        writeln!(
            out,
            "{}: requests were sent up to {late} µs late (p99): the machine was not quiet",
            cell.title
        )?;
    }
    Ok(())
}
