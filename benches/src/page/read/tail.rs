//! Files of `tail`: response times and slowdowns by order of work.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, Spread, compared, number};
use crate::failure::Failure;
use crate::harness::conclusion::{Conclusion, Interval};
use crate::numbers::grouped;
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-tail",
    version: 1,
    arguments: &["tail", "--grid"],
    question: "What does the order of work do to the slowest jobs, short and long?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Window,
    cells: Vec<Cell>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Window {
    #[serde(flatten)]
    usual: Arguments,
    rounds: u32,
    window_s: f64,
    piece_us: u32,
}

#[derive(Debug, Deserialize)]
struct Cell {
    service: String,
    load_percent: u32,
    arms: Vec<Arm>,
}

#[derive(Debug, Deserialize)]
struct Arm {
    arm: String,
    title: String,
    response_ns: Spread,
    slowdown: Spread,
    mean_ratio: Option<Estimate>,
    slowdown_p99_ratio: Option<Estimate>,
    simulated_ratio: Option<Estimate>,
    overhead_ns_per_poll: f64,
    classes: Vec<Class>,
    response_curve: Vec<(f64, f64)>,
    slowdown_curve: Vec<(f64, f64)>,
}

#[derive(Debug, Deserialize)]
struct Class {
    class: String,
    jobs: u64,
    unfinished: u64,
    slowdown: Spread,
}

/// The cell of the first screen, where it was measured.
const FIRST: (&str, u32) = ("pareto", 90);

/// The arms on it.
const FAVOURED: [&str; 2] = ["las", "qlas"];

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let first = report.cells.iter().find(|cell| (cell.service.as_str(), cell.load_percent) == FIRST);
    let headlines = first.or(report.cells.first()).map(Cell::headlines).unwrap_or_default();
    let window = &report.arguments;
    let section = Section {
        title: "Tail latency".to_owned(),
        question: READER.question.to_owned(),
        command: window.usual.command("tail"),
        note: report.note,
        method: format!(
            "Jobs arrive at random (Poisson), on a schedule that all executors get, and are served in pieces of up to \
             {} µs; {} rounds of {} s each. Response counts from the intended arrival; slowdown is response over size.",
            window.piece_us, window.rounds, window.window_s
        ),
        plots: report.cells.iter().flat_map(Cell::plots).collect(),
        tables: [all_jobs(&report.cells)].into_iter().chain(report.cells.iter().map(by_size)).collect(),
        bars: report.bars,
        ..Section::default()
    };
    Ok(Chapter { headlines, sections: vec![section] })
}

impl Cell {
    fn title(&self) -> String {
        format!("{} at {} %", self.service, self.load_percent)
    }

    fn arm(&self, key: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.arm == key)
    }

    fn headlines(&self) -> Vec<Headline> {
        let mut lines = Vec::new();
        for arm in FAVOURED.into_iter().filter_map(|key| self.arm(key)) {
            let label = (format!("p99 slowdown ÷ LocalSet’s, {}", self.title()), &arm.title);
            let kind = Some(Interval::Confidence95);
            let line =
                |value: &Estimate| Headline::ratio(Side::Gain, label, value, kind, Better::Less, "tail");
            let phrase = format!("p99 slowdown of jobs # with {}", arm.title);
            lines.extend(arm.slowdown_p99_ratio.as_ref().map(line).map(|line| match arm.arm.as_str() {
                "qlas" => line.with_phrase(&phrase),
                _ => line,
            }));
        }
        lines.extend(FAVOURED.into_iter().filter_map(|key| self.price(self.arm(key)?)));
        lines
    }

    /// What the largest jobs pay.
    fn price(&self, arm: &Arm) -> Option<Headline> {
        let [own, base] = [arm, self.arm("local_set")?].map(|arm| arm.classes.last());
        let (own, base) = (own?, base?);
        let ratio = own.slowdown.p99 / base.slowdown.p99;
        let value = Estimate { median: ratio, low: ratio, high: ratio };
        let label = (format!("p99 slowdown, jobs of {} ÷ LocalSet’s", own.class), &arm.title);
        let line = || Headline::ratio(Side::Cost, label, &value, None, Better::Less, "tail");
        ratio.is_finite().then(line)
    }

    fn plots(&self) -> impl Iterator<Item = Plot> + use<> {
        let title = self.title();
        let bars = self.arms.iter().map(|arm| (arm.title.clone(), arm.slowdown_p99_ratio));
        let slowdown = self.arms.iter().map(|arm| (arm.title.clone(), arm.slowdown_curve.clone()));
        let response =
            self.arms.iter().map(|arm| (arm.title.clone(), parts::cumulative(&arm.response_curve)));
        [
            Plot::ratios(
                format!("p99 slowdown, {title}"),
                "× LocalSet, 95 % intervals: less is better",
                Better::Less,
                bars,
            ),
            Plot::lines(
                format!("Slowdown by percentile, {title}"),
                parts::number_by_percentile("slowdown"),
                slowdown,
            ),
            Plot::lines(format!("Response times, {title}"), parts::distribution("response time"), response),
        ]
        .into_iter()
        .flatten()
    }
}

fn all_jobs(cells: &[Cell]) -> Table {
    let mut table = Table::new(
        "All jobs: p50 / p99 / p99.9 of all rounds together; ratios are medians of the rounds’ (95 % interval)",
        &[
            "sizes, load",
            "executor",
            "mean response, µs",
            "× LocalSet",
            "response, µs",
            "slowdown",
            "p99 slowdown × LocalSet",
            "mean × simulator",
            "overhead, ns / poll",
        ],
    )
    .with_words(2);
    let row = |cell: &Cell, arm: &Arm| {
        vec![
            cell.title(),
            arm.title.clone(),
            number(arm.response_ns.mean / 1e3),
            compared(arm.mean_ratio.as_ref()),
            parts::tail(&arm.response_ns, 1e3),
            parts::tail(&arm.slowdown, 1.0),
            compared(arm.slowdown_p99_ratio.as_ref()),
            compared(arm.simulated_ratio.as_ref()),
            number(arm.overhead_ns_per_poll),
        ]
    };
    table.rows = cells.iter().flat_map(|cell| cell.arms.iter().map(|arm| row(cell, arm))).collect();
    table
}

/// How the small and the large fare.
fn by_size(cell: &Cell) -> Table {
    let mut table = Table::new(
        format!(
            "By size, {}: slowdown p50 / p99 / p99.9, the largest, and jobs unfinished at the end",
            cell.title()
        ),
        &["executor", "sizes", "jobs", "slowdown", "largest", "unfinished"],
    )
    .with_words(2);
    let row = |arm: &Arm, class: &Class| {
        vec![
            arm.title.clone(),
            class.class.clone(),
            grouped(class.jobs),
            parts::tail(&class.slowdown, 1.0),
            number(class.slowdown.max),
            grouped(class.unfinished),
        ]
    };
    table.rows = cell.arms.iter().flat_map(|arm| arm.classes.iter().map(|class| row(arm, class))).collect();
    table
}
