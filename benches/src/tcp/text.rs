//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ArmReport, CellReport, ClosedReport, OpenReport, Report};
use crate::latencies::is_worst;
use crate::numbers::{grouped, micros, percent, with_interval};
use crate::stats::Estimate;

/// What stands where there is nothing.
const NOTHING: &str = "–";

/// Where messages are sent later than this, latencies say something of the client.
const TOLERABLE_LATENESS_NS: u64 = 50_000;

/// Writes tables, bars and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    for cell in &report.cells {
        write_cell(cell, out)?;
    }
    for bar in &report.bars {
        writeln!(out, "{bar}")?;
    }
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_cell(cell: &CellReport, out: &mut impl Write) -> io::Result<()> {
    let driver = cell.arms.first().map_or("", |arm| arm.driver.as_str());
    let section = cell.shape.section.title();
    writeln!(out, "[{section}] {}; driver: {driver}", cell.title)?;
    writeln!(
        out,
        "{} rounds of four windows of {} ms for each; ratios are to the first line, with a 95 % interval",
        cell.rounds(),
        (cell.window_s * 1e3).round(),
    )?;
    writeln!(out, "{}", table(cell))?;
    for arm in &cell.arms {
        write_doubts(arm, out)?;
    }
    writeln!(out)
}

fn table(cell: &CellReport) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL);
    let mut header =
        vec!["server".to_owned(), "closed loop\nechoes / s".to_owned(), "CPU per\necho, ns".to_owned()];
    let with_background = cell.arms.iter().any(|arm| arm.closed.background_rate.is_some());
    if with_background {
        header.push("background\npolls / s".to_owned());
    }
    for open in cell.arms.first().iter().flat_map(|arm| &arm.open) {
        header.push(format!(
            "{} %: {} / s\np50, p99, p99.9, µs",
            open.load,
            grouped(open.rate.round() as u64)
        ));
        if with_background {
            header.push("background\npolls / s".to_owned());
        }
    }
    table.set_header(header);
    for arm in &cell.arms {
        table.add_row(row(arm, with_background));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(arm: &ArmReport, with_background: bool) -> Vec<String> {
    let closed = &arm.closed;
    let mut row = vec![arm.title.clone(), throughput(closed), cpu(closed)];
    if with_background {
        row.push(background(closed.background_rate, closed.background_ratio.as_ref()));
    }
    for open in &arm.open {
        row.push(latencies(open));
        if with_background {
            row.push(background(open.background_rate, open.background_ratio.as_ref()));
        }
    }
    row
}

fn throughput(closed: &ClosedReport) -> String {
    let rate = grouped(closed.rate.round() as u64);
    format!("{rate}\n{}\nCPU used {}", compared(closed.rate_ratio.as_ref()), percent(closed.cpu_used))
}

fn cpu(closed: &ClosedReport) -> String {
    match (closed.background_rate, closed.cpu_ratio) {
        (Some(_), _) => NOTHING.to_owned(),
        (None, cpu) => format!("{:.0}\n{}", closed.cpu_ns, compared(cpu.as_ref())),
    }
}

fn background(rate: Option<f64>, ratio: Option<&Estimate>) -> String {
    let Some(rate) = rate else { return NOTHING.to_owned() };
    format!("{}\n{}", grouped(rate.round() as u64), compared(ratio))
}

/// The three percentiles, one below the other, each with its ratio.
fn latencies(open: &OpenReport) -> String {
    let line = |place: usize| match (open.latency_ns[place], open.latency_ratios) {
        // A time that was made up has no ratio.
        (value, _) if is_worst(value) => "never".to_owned(),
        (value, None) => tenths(value),
        (value, Some(ratios)) => format!("{}   {}", tenths(value), compared(Some(&ratios[place]))),
    };
    [0, 1, 2].map(line).join("\n")
}

/// Nanoseconds as microseconds, to a tenth where that says something.
fn tenths(nanos: u64) -> String {
    if nanos < 100_000 { format!("{:.1}", nanos as f64 / 1e3) } else { micros(nanos) }
}

/// A ratio with its interval, if there is one.
fn compared(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(String::new, with_interval)
}

/// What a reader must know before believing an arm's latencies.
fn write_doubts(arm: &ArmReport, out: &mut impl Write) -> io::Result<()> {
    for open in &arm.open {
        if open.unanswered > 0 {
            let (few, all) = (grouped(open.unanswered), grouped(open.messages));
            writeln!(
                out,
                "{} at {} %: {few} of {all} messages were not back half a second after the window",
                arm.title, open.load
            )?;
        }
        if open.late_p99_ns > TOLERABLE_LATENESS_NS {
            let late = micros(open.late_p99_ns);
            writeln!(out, "{} at {} %: messages were sent up to {late} µs late (p99)", arm.title, open.load)?;
        }
    }
    Ok(())
}
