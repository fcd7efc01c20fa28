//! The report for people.

use std::io::{self, Write};

use crate::compare::background::BACKGROUND_SHARE;
use crate::numbers::{micros, percent};
use crate::report::{BackgroundArm, BackgroundReport, OverheadReport, Report};
use crate::table;

pub use crate::latencies::TOLERABLE_LATENESS_NS;

/// Writes tables, conclusions and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    if let Some(overhead) = &report.overhead {
        write_overhead(overhead, out)?;
    }
    if let Some(background) = &report.background {
        write_background(background, out)?;
    }
    write_conclusions(report, out)?;
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_overhead(report: &OverheadReport, out: &mut impl Write) -> io::Result<()> {
    let rounds = report.rounds();
    writeln!(out, "Overhead: self-waking polls; medians of {rounds} rounds, ratios paired within a round")?;
    writeln!(out, "{}\n", table::overhead(report))
}

fn write_background(report: &BackgroundReport, out: &mut impl Write) -> io::Result<()> {
    let load = percent(report.offered_load);
    let (repetitions, counted) = (report.repetitions(), report.counted_s);
    write!(out, "Foreground beside background: 1,000 arrivals a second offer {load} of a core; ")?;
    writeln!(
        out,
        "{repetitions} × {counted} s; clockworker's shares {}:{}",
        report.foreground_share, BACKGROUND_SHARE
    )?;
    writeln!(out, "{}\n", table::background(report))
}

fn write_conclusions(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for conclusion in &report.conclusions {
        writeln!(out, "{conclusion}")?;
    }
    for arm in report.background.iter().flat_map(|background| &background.arms) {
        write_doubts(arm, out)?;
    }
    Ok(())
}

/// What a reader must know before believing an arm's latencies.
fn write_doubts(arm: &BackgroundArm, out: &mut impl Write) -> io::Result<()> {
    let unfinished = arm.offered - arm.completed;
    if unfinished > 0 {
        writeln!(out, "{}: {unfinished} foreground tasks had not ended at the drain limit", arm.title)?;
    }
    if arm.generator_lateness_p99 > TOLERABLE_LATENESS_NS {
        let late = micros(arm.generator_lateness_p99);
        writeln!(
            out,
            "{}: arrivals were sent up to {late} µs late (p99): the machine was not quiet",
            arm.title
        )?;
    }
    Ok(())
}
