//! [`Table`]: the one form in which results are shown, as aligned text and as Markdown.

use std::fmt::Write;

use super::comparison::{Arm, Comparison, Figure, Ratio};
use super::numbers;
use super::sign_test;

/// Rows by columns. The first column names the rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub title: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// It was not measured, or cannot be.
    Nothing,
    Text(String),
    Value(f64, Unit),
    Ratio(Ratio),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Number,
    Nanos,
    Bytes,
    PerSecond,
}

impl Table {
    pub fn new(title: impl Into<String>) -> Self {
        Table { title: title.into(), ..Table::default() }
    }

    /// Adds a column: the base's value of a figure, and the other arms' ratios to it. Rows are arms, by their titles.
    pub fn column(self, heading: impl Into<String>, found: &Comparison, figure: &str, unit: Unit) -> Self {
        self.add(heading, found, figure, |figure| match figure.ratio {
            Some(ratio) => Cell::Ratio(ratio),
            None => Cell::Value(figure.value, unit),
        })
    }

    /// Adds a column of the values of a figure.
    pub fn values(self, heading: impl Into<String>, found: &Comparison, figure: &str, unit: Unit) -> Self {
        self.add(heading, found, figure, |figure| Cell::Value(figure.value, unit))
    }

    /// Adds a column of the medians of a figure's samples, each with its interval, and without a unit.
    pub fn medians(self, heading: impl Into<String>, found: &Comparison, figure: &str) -> Self {
        self.add(heading, found, figure, |figure| {
            let median = sign_test::median(&figure.samples);
            Cell::Text(match sign_test::interval(&figure.samples) {
                Some([low, high]) => format!("{median} ({low}–{high})"),
                None => format!("{median} ({} rounds: no interval)", figure.samples.len()),
            })
        })
    }

    fn add(
        mut self,
        heading: impl Into<String>,
        found: &Comparison,
        figure: &str,
        cell: impl Fn(&Figure) -> Cell,
    ) -> Self {
        self.columns.push(heading.into());
        for arm in &found.arms {
            if !self.rows.iter().any(|row| row.title == arm.title) {
                self.rows.push(Row { title: arm.title.clone(), cells: Vec::new() });
            }
        }
        for row in &mut self.rows {
            row.cells.resize(self.columns.len() - 1, Cell::Nothing);
            row.cells.push(found.figure(&row.title, figure).map_or(Cell::Nothing, &cell));
        }
        self
    }

    /// Adds a row, for tables whose rows are not arms.
    pub fn row(mut self, title: impl Into<String>, cells: impl Into<Vec<Cell>>) -> Self {
        self.rows.push(Row { title: title.into(), cells: cells.into() });
        self
    }

    /// A table of programs and services of which only the imports change.
    pub fn by_imports(title: impl Into<String>) -> Self {
        let columns = ["before", "Clockworker", "before, again (A/A)"].map(str::to_owned).to_vec();
        Table { columns, ..Table::new(title) }
    }

    /// Adds a row for each of these figures that the base has, under its heading: the base's value, and the ratios of the arm
    /// and of the base measured again.
    pub fn quantities(self, found: &Comparison, figures: &[(&str, &str, Unit)]) -> Self {
        figures.iter().fold(self, |table, &(key, heading, unit)| {
            let Some(base) = found.arms[0].figures.get(key) else { return table };
            let ratio = |arm: Option<&Arm>| {
                arm.and_then(|arm| arm.figures.get(key)?.ratio).map_or(Cell::Nothing, Cell::Ratio)
            };
            let cells = [Cell::Value(base.value, unit), ratio(found.arms.get(2)), ratio(found.arms.get(1))];
            table.row(format!("{}: {heading}", found.title), cells)
        })
    }

    /// All ratios, but those of the base to itself.
    pub fn ratios(&self) -> impl Iterator<Item = &Ratio> {
        let cells = self.rows.iter().filter(|row| !row.is_again()).flat_map(|row| &row.cells);
        cells.filter_map(|cell| if let Cell::Ratio(ratio) = cell { Some(ratio) } else { None })
    }

    /// In columns, for a terminal.
    pub fn text(&self) -> String {
        let lines = self.lines();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.columns.len()).map(width).collect();
        let mut text = format!("{}\n", self.title);
        for line in &lines {
            let mut row = format!("{:<width$}", line[0], width = widths[0]);
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                let _ = write!(row, "  {cell:>width$}");
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        for (number, line) in self.lines().iter().enumerate() {
            let cells: Vec<String> = line.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|---{}|", "|---:".repeat(self.columns.len()));
            }
        }
        text
    }

    /// The texts of all cells, with the headings.
    fn lines(&self) -> Vec<Vec<String>> {
        let headings = [String::new()].into_iter().chain(self.columns.iter().cloned()).collect();
        let row = |row: &Row| {
            let mut cells = vec![row.title.clone()];
            cells.extend(row.cells.iter().map(|cell| cell.marked(row.is_again())));
            cells.resize(self.columns.len() + 1, Cell::Nothing.text());
            cells
        };
        [headings].into_iter().chain(self.rows.iter().map(row)).collect()
    }
}

impl Row {
    /// Whether it is the base again, which is there to show how far a ratio of 1 can be from 1.
    fn is_again(&self) -> bool {
        self.title.ends_with("(A/A)")
    }
}

impl Cell {
    fn is_undecided(&self) -> bool {
        matches!(self, Cell::Ratio(Ratio { undecided: true, .. }))
    }

    /// As it stands in a table.
    fn marked(&self, is_again: bool) -> String {
        let mark = if self.is_undecided() && !is_again { " undecided" } else { "" };
        format!("{}{mark}", self.text())
    }

    fn text(&self) -> String {
        match self {
            Cell::Nothing => "–".to_owned(),
            Cell::Text(text) => text.clone(),
            Cell::Value(value, Unit::Number) => numbers::number(*value),
            Cell::Value(value, Unit::Nanos) => numbers::time(*value),
            Cell::Value(value, Unit::Bytes) => format!("{} B", numbers::number(*value)),
            Cell::Value(value, Unit::PerSecond) => format!("{}/s", numbers::number(*value)),
            Cell::Ratio(Ratio { median, interval: Some([low, high]), .. }) => {
                let [median, low, high] = [*median, *low, *high].map(numbers::ratio);
                format!("{median} ({low}–{high})")
            }
            Cell::Ratio(Ratio { median, rounds, .. }) => {
                format!("{} ({rounds} rounds: no interval)", numbers::ratio(*median))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, ratio: Option<(f64, Option<[f64; 2]>, bool)>) -> Figure {
        let ratio =
            ratio.map(|(median, interval, undecided)| Ratio { median, interval, rounds: 4, undecided });
        Figure { value, ratio, samples: Vec::new() }
    }

    fn comparison(arms: impl IntoIterator<Item = (&'static str, Figure)>) -> Comparison {
        let arm = |(title, figure): (&str, Figure)| Arm {
            title: title.to_owned(),
            figures: [("time".to_owned(), figure)].into(),
        };
        let arms = arms.into_iter().map(arm).collect();
        Comparison { part: String::new(), title: String::new(), rounds: 4, arms }
    }

    fn table() -> Table {
        let poll = comparison([
            ("LocalSet", figure(26.0, None)),
            ("LocalSet again (A/A)", figure(26.1, Some((1.0, Some([0.99, 1.02]), true)))),
            ("ours", figure(7.0, Some((0.28, Some([0.27, 0.29]), false)))),
            ("equal", figure(26.0, Some((1.0, Some([0.98, 1.01]), true)))),
        ]);
        let hop = comparison([
            ("LocalSet", figure(1_250.0, None)),
            ("ours", figure(700.0, Some((0.56, None, false)))),
        ]);
        Table::new("What a poll costs").column("poll", &poll, "time", Unit::Nanos).column(
            "hop|both",
            &hop,
            "time",
            Unit::Nanos,
        )
    }

    #[test]
    fn markdown_is_a_table() {
        let wanted = "\
## What a poll costs

|  | poll | hop\\|both |
|---|---:|---:|
| LocalSet | 26.0 ns | 1.25 µs |
| LocalSet again (A/A) | 1.00 (0.99–1.02) | – |
| ours | 0.28 (0.27–0.29) | 0.56 (4 rounds: no interval) |
| equal | 1.00 (0.98–1.01) undecided | – |
";
        assert_eq!(table().markdown(), wanted);
        // The base measured again is none of the ratios.
        assert!(table().ratios().map(|ratio| ratio.undecided).eq([false, false, true]));
        let text = table().text();
        let columns = |line: &str| line.chars().count();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines.windows(2).all(|pair| columns(pair[0]) == columns(pair[1])), "{text}");
    }

    #[test]
    fn a_median_has_the_interval_of_its_samples() {
        let cell = |samples: &[f64]| {
            let found = comparison([("ours", Figure { samples: samples.to_vec(), ..figure(0.0, None) })]);
            Table::new("t").medians("load", &found, "time").rows[0].cells.clone()
        };
        assert_eq!(cell(&[70.0, 72.0, 75.0, 71.0, 73.0, 74.0]), [Cell::Text("72.5 (70–75)".to_owned())]);
        assert_eq!(cell(&[70.0, 72.0]), [Cell::Text("71 (2 rounds: no interval)".to_owned())]);
    }
}
