//! What the page says, before it is HTML or Markdown.

pub use clockworker_terminal::table::Table;

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
