//! The committed files of results, as tables of documents need them: of any measurement, by title and key.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::PathBuf;

use serde::Deserialize;

use super::table::{Entry, Show, Table, Wanted};
use crate::failure::Failure;
use crate::harness::report::{Arm, Cell};
use crate::numbers::{NOTHING, ratio, with_interval};
use crate::page::model;
use crate::report::document::Document;
use crate::stats::Estimate;
use crate::stats::conclusion::Conclusion;

/// What every measurement's report has, whatever tells its cells apart.
#[derive(Debug, Deserialize)]
struct Content {
    note: Option<String>,
    command_line: String,
    cells: Vec<Cell<serde_json::Map<String, serde_json::Value>>>,
    bars: Vec<Conclusion>,
    /// Command, date and machine of the run.
    #[serde(skip)]
    origin: String,
}

/// The table in Markdown from these files of results, and below it where it comes from.
pub fn table(files: &[PathBuf], table: &Table) -> Result<String, String> {
    let loaded = |file| Ok((file, content(files, file)?));
    let contents: BTreeMap<&str, Content> =
        table.files().into_iter().map(loaded).collect::<Result<_, String>>()?;
    let head = |entry: &Entry| {
        let file = entry.file.as_deref().or(table.all.file.as_deref());
        let title = || contents[file?].title(entry);
        entry.head.clone().or_else(title).unwrap_or_default()
    };
    let place = |row, column| {
        let wanted = table.wanted(row, column)?;
        contents[wanted.file].place(&wanted)
    };
    let mut written = model::Table {
        columns: [table.corner.clone()].into_iter().chain(table.columns.iter().map(head)).collect(),
        words: 1,
        ..model::Table::default()
    };
    for row in &table.rows {
        let places = table.columns.iter().map(|column| place(row, column));
        written.rows.push([Ok(head(row))].into_iter().chain(places).collect::<Result<_, String>>()?);
    }
    let mut parts = vec![written.markdown()];
    if let Some(content) = table.all.file.as_deref().map(|file| &contents[file]) {
        parts.push(content.bars(&table.bars)?);
    }
    parts.extend(table.files().into_iter().map(|file| contents[file].origin.clone()));
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n"))
}

fn content(files: &[PathBuf], name: &str) -> Result<Content, String> {
    let names = || files.iter().map(|file| file.file_stem().and_then(OsStr::to_str).unwrap_or_default());
    let place = names().position(|other| other == name);
    let place = place.ok_or_else(|| unknown("file", name, names()))?;
    let read = || {
        let document = Document::load(&files[place])?;
        let content: Content = document.content()?;
        Ok(Content { origin: content.origin(&document), ..content })
    };
    read().map_err(|failure: Failure| failure.to_string())
}

impl Content {
    fn title(&self, entry: &Entry) -> Option<String> {
        let arm = |key: &String| self.cells.iter().find_map(|cell| Some(cell.arm(key)?.title.clone()));
        entry.arm.as_ref().and_then(arm).or_else(|| entry.cell.clone())
    }

    /// What stands in a place. Cells may share a title, as those of one load: the one with arm and figure is meant. Executors
    /// that cannot do something have no such figure there, and nothing stands in its place.
    fn place(&self, wanted: &Wanted<'_>) -> Result<String, String> {
        let titled = || self.cells.iter().filter(|cell| cell.title == wanted.cell);
        if titled().next().is_none() {
            return Err(unknown("cell", wanted.cell, self.cells.iter().map(|cell| cell.title.as_str())));
        }
        if self.cells.iter().all(|cell| cell.arm(wanted.arm).is_none()) {
            let keys = titled().flat_map(|cell| &cell.arms).map(|arm| arm.key.as_str());
            return Err(unknown("arm", wanted.arm, keys));
        }
        let shown = |key: &String| {
            let arms = || titled().flat_map(|cell| &cell.arms);
            if arms().all(|arm| !arm.figures.contains_key(key)) {
                let keys: BTreeSet<_> = arms().flat_map(|arm| arm.figures.keys()).collect();
                return Err(unknown("figure", key, keys.into_iter().map(String::as_str)));
            }
            let of_arm = |arm: &&Arm| arm.key == wanted.arm && arm.figures.contains_key(key);
            Ok(arms().find(of_arm).map_or_else(|| NOTHING.to_owned(), |arm| shown(arm, key, wanted)))
        };
        Ok(wanted.figures.iter().map(shown).collect::<Result<Vec<_>, _>>()?.join(" / "))
    }

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

    fn origin(&self, document: &Document) -> String {
        let note = self.note.as_ref().map_or_else(String::new, |note| format!("**{note}**: "));
        let [date, cpu, cores, tokio, revision] =
            ["date", "cpu", "cores", "tokio", "revision"].map(|key| document.fact(key));
        let command = &self.command_line;
        format!("{note}`{command}`, {date}, {cpu}, {cores} cores, tokio {tokio}, revision {revision}.\n")
    }
}

/// What the base is compared with is itself.
const ITSELF: &str = "1";

fn shown(arm: &Arm, key: &str, wanted: &Wanted<'_>) -> String {
    let ratio_as = |text: fn(&Estimate) -> String| {
        arm.ratio(key).map_or_else(|| ITSELF.to_owned(), |ratio| text(&ratio))
    };
    match wanted.show {
        Show::Ratio => ratio_as(with_interval),
        Show::BareRatio => ratio_as(|estimate| ratio(estimate.median)),
        Show::Value => arm.shown(key, wanted.unit),
    }
}

fn unknown<'a>(what: &str, name: &str, there: impl Iterator<Item = &'a str>) -> String {
    format!("there is no {what} '{name}', but {}", there.collect::<Vec<_>>().join(", "))
}
