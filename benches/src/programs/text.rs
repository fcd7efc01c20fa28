//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::list::PROGRAMS;
use super::report::{Finding, Report};
use crate::harness::conclusion::{Conclusion, Verdict};
use crate::numbers::{interval, ratio};
use crate::stats::Estimate;

/// What stands where there is nothing.
const NOTHING: &str = "–";

/// Writes the table, the bars and the facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    writeln!(
        out,
        "Programs: the same source with tokio's imports and with Clockworker's; medians of {} rounds",
        rounds(report)
    )?;
    writeln!(
        out,
        "ratios are Clockworker's to the base's of the same round (95 % interval); A/A is the base's to itself"
    )?;
    writeln!(out, "{}\n", table(&report.findings))?;
    write_bars(&report.bars, out)?;
    report.heading.write_facts(report.heading.arguments.seed, out)
}

/// The most that a program was run.
fn rounds(report: &Report) -> usize {
    let samples = report.findings.iter().flat_map(|finding| &finding.samples);
    samples.map(|arm| arm.samples.len()).max().unwrap_or(0)
}

fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["program", "", "measured", "base", "× base", "95 % interval", "A/A", "wanted"]);
    let mut last = "";
    for finding in findings {
        table.add_row(row(finding, finding.program == last));
        last = finding.program;
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(finding: &Finding, more_of_the_same: bool) -> [String; 8] {
    let named = |name: &str| if more_of_the_same { String::new() } else { name.to_owned() };
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    [
        named(finding.program),
        named(finding.title),
        finding.quantity_title.to_owned(),
        or_nothing(finding.base_shown.clone()),
        or_nothing(finding.ratio.map(|found| ratio(found.median))),
        or_nothing(finding.ratio.map(|found| interval(&found))),
        or_nothing(finding.again.map(with_interval)),
        or_nothing(finding.limit.map(|limit| format!("≤ {limit:.2}"))),
    ]
}

fn with_interval(found: Estimate) -> String {
    format!("{} ({})", ratio(found.median), interval(&found))
}

/// How many bars are met, and which are not.
fn write_bars(bars: &[Conclusion], out: &mut impl Write) -> io::Result<()> {
    let count = |wanted: Verdict| bars.iter().filter(|bar| bar.verdict == Some(wanted)).count();
    let (met, missed) = (count(Verdict::Met), count(Verdict::Missed));
    if met + missed > 0 {
        writeln!(out, "bars: {met} met, {missed} missed")?;
    }
    let is_missed = |bar: &&Conclusion| bar.verdict == Some(Verdict::Missed);
    bars.iter().filter(is_missed).try_for_each(|bar| writeln!(out, "{bar}"))
}

/// Writes which programs there are.
///
/// # Errors
///
/// As `out` has them.
pub fn write_list(out: &mut impl Write) -> io::Result<()> {
    PROGRAMS.iter().try_for_each(|program| {
        let measured: Vec<&str> = program.quantities.iter().map(|quantity| quantity.title()).collect();
        writeln!(out, "{:24}{} ({})", program.key, program.title, measured.join(", "))
    })
}
