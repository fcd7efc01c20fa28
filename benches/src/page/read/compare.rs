//! Files of `compare`: what a poll costs, and foreground latency beside background work.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, NOTHING, compared, number};
use crate::failure::Failure;
use crate::harness::conclusion::{Conclusion, Interval};
use crate::latencies::{Percentiles, is_worst};
use crate::numbers::{grouped, millis, percent};
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::{self, Estimate};

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-compare",
    version: 1,
    arguments: &["compare"],
    question: "What does a poll cost, and what becomes of foreground latency beside background work?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Arguments,
    overhead: Option<Overhead>,
    background: Option<Background>,
    conclusions: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Overhead {
    shapes: Vec<Shape>,
}

#[derive(Debug, Deserialize)]
struct Shape {
    tasks: u64,
    yields: u64,
    arms: Vec<Arm>,
}

#[derive(Debug, Deserialize)]
struct Arm {
    arm: String,
    title: String,
    ns_per_poll: f64,
    ratio: Option<Estimate>,
}

#[derive(Debug, Deserialize)]
struct Background {
    counted_s: f64,
    offered_load: f64,
    foreground_share: u32,
    arms: Vec<BackgroundArm>,
}

#[derive(Debug, Deserialize)]
struct BackgroundArm {
    arm: String,
    title: String,
    offered: u64,
    completed: u64,
    queueing_delay: Percentiles,
    total_latency: Percentiles,
    total_p99_ratio: Option<Estimate>,
    background_rate: Option<f64>,
    background_ratio: Option<Estimate>,
    cpu_used: f64,
    repetitions: Vec<Repetition>,
}

#[derive(Debug, Deserialize)]
struct Repetition {
    total_latency: Percentiles,
    total_latencies_ns: Vec<Option<u64>>,
}

/// The arms on the first screen, with the names they have there.
const COSTS: [(&str, &str); 4] = [
    ("woken_first_one_queue", "one queue"),
    ("woken_first_two_queues", "two queues"),
    ("qlas", "QLAS"),
    ("las", "LAS"),
];

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let mut chapter = Chapter::default();
    let section = |title: &str| Section {
        title: title.to_owned(),
        command: report.arguments.command("compare"),
        note: report.note.clone(),
        ..Section::default()
    };
    if let Some(overhead) = &report.overhead {
        chapter.headlines.extend(overhead.headlines());
        chapter.sections.push(overhead.section(section("What a poll costs")));
    }
    if let Some(background) = &report.background {
        chapter.headlines.extend(background.headlines());
        chapter.sections.push(background.section(section("Foreground beside background")));
    }
    if let Some(last) = chapter.sections.last_mut() {
        last.bars = report.conclusions;
    }
    Ok(chapter)
}

impl Shape {
    fn title(&self) -> String {
        format!("{} × {}", grouped(self.tasks), grouped(self.yields))
    }
}

impl Overhead {
    /// At the shape with the most yields: nothing but polls.
    fn headlines(&self) -> Vec<Headline> {
        let Some(shape) = self.shapes.iter().max_by_key(|shape| shape.yields) else { return Vec::new() };
        let line = |(key, name): (&str, &str)| {
            let arm = shape.arms.iter().find(|arm| arm.arm == key)?;
            let line = cost(name, &arm.ratio?);
            Some(match key {
                "woken_first_one_queue" => line.with_phrase("a poll takes # as it comes"),
                "las" => line.with_phrase("# with LAS"),
                _ => line,
            })
        };
        COSTS.into_iter().filter_map(line).collect()
    }

    fn section(&self, section: Section) -> Section {
        let plot = |shape: &Shape| {
            let bars = shape.arms.iter().map(|arm| (arm.title.clone(), arm.ratio));
            let title = format!("Time per poll, {} tasks × yields", shape.title());
            Plot::ratios(title, "× LocalSet, 95 % intervals: less is better", Better::Less, bars)
        };
        let mut table = Table::new(
            "Self-waking polls: medians, and ratios paired within a round, with 95 % intervals",
            &["tasks × yields", "executor", "ns per poll", "× LocalSet"],
        )
        .with_words(2);
        for shape in &self.shapes {
            table.rows.extend(shape.arms.iter().map(|arm| {
                let ratio = compared(arm.ratio.as_ref());
                vec![shape.title(), arm.title.clone(), number(arm.ns_per_poll), ratio]
            }));
        }
        Section {
            question: "What does the executor itself cost, where tasks do nothing but yield?".to_owned(),
            method:
                "Every round runs every executor once, in an order shuffled anew, and divides by LocalSet’s \
                     sample of the same round. “LocalSet again” is LocalSet measured twice: the noise floor."
                    .to_owned(),
            plots: self.shapes.iter().filter_map(plot).collect(),
            tables: vec![table],
            ..section
        }
    }
}

fn cost(name: &str, value: &Estimate) -> Headline {
    Headline::ratio(
        Side::Cost,
        (parts::TIME_PER_POLL, name),
        value,
        Some(Interval::Confidence95),
        Better::Less,
        "compare",
    )
}

impl Background {
    fn arm(&self, key: &str) -> Option<&BackgroundArm> {
        self.arms.iter().find(|arm| arm.arm == key)
    }

    fn headlines(&self) -> Vec<Headline> {
        let (Some(own), Some(local_set)) = (self.arm("clockworker"), self.arm("local_set")) else {
            return Vec::new();
        };
        let range = (own.repetitions.len() > 1).then_some(Interval::RangeOfRepetitions);
        let shares = self.shares();
        let mut lines = Vec::new();
        if let Some(value) = own.p99_over(local_set) {
            let label = ("Foreground p99 beside background ÷ LocalSet’s", format!("shares {shares}"));
            let line = Headline::ratio(Side::Gain, label, &value, range, Better::Less, "compare");
            lines.push(line.with_phrase("foreground p99 beside it is #"));
        }
        if let Some(value) = own.background_ratio {
            let label = ("Background work done ÷ LocalSet’s", format!("shares {shares}"));
            let line = Headline::ratio(Side::Cost, label, &value, range, Better::More, "compare");
            lines.push(line.with_phrase("background work gets # done"));
        }
        lines
    }

    fn shares(&self) -> String {
        format!("{}:2", self.foreground_share)
    }

    fn section(&self, section: Section) -> Section {
        let (own, local_set) = (self.arm("clockworker"), self.arm("local_set"));
        let over = own.zip(local_set).and_then(|(own, base)| own.p99_over(base));
        let alone = self.arms.iter().map(|arm| (format!("{} ÷ alone", arm.title), arm.total_p99_ratio));
        let bars = alone.chain([("Clockworker ÷ LocalSet with background".to_owned(), over)]);
        let curves: Vec<(String, Vec<(f64, f64)>)> =
            self.arms.iter().map(|arm| (arm.title.clone(), arm.curve())).collect();
        let turned = curves.iter().map(|(title, curve)| (title.clone(), parts::cumulative(curve)));
        let title = "Foreground total latency";
        let plots = [
            Plot::ratios("Foreground p99", "ratio, range of repetitions: less is better", Better::Less, bars),
            Plot::lines(
                format!("{title}, by percentile"),
                parts::time_by_percentile("total latency"),
                curves.clone(),
            ),
            Plot::lines(format!("{title}, distribution"), parts::distribution("total latency"), turned),
        ];
        Section {
            question: "What happens to requests when background work shares their thread?".to_owned(),
            method: format!(
                "Foreground tasks arrive on a schedule made beforehand and offer {} of a core; eight background \
                 tasks loop over 100 µs of work and a sleep; {} × {} s. Clockworker’s queues have the shares {}. \
                 Latency counts from the intended arrival.",
                percent(self.offered_load),
                self.arms.first().map_or(0, |arm| arm.repetitions.len()),
                self.counted_s,
                self.shares()
            ),
            plots: plots.into_iter().flatten().collect(),
            tables: vec![self.table()],
            ..section
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(
            "Foreground beside background: p50 / p90 / p99 in ms; ratios with the range of repetitions",
            &[
                "executor",
                "queueing delay, ms",
                "total latency, ms",
                "p99 × alone",
                "background loops / s",
                "× LocalSet",
                "ended / offered",
                "CPU used",
            ],
        );
        table.rows = self.arms.iter().map(BackgroundArm::row).collect();
        table
    }
}

impl BackgroundArm {
    fn row(&self) -> Vec<String> {
        vec![
            self.title.clone(),
            three(&self.queueing_delay),
            three(&self.total_latency),
            compared(self.total_p99_ratio.as_ref()),
            self.background_rate.map_or_else(|| NOTHING.to_owned(), |rate| grouped(rate.round() as u64)),
            compared(self.background_ratio.as_ref()),
            format!("{} / {}", grouped(self.completed), grouped(self.offered)),
            percent(self.cpu_used),
        ]
    }

    /// The total latency's p99 over that of `base`: median and range over the repetitions.
    fn p99_over(&self, base: &BackgroundArm) -> Option<Estimate> {
        let p99 = |arm: &BackgroundArm| -> Vec<f64> {
            arm.repetitions.iter().map(|repetition| repetition.total_latency.p99 as f64).collect()
        };
        let (own, base) = (p99(self), p99(base));
        let usable = !own.is_empty() && own.len() == base.len() && base.iter().all(|&p99| p99 > 0.0);
        usable.then(|| stats::median_and_range(&stats::paired_ratios(&own, &base)))
    }

    /// The distribution of the total latency over all repetitions. Tasks without an end are beyond it.
    fn curve(&self) -> Vec<(f64, f64)> {
        let all = self.repetitions.iter().flat_map(|repetition| &repetition.total_latencies_ns);
        let curve =
            parts::curve(all.map(|nanos| nanos.map_or(f64::INFINITY, |nanos| nanos as f64)).collect());
        curve.into_iter().filter(|(_, value)| value.is_finite() && !is_worst(*value as u64)).collect()
    }
}

fn three(Percentiles { p50, p90, p99 }: &Percentiles) -> String {
    [p50, p90, p99].map(|&nanos| millis(nanos)).join(" / ")
}
