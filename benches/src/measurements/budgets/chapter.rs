//! What `budgets` says.

use super::{ALLOWED, CLOCKWORKER, LatencyBudgets, PERCENTILES, Shape};
use crate::harness::{Cell, Report};
use crate::numbers::{NOTHING, three_digits, time};
use crate::page::{Chapter, Section, Table};

pub(super) fn of(report: &Report<LatencyBudgets>) -> Chapter {
    let columns = ["scenario", "percentile", "baseline", "budget", "found", "÷ baseline", ""];
    let mut table = Table { words: 2, ..Table::new("Latencies beside their budgets", columns) };
    table.rows = report.cells.iter().flat_map(|cell| rows(cell, report)).collect();
    let section = Section {
        method: format!(
            "Percentiles of each round, and of those the median of {} rounds. A budget is {ALLOWED:.0} × the committed baseline.",
            report.cells.first().map_or(0, Cell::rounds),
        ),
        tables: vec![table],
        hides_met: true,
        ..report.section("Latency budgets")
    };
    Chapter { sections: vec![section], ..Chapter::default() }
}

fn rows(cell: &Cell<Shape>, report: &Report<LatencyBudgets>) -> Vec<Vec<String>> {
    let row = |(place, (name, _)): (usize, (&str, f64))| {
        let baseline = cell.shape.baseline.map(|baseline| baseline.0[place]);
        let found = cell.arm(CLOCKWORKER).and_then(|arm| arm.value(name));
        let quantity = format!("{} {name} ÷ baseline", cell.title);
        let verdict = report.bars.iter().find(|bar| bar.quantity == quantity).and_then(|bar| bar.verdict);
        let shown =
            |nanos: Option<f64>, text: fn(f64) -> String| nanos.map_or_else(|| NOTHING.to_owned(), text);
        vec![
            cell.title.clone(),
            name.to_owned(),
            shown(baseline, time),
            shown(baseline.map(|nanos| nanos * ALLOWED), time),
            shown(found, time),
            shown(found.zip(baseline).map(|(found, baseline)| found / baseline), three_digits),
            verdict.map_or_else(|| "not judged".to_owned(), |verdict| verdict.to_string()),
        ]
    };
    PERCENTILES.into_iter().enumerate().map(row).collect()
}
