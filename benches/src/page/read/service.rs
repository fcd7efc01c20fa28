//! Files of `service`: a key-value service beside compaction, by its imports alone and by queues.

use serde::Deserialize;

use super::Reader;
use super::parts::{Arguments, NOTHING, compared, number};
use crate::conclusions::{Conclusion, Interval};
use crate::failure::Failure;
use crate::latencies::is_worst;
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-service",
    arguments: &["service"],
    question: "What does a service gain and lose, by its imports alone and by queues?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Arguments,
    cells: Vec<Cell>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    host: String,
    compactors: u32,
    chunk_us: Option<u32>,
    arms: Vec<Arm>,
}

#[derive(Debug, Deserialize)]
struct Arm {
    arm: String,
    title: String,
    latency_ns: Figures<f64>,
    latency_ratios: Option<Figures<Estimate>>,
    chunk_rate: Option<f64>,
    chunk_ratio: Option<Estimate>,
}

#[derive(Debug, Deserialize)]
struct Figures<T> {
    mean: T,
    p50: T,
    p99: T,
    p999: T,
}

/// The chunks of the first screen's cells and of the pictures.
const CHUNK_US: u32 = 100;

/// The compactors of the first screen: one shows what it costs, many what you gain.
const ONE: u32 = 1;
const MANY: u32 = 16;

/// The arm of the first screen.
const IMPORTS: &str = "imports";

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let of_host = |cells: &[Cell]| {
        let host = cells.first().map_or("", |cell| cell.host.as_str());
        Section {
            title: format!("A service on {host}"),
            question: READER.question.to_owned(),
            command: report.arguments.command(&format!("service --host {host}")),
            note: report.note.clone(),
            method: "A key-value service on one thread, whose 16 connections send requests when a schedule drawn beforehand \
                     says so; latency counts from that moment. Compactors work off chunks of CPU time on the same thread, \
                     and yield between them. Every round measures every arm twice, in a balanced order."
                .to_owned(),
            plots: plots(host, cells),
            tables: vec![table(cells)],
            ..Section::default()
        }
    };
    let mut sections: Vec<Section> =
        report.cells.chunk_by(|one, other| one.host == other.host).map(of_host).collect();
    if let Some(first) = sections.first_mut() {
        first.bars = report.bars;
    }
    Ok(Chapter { headlines: headlines(&report.cells), sections })
}

impl Cell {
    fn arm(&self, key: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.arm == key)
    }

    /// Whether it is one of those that are shown on the first screen and in pictures.
    fn is_usual(&self) -> bool {
        self.chunk_us.is_none_or(|chunk| chunk == CHUNK_US)
    }

    fn load(&self) -> String {
        match self.chunk_us {
            None => "no compactors".to_owned(),
            Some(chunk) => format!("{} × {chunk} µs", self.compactors),
        }
    }
}

/// The first screen has room for a short line on each side.
fn headlines(cells: &[Cell]) -> Vec<Headline> {
    let usual = |cell: &&Cell| cell.host == "tokio" && cell.is_usual();
    let mean = |side, compactors| {
        let cell = cells.iter().filter(usual).find(|cell| cell.compactors == compactors)?;
        let value = cell.arm(IMPORTS)?.latency_ratios.as_ref()?.mean;
        let label = ("Imports changed ÷ LocalSet’s", format!("mean, {}", cell.load()));
        let (kind, better) = (Some(Interval::Confidence95), Better::Less);
        Some(Headline::ratio(side, label, &value, kind, better, "service"))
    };
    [mean(Side::Cost, ONE), mean(Side::Gain, MANY)].into_iter().flatten().collect()
}

fn plots(host: &str, cells: &[Cell]) -> Vec<Plot> {
    let usual = || cells.iter().filter(|cell| cell.is_usual());
    let bars = |of: fn(&Arm) -> Option<Estimate>| -> Vec<(String, Option<Estimate>)> {
        let of_cell = |cell: &Cell| -> Vec<(String, Option<Estimate>)> {
            let name = |arm: &Arm| format!("{}: {}", cell.load(), arm.title);
            cell.arms.iter().map(|arm| (name(arm), of(arm))).collect()
        };
        usual().flat_map(of_cell).collect()
    };
    let base = cells.first().and_then(|cell| cell.arms.first()).map_or("", |arm| arm.title.as_str());
    let axis = |better: &str| format!("× {base}, 95 %: {better} is better");
    let mean = bars(|arm| Some(arm.latency_ratios.as_ref()?.mean));
    let p99 = bars(|arm| Some(arm.latency_ratios.as_ref()?.p99));
    let chunks = bars(|arm| arm.chunk_ratio);
    [
        Plot::ratios(format!("Mean latency, {host}"), axis("less"), Better::Less, mean),
        Plot::ratios(format!("p99 latency, {host}"), axis("less"), Better::Less, p99),
        Plot::ratios(format!("Compaction, {host}"), axis("more"), Better::More, chunks),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn table(cells: &[Cell]) -> Table {
    let mut table = Table::new(
        "Latencies in µs, all rounds together; ratios to the first line of the same compaction, with 95 % intervals",
        &[
            "compaction",
            "tasks run by",
            "mean",
            "× first",
            "p50",
            "× first",
            "p99",
            "× first",
            "p99.9",
            "× first",
            "chunks / s",
            "× first",
        ],
    )
    .with_words(2);
    table.rows = cells.iter().flat_map(|cell| cell.arms.iter().map(|arm| row(cell, arm))).collect();
    table
}

fn row(cell: &Cell, arm: &Arm) -> Vec<String> {
    let latency = &arm.latency_ns;
    let ratio = |of: fn(&Figures<Estimate>) -> &Estimate| compared(arm.latency_ratios.as_ref().map(of));
    vec![
        cell.load(),
        arm.title.clone(),
        micros(latency.mean),
        ratio(|found| &found.mean),
        micros(latency.p50),
        ratio(|found| &found.p50),
        micros(latency.p99),
        ratio(|found| &found.p99),
        micros(latency.p999),
        ratio(|found| &found.p999),
        arm.chunk_rate.map_or_else(|| NOTHING.to_owned(), number),
        compared(arm.chunk_ratio.as_ref()),
    ]
}

fn micros(nanos: f64) -> String {
    if is_worst(nanos as u64) { "never".to_owned() } else { number(nanos / 1e3) }
}
