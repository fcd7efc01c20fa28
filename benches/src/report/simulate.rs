//! Files of `clockworker-simulate`: the schedulers and shares in virtual time, and, by `--theory`, the simulator beside the
//! formulas of queueing theory.

use clockworker_simulate::{CaseReport, CheckReport, Quantities, Report};

use super::document::Document;
use super::read::Reader;
use crate::failure::Failure;
use crate::harness::heading::usual_command;
use crate::numbers::{grouped, percent};
use crate::page::{Chapter, Plot, Section, number_by_percentile};

pub const SIMULATED: Reader = Reader {
    schema: Report::SCHEMA,
    version: 1,
    arguments: &["simulate", "--load", "0.9", "--service", "pareto:alpha=1.1,min=10us,max=100ms"],
    question: "Which scheduler and which shares meet a target?",
    quick: &["--jobs", "10000"],
    read: simulated,
};

pub const THEORY: Reader = Reader {
    schema: CheckReport::SCHEMA,
    version: 1,
    arguments: &["simulate", "--theory"],
    question: "Can the simulator be believed?",
    quick: &["--quick"],
    read: theory,
};

fn simulated(document: &Document) -> Result<Chapter, Failure> {
    let report: Report = document.content()?;
    let Report { arguments, cases, .. } = &report;
    let queues: Vec<String> =
        arguments.queues.iter().map(|queue| format!("{}: {}", queue.name, queue.load)).collect();
    let jobs = arguments
        .jobs
        .map_or_else(|| "the jobs of a trace".to_owned(), |jobs| format!("{} jobs", grouped(jobs)));
    let section = Section {
        title: "Simulated".to_owned(),
        question: SIMULATED.question.to_owned(),
        command: usual_command("simulate", false, arguments.seed),
        method: format!(
            "In virtual time, by the executor’s own schedulers: {}; {jobs}; a poll takes {} ns besides its work. The same \
             seed gives the same figures on every machine.",
            queues.join("; "),
            arguments.overhead_ns
        ),
        plots: plot(cases).into_iter().collect(),
        tables: vec![report.by_queue()],
        ..Section::default()
    };
    Ok(Chapter { headlines: Vec::new(), sections: vec![section] })
}

fn plot(cases: &[CaseReport]) -> Option<Plot> {
    let points = |found: &Quantities| {
        vec![(0.5, found.p50), (0.9, found.p90), (0.99, found.p99), (0.999, found.p99_9)]
    };
    let series = cases.iter().flat_map(|case| {
        case.queues.iter().filter_map(move |queue| {
            let label = format!("{} {} {}", case.shares(), queue.name, queue.scheduler);
            Some((label, points(queue.slowdown.as_ref()?)))
        })
    });
    Plot::lines("Simulated slowdown by percentile", number_by_percentile("slowdown"), series)
}

fn theory(document: &Document) -> Result<Chapter, Failure> {
    let report: CheckReport = document.content()?;
    let within = report.rows.iter().filter(|row| row.within).count();
    let section = Section {
        title: "The simulator against theory".to_owned(),
        question: THEORY.question.to_owned(),
        command: usual_command("simulate --theory", report.quick, report.seed),
        note: report.quick.then(|| "quick: too few jobs to prove anything".to_owned()),
        method: format!(
            "Mean response over mean size, simulated and by the formula for M/G/1: {within} of {} rows are within {}.",
            report.rows.len(),
            percent(report.tolerance)
        ),
        tables: vec![report.by_formula()],
        ..Section::default()
    };
    Ok(Chapter { headlines: Vec::new(), sections: vec![section] })
}
