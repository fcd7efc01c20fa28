//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::grid::{Cell, Grid};
use super::measure::Versus;
use super::report::Report;
use crate::numbers::{interval, ratio};

/// Writes tables, bars and facts.
///
/// # Errors
///
/// As `out` has them.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    report.heading.write_note(out)?;
    for section in &report.sections {
        for grid in &section.grids {
            write_grid(section.section.title(), grid, out)?;
        }
    }
    for bar in &report.bars {
        writeln!(out, "{bar}")?;
    }
    report.heading.write_facts(report.heading.arguments.seed, out)
}

fn write_grid(section: &str, grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    let base = match grid.versus {
        Versus::FirstRow => "LocalSet",
        Versus::FirstShape => "the first column",
    };
    writeln!(out, "[{section}] {}; below it the ratio to {base} (95 % interval)", grid.quantity.title)?;
    writeln!(out, "medians of up to {} rounds", rounds(grid))?;
    writeln!(out, "{}\n", table(grid))
}

fn rounds(grid: &Grid) -> usize {
    let cells = grid.rows.iter().flat_map(|row| row.cells.iter().flatten());
    cells.map(|cell| cell.samples.len()).max().unwrap_or(0)
}

fn table(grid: &Grid) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([String::new()].into_iter().chain(grid.shapes.iter().cloned()));
    for row in &grid.rows {
        let cells = row.cells.iter().map(|cell| cell.as_ref().map_or_else(|| "–".to_owned(), text));
        table.add_row([row.row.title.clone()].into_iter().chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn text(cell: &Cell) -> String {
    let value = number(cell.median);
    cell.ratio.map_or_else(
        || value.clone(),
        |estimate| format!("{value}\n{} ({})", ratio(estimate.median), interval(&estimate)),
    )
}

/// Three digits that count.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!([0.0, 0.0123, 7.25, 1_234.5].map(number), ["0", "0.012", "7.2", "1234"]);
    }
}
