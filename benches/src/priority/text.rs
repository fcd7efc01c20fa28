//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::report::{ArmReport, Report, SceneReport};
use crate::numbers::{grouped, interval, millis, percent, ratio};
use crate::spread::Spread;
use crate::stats::Estimate;
use crate::text::TOLERABLE_LATENESS_NS;

/// Writes tables, bars and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    for scene in &report.scenes {
        write_scene(report, scene, out)?;
    }
    for bar in &report.bars {
        writeln!(out, "{bar}")?;
    }
    for scene in &report.scenes {
        write_doubts(scene, out)?;
    }
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_scene(report: &Report, scene: &SceneReport, out: &mut impl Write) -> io::Result<()> {
    let arguments = &report.heading.arguments;
    writeln!(out, "{}: {} rounds of {} s", scene.title, arguments.rounds, arguments.counted_s)?;
    writeln!(out, "latencies of all rounds together; ratios are medians of the rounds' (95 % interval)")?;
    writeln!(out, "{}\n", table(scene))
}

fn table(scene: &SceneReport) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "executor",
        "queueing delay, ms\np50 / p99 / p99.9",
        "total latency, ms\np50 / p99 / p99.9",
        "p50\n× alone",
        "p99\n× alone",
        "background\nof a core",
        "background\n× LocalSet",
        "ended /\noffered",
    ]);
    table.add_rows(scene.arms.iter().map(row));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(arm: &ArmReport) -> [String; 8] {
    [
        arm.title.clone(),
        tail(&arm.queueing_delay_ns),
        tail(&arm.total_latency_ns),
        with_interval(arm.p50_ratio.as_ref()),
        with_interval(arm.p99_ratio.as_ref()),
        percent(arm.background_cpu),
        with_interval(arm.background_ratio.as_ref()),
        format!("{}\n{}", grouped(arm.tasks - arm.unfinished), grouped(arm.tasks)),
    ]
}

/// What a reader must know before believing an arm's latencies.
fn write_doubts(scene: &SceneReport, out: &mut impl Write) -> io::Result<()> {
    let late = |arm: &&ArmReport| arm.generator_lateness_p99_ns > TOLERABLE_LATENESS_NS as f64;
    for arm in scene.arms.iter().filter(late) {
        let late = grouped((arm.generator_lateness_p99_ns / 1e3) as u64);
        writeln!(
            out,
            "{}, {}: arrivals were sent up to {late} µs late (p99): the machine was not quiet",
            scene.title, arm.title
        )?;
    }
    Ok(())
}

fn tail(spread: &Spread) -> String {
    [spread.p50, spread.p99, spread.p999].map(|nanos| millis(nanos as u64)).join(" / ")
}

/// A ratio above its interval.
fn with_interval(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || "–".to_owned(),
        |estimate| format!("{}\n{}", ratio(estimate.median), interval(estimate)),
    )
}
