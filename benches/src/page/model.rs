//! What the page says, before it is HTML or Markdown.

use clockworker_simulate::Rows;

use super::headline::Headline;
use super::plot::Plot;
use crate::stats::conclusion::{Conclusion, Verdict};

#[derive(Clone, Debug, Default)]
pub struct Chapter {
    pub headlines: Vec<Headline>,
    pub sections: Vec<Section>,
}

/// A part of the page: one question, and its answer.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub title: String,
    pub question: String,
    pub command: String,
    /// The file that it is from; empty where there is none.
    pub file: String,
    pub note: Option<String>,
    /// How it was measured, in a sentence or two.
    pub method: String,
    pub plots: Vec<Plot>,
    pub tables: Vec<Table>,
    /// What a reader must know before believing the numbers.
    pub doubts: Vec<String>,
    pub bars: Vec<Conclusion>,
    /// Whether only those bars are listed that are not met: there are many, and a table has them all.
    pub hides_met: bool,
}

impl Section {
    pub fn listed_bars(&self) -> impl Iterator<Item = &Conclusion> {
        let is_listed =
            |bar: &&Conclusion| !self.hides_met || bar.verdict.is_some_and(|verdict| verdict != Verdict::Met);
        self.bars.iter().filter(is_listed)
    }

    /// How many bars are met, missed and undecided, if any are judged.
    pub fn verdicts(&self) -> Option<String> {
        let verdicts: Vec<Verdict> = self.bars.iter().filter_map(|bar| bar.verdict).collect();
        let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let counted = [Verdict::Met, Verdict::Missed, Verdict::Undecided]
            .map(|verdict| format!("{} {verdict}", count(verdict)));
        (!verdicts.is_empty()).then(|| counted.join(", "))
    }
}

/// A column of a table: its name, and what stands in it for a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// A table whose first column names the line.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// How many columns, from the first on, are words and not numbers.
    pub words: usize,
}

impl Table {
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        Table {
            caption: caption.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
            words: 1,
        }
    }

    /// A table of `rows`: each column has a name, and says what stands in it for a row.
    pub fn of<R, const N: usize>(
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
        columns: [Column<R>; N],
    ) -> Self {
        let mut table = Table::new(caption, &columns.each_ref().map(|(name, _)| *name));
        let row = |row: R| columns.iter().map(|(_, cell)| cell(&row)).collect();
        table.rows = rows.into_iter().map(row).collect();
        table
    }

    pub fn of_rows(caption: &str, Rows { columns, rows, words }: Rows) -> Self {
        Table { caption: caption.to_owned(), columns, rows, words }
    }

    /// The same, with its first `words` columns as words.
    pub fn with_words(self, words: usize) -> Self {
        Table { words, ..self }
    }
}
