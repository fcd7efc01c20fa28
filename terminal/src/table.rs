//! Tables: as data, for the terminal, and for Markdown.

use std::fmt;

use comfy_table::{CellAlignment, presets};

/// A column of a table: its name, and what stands in it for a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// A table whose first column names the line. [`Display`](fmt::Display) draws it for a terminal.
///
/// ```
/// use clockworker_terminal::table::Table;
///
/// let table = Table::of("Squares", [2, 3], [("n", |n: &i32| n.to_string()), ("n²", |n| (n * n).to_string())]);
/// assert_eq!(table.markdown(), "| n | n² |\n| --- | ---: |\n| 2 | 4 |\n| 3 | 9 |\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows. It is not drawn with the table.
    pub caption: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The lines, as long as the list of columns.
    pub rows: Vec<Vec<String>>,
    /// How many columns, from the first on, are words and not numbers.
    pub words: usize,
}

impl Table {
    /// A table without rows, whose first column is words.
    pub fn new<'a>(caption: impl Into<String>, columns: impl IntoIterator<Item = &'a str>) -> Self {
        let columns = columns.into_iter().map(str::to_owned).collect();
        Table { caption: caption.into(), columns, rows: Vec::new(), words: 1 }
    }

    /// A table of `rows`: each column has a name, and says what stands in it for a row.
    pub fn of<R, const N: usize>(
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
        columns: [Column<R>; N],
    ) -> Self {
        let row = |row: R| columns.iter().map(|(_, cell)| cell(&row)).collect();
        let rows = rows.into_iter().map(row).collect();
        Table { rows, ..Table::new(caption, columns.each_ref().map(|(name, _)| *name)) }
    }

    /// The same, with its first `words` columns as words.
    pub fn with_words(self, words: usize) -> Self {
        Table { words, ..self }
    }

    /// Its lines in Markdown, without the caption; nothing if it has no rows.
    pub fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escaped =
            |cells: &Vec<String>| cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
        let rule = |place| if place < self.words { "---" } else { "---:" }.to_owned();
        let rule: Vec<String> = (0..self.columns.len()).map(rule).collect();
        let head = line(&escaped(&self.columns)) + &line(&rule);
        self.rows.iter().fold(head, |text, row| text + &line(&escaped(row)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut drawn = comfy_table::Table::new();
        drawn.load_style(presets::UTF8_FULL_CONDENSED).set_header(&self.columns).add_rows(&self.rows);
        drawn.column_iter_mut().skip(self.words).for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
        drawn.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_what_markdown_takes_for_one() {
        let mut table = Table::new("Times", ["who", "ns"]);
        assert_eq!(table.markdown(), "");
        table.rows.push(vec!["a|b".to_owned(), "7".to_owned()]);
        assert_eq!(table.markdown(), "| who | ns |\n| --- | ---: |\n| a\\|b | 7 |\n");
    }

    #[test]
    fn numbers_stand_on_the_right() {
        let table =
            Table::of("", ["ab"], [("who", |who: &&str| (*who).to_owned()), ("all", |_| "7".to_owned())]);
        assert!(table.to_string().contains("│ ab  ┆   7 │"), "{table}");
    }
}
