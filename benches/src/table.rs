//! The two tables, as text.

use comfy_table::{Cell, CellAlignment, Row, Table, presets};

use crate::compare::overhead::Shape;
use crate::latencies::Percentiles;
use crate::numbers::{grouped, interval, micros, millis, percent, ratio};
use crate::report::{BackgroundArm, BackgroundReport, OverheadArm, OverheadReport, OverheadShape};
use crate::stats::Estimate;

/// What stands where there is nothing to compare.
const NOTHING: &str = "–";

/// The table of the overhead scenario.
pub fn overhead(report: &OverheadReport) -> Table {
    let mut table = table(&["tasks × yields", "executor", "ns per poll", "× LocalSet", "95 % interval"]);
    for shape in &report.shapes {
        for (place, arm) in shape.arms.iter().enumerate() {
            table.add_row(overhead_row(shape, arm, place == 0));
        }
    }
    align_numbers(&mut table, 2);
    table
}

fn overhead_row(shape: &OverheadShape, arm: &OverheadArm, first: bool) -> Row {
    let OverheadShape { tasks, yields, .. } = *shape;
    let name = if first { Shape { tasks, yields }.to_string() } else { String::new() };
    let (value, ends) = columns(arm.ratio.as_ref());
    Row::from([name, arm.title.to_owned(), format!("{:.1}", arm.ns_per_poll), value, ends])
}

/// The table of the background scenario.
pub fn background(report: &BackgroundReport) -> Table {
    let mut table = table(&[
        "executor",
        "",
        "queueing\ndelay, ms",
        "total\nlatency, ms",
        "p99 total\n× alone",
        "background\nloops / s",
        "loops\n× LocalSet",
        "ended /\noffered",
        "CPU\nused",
        "sent late\np99, µs",
    ]);
    table.load_style(presets::UTF8_FULL);
    table.add_rows(report.arms.iter().map(background_row));
    align_numbers(&mut table, 2);
    table
}

fn background_row(arm: &BackgroundArm) -> Row {
    Row::from([
        arm.title.to_owned(),
        "p50\np90\np99".to_owned(),
        percentiles(&arm.queueing_delay),
        percentiles(&arm.total_latency),
        stacked(arm.total_p99_ratio.as_ref()),
        arm.background_rate.map_or_else(|| NOTHING.to_owned(), |rate| grouped(rate.round() as u64)),
        stacked(arm.background_ratio.as_ref()),
        format!("{}\n{}", grouped(arm.completed as u64), grouped(arm.offered as u64)),
        percent(arm.cpu_used),
        micros(arm.generator_lateness_p99),
    ])
}

/// The three percentiles, one below the other.
fn percentiles(Percentiles { p50, p90, p99 }: &Percentiles) -> String {
    [p50, p90, p99].map(|&nanos| millis(nanos)).join("\n")
}

/// A ratio above its interval.
fn stacked(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || NOTHING.to_owned(),
        |estimate| format!("{}\n{}", ratio(estimate.median), interval(estimate)),
    )
}

/// A ratio and its interval, for two cells.
fn columns(estimate: Option<&Estimate>) -> (String, String) {
    let nothing = || (NOTHING.to_owned(), NOTHING.to_owned());
    estimate.map_or_else(nothing, |estimate| (ratio(estimate.median), interval(estimate)))
}

fn table(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(titles.iter().map(|&title| Cell::new(title)));
    table
}

/// Numbers stand to the right, from the column `first` on.
fn align_numbers(table: &mut Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
