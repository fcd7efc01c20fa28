//! A table that a document wants: which figure of which file, cell and arm stands in each place.
//!
//! Rows and columns are both [`Entry`]s, each of which says a part: what neither a row nor its column says is the table's. So a
//! table may have arms as rows and cells as columns, or the other way round.
//!
//! ```toml
//! all = { file = "compare", figures = ["ns_per_poll"] }
//! columns = [{ cell = "50,000 × 5" }, { cell = "1,000 × 1,000" }]
//! rows = [{ arm = "qlas" }, { head = "LocalSet, ns", arm = "local_set", show = "value" }]
//! ```

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// What stands above the heads of the rows.
    pub corner: String,
    /// What holds where neither row nor column says otherwise.
    pub all: Entry,
    pub columns: Vec<Entry>,
    pub rows: Vec<Entry>,
    /// Bars that follow, met or missed, of the file for all: those whose quantity begins with one of these texts.
    pub bars: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    /// Its name in the table, if it is not the title of its arm or cell.
    pub head: Option<String>,
    pub file: Option<String>,
    /// The folder of the files of another machine, in the folder of results.
    pub machine: Option<String>,
    pub cell: Option<String>,
    pub arm: Option<String>,
    /// The keys of the figures, which stand beside each other.
    pub figures: Vec<String>,
    pub show: Option<Show>,
    /// What values are divided by: 1e6 makes milliseconds of nanoseconds, 0.01 per cent of a part.
    pub unit: Option<f64>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [&self.head, &self.arm, &self.cell].into_iter().find_map(Option::as_deref);
        write!(f, "'{}'", named.unwrap_or_default())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// The ratio to the base's, with its interval.
    #[default]
    Ratio,
    BareRatio,
    /// The ratios' medians on all machines that have the file, from the least to the greatest, and the ends of all their intervals.
    Machines,
    Value,
    /// The arguments of the command that measured it.
    Command,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wanted<'a> {
    /// The name of the file of results, behind that of its machine.
    pub file: String,
    pub cell: &'a str,
    pub arm: &'a str,
    pub figures: &'a [String],
    pub show: Show,
    pub unit: f64,
}

/// The name of the file that the first of these entries says that says one, behind that of the machine.
fn file_of(entries: &[&Entry]) -> Option<String> {
    let file = entries.iter().find_map(|entry| entry.file.as_deref())?;
    let machine = entries.iter().find_map(|entry| entry.machine.as_deref());
    Some(machine.map_or_else(|| file.to_owned(), |machine| format!("{machine}/{file}")))
}

impl Table {
    /// The name of the file for all, whose bars follow.
    pub fn file(&self) -> Option<String> {
        file_of(&[&self.all])
    }

    /// The name of the file of a row or column by itself.
    pub fn file_of(&self, entry: &Entry) -> Option<String> {
        file_of(&[entry, &self.all])
    }

    /// The names of all files that it is made of, in the order of its places.
    pub fn files(&self) -> Result<Vec<String>, String> {
        let mut files: Vec<String> = self.file().into_iter().collect();
        for row in &self.rows {
            for column in &self.columns {
                files.push(self.wanted(row, column)?.file);
            }
        }
        let mut seen = BTreeSet::new();
        files.retain(|file| seen.insert(file.clone()));
        Ok(files)
    }

    /// What stands where a row and a column meet: the row's word goes before the column's, and that before the table's.
    pub fn wanted<'a>(&'a self, row: &'a Entry, column: &'a Entry) -> Result<Wanted<'a>, String> {
        let entries = [row, column, &self.all];
        let missing = |what| format!("neither {row}, {column} nor `all` has {what}");
        let figures = entries.iter().map(|entry| &entry.figures).find(|figures| !figures.is_empty());
        Ok(Wanted {
            file: file_of(&entries).ok_or_else(|| missing("a file"))?,
            cell: entries.iter().find_map(|entry| entry.cell.as_deref()).ok_or_else(|| missing("a cell"))?,
            arm: entries.iter().find_map(|entry| entry.arm.as_deref()).ok_or_else(|| missing("an arm"))?,
            figures: figures.ok_or_else(|| missing("figures"))?,
            show: entries.iter().find_map(|entry| entry.show).unwrap_or_default(),
            unit: entries.iter().find_map(|entry| entry.unit).unwrap_or(1.0),
        })
    }
}
