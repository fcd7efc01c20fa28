//! The committed files of results, as tables of documents need them: of any measurement, by title and key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::table::{Entry, Show, Table, Wanted};
use crate::failure::Failure;
use crate::harness::{Arm, Cell};
use crate::numbers::{NOTHING, ratio, with_interval};
use crate::page::model;
use crate::report::document::{Document, files_in, folders_in};
use crate::stats::{Conclusion, Estimate};

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
pub fn table(files: &Files, table: &Table) -> Result<String, String> {
    let named = table.files()?;
    let loaded = |name: &String| Ok((name.clone(), files.content(name)?));
    let contents: BTreeMap<String, Content> = named.iter().map(loaded).collect::<Result<_, String>>()?;
    let head = |entry: &Entry| {
        let title = || contents.get(&table.file_of(entry)?)?.title(entry);
        entry.head.clone().or_else(title).unwrap_or_default()
    };
    let place = |row, column| {
        let wanted = table.wanted(row, column)?;
        match wanted.show {
            Show::Machines => files.range(&wanted),
            Show::Command => Ok(contents[&wanted.file].command()),
            _ => contents[&wanted.file].place(&wanted),
        }
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
    if let Some(content) = table.file().and_then(|file| contents.get(&file)) {
        parts.push(content.bars(&table.bars)?);
    }
    parts.extend(named.iter().map(|file| contents[file].origin.clone()));
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n"))
}

/// The files of results: of one machine in their folder, of each other one in a folder in it.
#[derive(Debug)]
pub struct Files(BTreeMap<String, PathBuf>);

impl Files {
    pub fn of(folder: &Path) -> Result<Self, Failure> {
        let mut named = BTreeMap::new();
        for inner in [folder.to_owned()].into_iter().chain(folders_in(folder)?) {
            let name = |file: &PathBuf| {
                let inside = file.strip_prefix(folder).unwrap_or(file).with_extension("");
                inside
                    .components()
                    .map(|part| part.as_os_str().to_string_lossy())
                    .collect::<Vec<_>>()
                    .join("/")
            };
            named.extend(files_in(&inner)?.into_iter().map(|file| (name(&file), file)));
        }
        Ok(Files(named))
    }

    fn content(&self, name: &str) -> Result<Content, String> {
        let file = self.0.get(name);
        let file = file.ok_or_else(|| unknown("file", name, self.0.keys().map(String::as_str)))?;
        let read = || {
            let document = Document::load(file)?;
            let content: Content = document.content()?;
            Ok(Content { origin: content.origin(&document), ..content })
        };
        read().map_err(|failure: Failure| failure.to_string())
    }

    /// The ratios that all machines have in a place: their medians' range, and in brackets that of their intervals.
    fn range(&self, wanted: &Wanted<'_>) -> Result<String, String> {
        let file = |name: &str| name.rsplit('/').next().map(str::to_owned);
        let same = self.0.keys().filter(|name| file(name) == file(&wanted.file));
        let mut found: Vec<Estimate> = Vec::new();
        for name in same {
            found.extend(self.content(name)?.ratio(wanted));
        }
        if found.is_empty() {
            return Err(format!("no machine has such a ratio in '{}'", wanted.cell));
        }
        let least = |of: fn(&Estimate) -> f64| ratio(found.iter().map(of).fold(f64::INFINITY, f64::min));
        let greatest = |of: fn(&Estimate) -> f64| ratio(found.iter().map(of).fold(0.0, f64::max));
        let [one, other] = [least(|found| found.median), greatest(|found| found.median)];
        let medians = if one == other { one } else { format!("{one} – {other}") };
        Ok(format!("{medians} ({} – {})", least(|found| found.low), greatest(|found| found.high)))
    }
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

    /// The ratio that stands in a place, if there is one.
    fn ratio(&self, wanted: &Wanted<'_>) -> Option<Estimate> {
        let arms = self
            .cells
            .iter()
            .filter(|cell| cell.title == wanted.cell)
            .filter_map(|cell| cell.arm(wanted.arm));
        arms.flat_map(|arm| wanted.figures.iter().filter_map(|key| arm.ratio(key))).next()
    }

    /// The arguments of the command that measured it.
    fn command(&self) -> String {
        let arguments = self.command_line.split_once(" -- ").map_or(&*self.command_line, |(_, rest)| rest);
        format!("`{arguments}`")
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
        Show::Value | Show::Machines | Show::Command => arm.shown(key, wanted.unit),
    }
}

fn unknown<'a>(what: &str, name: &str, there: impl Iterator<Item = &'a str>) -> String {
    format!("there is no {what} '{name}', but {}", there.collect::<Vec<_>>().join(", "))
}
