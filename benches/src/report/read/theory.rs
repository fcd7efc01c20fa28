//! Files of `clockworker-simulate --theory`: the simulator beside the formulas of queueing theory.

use clockworker_simulate::{CheckReport, CheckRow};

use super::Reader;
use crate::failure::Failure;
use crate::harness::heading::usual_command;
use crate::numbers::{grouped, percent};
use crate::page::model::{Chapter, Section, Table};
use crate::report::document::Document;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: CheckReport::SCHEMA,
    version: 1,
    arguments: &["simulate", "--theory"],
    question: "Can the simulator be believed?",
    quick: &["--quick"],
    read,
};

fn read(document: &Document) -> Result<Chapter, Failure> {
    let report: CheckReport = document.content()?;
    let within = report.rows.iter().filter(|row| row.within).count();
    let section = Section {
        title: "The simulator against theory".to_owned(),
        question: READER.question.to_owned(),
        command: usual_command("simulate --theory", report.quick, report.seed),
        note: report.quick.then(|| "quick: too few jobs to prove anything".to_owned()),
        method: format!(
            "Mean response over mean size, simulated and by the formula for M/G/1: {within} of {} rows are within {}.",
            report.rows.len(),
            percent(report.tolerance)
        ),
        tables: vec![table(&report.rows)],
        ..Section::default()
    };
    Ok(Chapter { headlines: Vec::new(), sections: vec![section] })
}

fn table(rows: &[CheckRow]) -> Table {
    let columns =
        ["sizes", "load", "formula for", "run", "jobs", "formula", "simulated", "off by", "± s.e.", "within"];
    let mut table = Table::new("Simulator and formulas", &columns).with_words(4);
    let row = |row: &CheckRow| {
        let error =
            row.standard_error.map_or_else(|| "–".to_owned(), |part| format!("{:.2} %", 100.0 * part));
        vec![
            row.service.clone(),
            row.load.to_string(),
            row.discipline.clone(),
            row.policy.clone(),
            grouped(row.jobs),
            format!("{:.3}", row.formula),
            format!("{:.3}", row.simulated),
            format!("{:+.2} %", 100.0 * row.error),
            error,
            if row.within { "yes" } else { "no" }.to_owned(),
        ]
    };
    table.rows = rows.iter().map(row).collect();
    table
}
