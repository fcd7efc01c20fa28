//! Files of `priority`: a foreground beside a background that always has work.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, Spread, compared};
use crate::conclusions::{Conclusion, Interval};
use crate::failure::Failure;
use crate::numbers::{grouped, percent};
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-priority",
    arguments: &["priority"],
    question: "What do shares and requests do for a foreground beside a background that always has work?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Window,
    scenes: Vec<Scene>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Window {
    #[serde(flatten)]
    usual: Arguments,
    rounds: u32,
    counted_s: f64,
}

#[derive(Debug, Deserialize)]
struct Scene {
    section: String,
    title: String,
    background_poll_us: u64,
    arms: Vec<Arm>,
}

#[derive(Debug, Deserialize)]
struct Arm {
    title: String,
    tasks: u64,
    unfinished: u64,
    queueing_delay_ns: Spread,
    total_latency_ns: Spread,
    p50_ratio: Option<Estimate>,
    p99_ratio: Option<Estimate>,
    background_cpu: f64,
    background_ratio: Option<Estimate>,
    total_latency_curve: Vec<(f64, f64)>,
    rounds: Vec<Round>,
}

#[derive(Debug, Deserialize)]
struct Round {
    total_latency_ns: Spread,
}

/// The scene on the first screen, where it was measured, and the arm of it.
const FIRST: (&str, u64) = ("shares", 100);
const FIRST_ARM: &str = "Clockworker 99:1";
const LOCAL_SET: &str = "LocalSet with background";

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let window = &report.arguments;
    let first =
        report.scenes.iter().find(|scene| (scene.section.as_str(), scene.background_poll_us) == FIRST);
    let section = Section {
        title: "Shares and requests".to_owned(),
        question: READER.question.to_owned(),
        command: window.usual.command("priority"),
        note: report.note,
        method: format!(
            "{} rounds of {} s; in each, every executor gets the same schedule of arrivals. Latency counts from the \
             intended arrival. “Foreground only” is what latency could be.",
            window.rounds, window.counted_s
        ),
        plots: report.scenes.iter().flat_map(Scene::plots).collect(),
        tables: report.scenes.iter().map(table).collect(),
        bars: report.bars,
        ..Section::default()
    };
    let headlines = first.map(|scene| scene.headlines(window.usual.seed)).unwrap_or_default();
    Ok(Chapter { headlines, sections: vec![section] })
}

impl Scene {
    fn arm(&self, title: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.title == title)
    }

    fn headlines(&self, seed: u64) -> Vec<Headline> {
        let (Some(own), Some(base)) = (self.arm(FIRST_ARM), self.arm(LOCAL_SET)) else { return Vec::new() };
        let topic = format!("Beside endless polls of {} µs, shares 99:1", self.background_poll_us);
        let line = |side, label: &str, value: &Estimate, better| {
            Headline::ratio(
                side,
                (topic.as_str(), label),
                value,
                Some(Interval::Confidence95),
                better,
                "priority",
            )
        };
        let over = parts::paired(&own.p99s(), &base.p99s(), seed);
        [
            over.map(|value| line(Side::Gain, "p99 ÷ LocalSet’s", &value, Better::Less)),
            own.p99_ratio.map(|value| line(Side::Cost, "p99 ÷ alone", &value, Better::Less)),
            own.background_ratio
                .map(|value| line(Side::Cost, "endless work ÷ LocalSet’s", &value, Better::More)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn plots(&self) -> impl Iterator<Item = Plot> + use<> {
        let bars = self.arms.iter().map(|arm| (arm.title.clone(), arm.p99_ratio));
        let curves = || self.arms.iter().map(|arm| (arm.title.clone(), arm.total_latency_curve.clone()));
        let turned = curves().map(|(title, curve)| (title, parts::cumulative(&curve)));
        let title = &self.title;
        [
            Plot::ratios(
                format!("{title}: foreground p99"),
                "× foreground alone, 95 % intervals: less is better",
                Better::Less,
                bars,
            ),
            Plot::lines(
                format!("{title}: by percentile"),
                parts::time_by_percentile("total latency"),
                curves(),
            ),
            Plot::lines(format!("{title}: distribution"), parts::distribution("total latency"), turned),
        ]
        .into_iter()
        .flatten()
    }
}

impl Arm {
    /// By round.
    fn p99s(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| round.total_latency_ns.p99).collect()
    }
}

fn table(scene: &Scene) -> Table {
    let mut table = Table::new(
        format!("{}: p50 / p99 / p99.9 in ms; ratios with 95 % intervals", scene.title),
        &[
            "executor",
            "queueing delay, ms",
            "total latency, ms",
            "p50 × alone",
            "p99 × alone",
            "background, of a core",
            "× LocalSet",
            "ended / offered",
        ],
    );
    let row = |arm: &Arm| {
        vec![
            arm.title.clone(),
            parts::tail(&arm.queueing_delay_ns, 1e6),
            parts::tail(&arm.total_latency_ns, 1e6),
            compared(arm.p50_ratio.as_ref()),
            compared(arm.p99_ratio.as_ref()),
            percent(arm.background_cpu),
            compared(arm.background_ratio.as_ref()),
            format!("{} / {}", grouped(arm.tasks.saturating_sub(arm.unfinished)), grouped(arm.tasks)),
        ]
    };
    table.rows = scene.arms.iter().map(row).collect();
    table
}
