//! The committed files of results, as tables of documents need them: of any measurement, by title and key.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::table::{Show, Table, Wanted};
use crate::failure::Failure;
use crate::harness::report::{Arm, Cell, Figure};
use crate::numbers::{NOTHING, ratio, with_interval};
use crate::page::{markdown, model};
use crate::report::document::{Document, files_in};
use crate::stats::Estimate;
use crate::stats::conclusion::Conclusion;

/// The folder of the files.
#[derive(Debug)]
pub struct Results {
    files: Vec<PathBuf>,
}

/// What every measurement's report has, whatever tells its cells apart.
#[derive(Debug, Deserialize)]
struct Content {
    note: Option<String>,
    command_line: String,
    cells: Vec<Cell<serde_json::Map<String, serde_json::Value>>>,
    bars: Vec<Conclusion>,
}

impl Results {
    /// The files of a folder.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn of(folder: &Path) -> Result<Self, Failure> {
        Ok(Results { files: files_in(folder)? })
    }

    /// The table in Markdown, and below it where it comes from.
    ///
    /// # Errors
    ///
    /// If its file cannot be read, or it asks for what is not there, with what is there.
    pub fn table(&self, table: &Table) -> Result<String, String> {
        let names = || self.files.iter().map(|file| name_of(file));
        let place = names().position(|name| name == table.file);
        let file = place.ok_or_else(|| unknown("file", &table.file, names()))?;
        let document = Document::load(&self.files[file]).map_err(|failure| failure.to_string())?;
        let content: Content = document.content().map_err(|failure| failure.to_string())?;
        let heads = table.columns.iter().map(|column| column.head.clone());
        let mut written = model::Table {
            columns: [table.corner.clone()].into_iter().chain(heads).collect(),
            words: 1,
            ..model::Table::default()
        };
        for row in &table.rows {
            let place = |column| content.place(&table.wanted(row, column)?);
            let places: Vec<String> = table.columns.iter().map(place).collect::<Result<_, String>>()?;
            written.rows.push([row.head.clone()].into_iter().chain(places).collect());
        }
        let bars = content.bars(&table.bars)?;
        Ok([markdown::grid(&written), bars, content.origin(&document)].join("\n").trim_start().to_owned())
    }
}

impl Content {
    fn place(&self, wanted: &Wanted<'_>) -> Result<String, String> {
        let cell = self.cells.iter().find(|cell| cell.title == wanted.cell);
        let titles = || self.cells.iter().map(|cell| cell.title.as_str());
        let cell = cell.ok_or_else(|| unknown("cell", wanted.cell, titles()))?;
        let keys = || cell.arms.iter().map(|arm| arm.key.as_str());
        // An arm that a cell does not have is left empty in the table, as with executors that cannot do something.
        let Some(arm) = cell.arm(wanted.arm) else {
            let elsewhere = self.cells.iter().any(|cell| cell.arm(wanted.arm).is_some());
            return if elsewhere { Ok(NOTHING.to_owned()) } else { Err(unknown("arm", wanted.arm, keys())) };
        };
        let shown = |key: &String| match arm.figures.get(key) {
            Some(figure) => Ok(shown(arm, key, figure, wanted)),
            None if cell.arms.iter().any(|arm| arm.figures.contains_key(key)) => Ok(NOTHING.to_owned()),
            None => Err(unknown("figure", key, arm.figures.keys().map(String::as_str))),
        };
        Ok(wanted.figures.iter().map(shown).collect::<Result<Vec<_>, _>>()?.join(" / "))
    }

    /// The bars whose quantity begins with one of these texts, as a list.
    fn bars(&self, texts: &[String]) -> Result<String, String> {
        let mut list = String::new();
        for text in texts {
            let bars: Vec<&Conclusion> =
                self.bars.iter().filter(|bar| bar.quantity.starts_with(text)).collect();
            if bars.is_empty() {
                return Err(unknown("bar", text, self.bars.iter().map(|bar| bar.quantity.as_str())));
            }
            bars.iter().for_each(|bar| list += &format!("- {bar}\n"));
        }
        Ok(list)
    }

    /// Command, date and machine of the run.
    fn origin(&self, document: &Document) -> String {
        let note = self.note.as_ref().map_or_else(String::new, |note| format!("**{note}**: "));
        let [date, cpu, cores, tokio, revision] =
            ["date", "cpu", "cores", "tokio", "revision"].map(|key| document.fact(key));
        let command = &self.command_line;
        format!("{note}`{command}`, {date}, {cpu}, {cores} cores, tokio {tokio}, revision {revision}.\n")
    }
}

fn name_of(file: &Path) -> &str {
    file.file_stem().and_then(OsStr::to_str).unwrap_or_default()
}

/// What the base is compared with is itself.
const ITSELF: &str = "1";

fn shown(arm: &Arm, key: &str, figure: &Figure, wanted: &Wanted<'_>) -> String {
    let compared =
        |text: fn(&Estimate) -> String| figure.ratio.as_ref().map_or_else(|| ITSELF.to_owned(), text);
    match wanted.show {
        Show::Ratio => compared(with_interval),
        Show::BareRatio => compared(|estimate| ratio(estimate.median)),
        Show::Value => arm.shown(key, wanted.unit),
    }
}

fn unknown<'a>(what: &str, name: &str, there: impl Iterator<Item = &'a str>) -> String {
    format!("there is no {what} '{name}', but {}", there.collect::<Vec<_>>().join(", "))
}
