//! Files of `programs`: LocalSet's programs, and the same with their imports changed.

use serde::Deserialize;

use super::Reader;
use super::parts::{Arguments, NOTHING, compared};
use crate::failure::Failure;
use crate::harness::conclusion::{Conclusion, Interval, Verdict};
use crate::page::document::Document;
use crate::page::headline::{Better, Headline, Side};
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;
use crate::stats::Estimate;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-programs",
    version: 1,
    arguments: &["programs"],
    question: "What do programs written for LocalSet take when only their imports change?",
    quick: &["--quick"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    note: Option<String>,
    arguments: Arguments,
    findings: Vec<Finding>,
    bars: Vec<Conclusion>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    program: String,
    title: String,
    quantity_title: String,
    base: String,
    base_shown: Option<String>,
    ratio: Option<Estimate>,
    again: Option<Estimate>,
    limit: Option<f64>,
}

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let is_time = |finding: &&Finding| finding.quantity_title.contains("time");
    let (times, others): (Vec<&Finding>, Vec<&Finding>) = report.findings.iter().partition(is_time);
    let plots = [plot("Time", &times), plot("Tails and memory", &others)];
    let headlines = headlines(&report.findings);
    let section = Section {
        title: "Programs with their imports changed".to_owned(),
        question: READER.question.to_owned(),
        command: report.arguments.command("programs"),
        note: report.note,
        method: "Each program is one function, compiled with tokio’s imports and with Clockworker’s. Ratios are medians of \
                 pairs measured in the same round, with 95 % intervals; A/A is the base’s to itself. Bars that are met are \
                 not listed."
            .to_owned(),
        plots: plots.into_iter().flatten().collect(),
        tables: vec![table(&report.findings)],
        bars: report.bars.into_iter().filter(|bar| bar.verdict != Some(Verdict::Met)).collect(),
        ..Section::default()
    };
    Ok(Chapter { headlines, sections: vec![section] })
}

impl Finding {
    fn name(&self) -> String {
        format!("{}, {}", self.title, self.quantity_title)
    }

    /// Its ratio, where there is a bar for it.
    fn judged(&self) -> Option<Estimate> {
        self.ratio.filter(|_| self.limit.is_some())
    }
}

/// The program that loses most, and the one that gains most.
fn headlines(findings: &[Finding]) -> Vec<Headline> {
    let judged = || findings.iter().filter_map(|finding| Some((finding, finding.judged()?)));
    let line = |side, (finding, ratio): (&Finding, Estimate)| {
        let topic = "Imports changed ÷ LocalSet’s";
        let kind = Some(Interval::Confidence95);
        let label = format!("{}, {}", finding.program, finding.quantity_title);
        Headline::ratio(side, (topic, label), &ratio, kind, Better::Less, "programs")
    };
    let by_median =
        |one: &(&Finding, Estimate), other: &(&Finding, Estimate)| one.1.median.total_cmp(&other.1.median);
    [(Side::Cost, judged().max_by(by_median)), (Side::Gain, judged().min_by(by_median))]
        .into_iter()
        .filter_map(|(side, found)| Some(line(side, found?)))
        .collect()
}

fn plot(title: &str, findings: &[&Finding]) -> Option<Plot> {
    let bars = findings.iter().map(|finding| (finding.name(), finding.judged()));
    let title = format!("{title} of programs with their imports changed");
    Plot::ratios(title, "× what they were written for, 95 % intervals: less is better", Better::Less, bars)
}

fn table(findings: &[Finding]) -> Table {
    let columns = ["program", "measured", "of", "base", "× base", "A/A", "wanted"];
    let mut table =
        Table::new("Programs, with tokio’s imports and with Clockworker’s", &columns).with_words(3);
    let row = |finding: &Finding| {
        vec![
            finding.title.clone(),
            finding.quantity_title.clone(),
            finding.base.clone(),
            finding.base_shown.clone().unwrap_or_else(|| NOTHING.to_owned()),
            compared(finding.ratio.as_ref()),
            compared(finding.again.as_ref()),
            finding.limit.map_or_else(|| NOTHING.to_owned(), |limit| format!("≤ {limit:.2}")),
        ]
    };
    table.rows = findings.iter().map(row).collect();
    table
}
