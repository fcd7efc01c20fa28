//! Files of `clockworker-simulate --theory`: the simulator beside the formulas of queueing theory.

use clockworker_simulate::CheckReport;

use super::Reader;
use crate::failure::Failure;
use crate::harness::heading::usual_command;
use crate::numbers::percent;
use crate::page::model::{Chapter, Section, Table};
use crate::report::document::Document;

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
        tables: vec![Table::of_rows("Simulator and formulas", report.by_formula())],
        ..Section::default()
    };
    Ok(Chapter { headlines: Vec::new(), sections: vec![section] })
}
