//! The reports for people.

use std::io::{self, Write};

use clockworker_schedulers::simulate::format_ns;

use crate::check::{CheckReport, CheckRow};
use crate::report::{CaseReport, ClassReport, Quantities, QueueReport, Report};
use clockworker_terminal::numbers::{NOTHING, grouped, percent, three_digits, time};
use clockworker_terminal::table::Table;

/// Writes what a sweep found: what was asked, by queue, by size, and what meets the targets.
///
/// # Errors
///
/// As `out` has them.
pub(crate) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_arguments(report, out)?;
    writeln!(out, "{}\n", report.by_queue())?;
    if report.cases.iter().flat_map(|case| &case.queues).any(|queue| queue.classes.len() > 1) {
        let classes = classes(report);
        writeln!(out, "{}\n{classes}\n", classes.caption)?;
    }
    write_answers(report, out)
}

fn write_arguments(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let arguments = &report.arguments;
    for queue in &arguments.queues {
        let (quantum, request) = (exact(queue.quantum_ns), exact(queue.request_ns));
        writeln!(out, "{}: {}; polls of at most {quantum}, requests of {request}", queue.name, queue.load)?;
    }
    let jobs = match arguments.jobs {
        Some(jobs) => format!("{} jobs in {} runs", grouped(jobs), arguments.replications),
        None => "the jobs of the trace".to_owned(),
    };
    let overhead = exact(arguments.overhead_ns);
    writeln!(out, "{jobs}, seed {}; a poll takes {overhead} besides its work\n", arguments.seed)
}

/// A time, as it may be given on the command line.
fn exact(ns: u64) -> String {
    format_ns(ns as f64)
}

impl Report {
    /// A row for each queue of each case.
    pub fn by_queue(&self) -> Table {
        let columns = ["shares", "queue", "scheduler", "mean response", "p50", "p99", "p99.9"];
        let columns = columns.into_iter().chain(["mean slowdown", "p99 slowdown", "CPU"]);
        let columns = columns.chain(self.arguments.targets.iter().map(String::as_str));
        let mut table = Table::new("Every combination", columns).with_words(3);
        for case in &self.cases {
            for (place, queue) in case.queues.iter().enumerate() {
                let mut row = vec![case.shares(), queue.name.clone(), queue.title.clone()];
                row.extend(quantities(queue.response_ns.as_ref(), time));
                let [mean, _, p99, _] = quantities(queue.slowdown.as_ref(), three_digits);
                row.extend([mean, p99, percent(queue.cpu)]);
                // A target is about one queue, but a case meets it or not: once for each case.
                row.extend(case.targets.iter().map(|verdict| match place {
                    0 if verdict.met => format!("yes ({})", verdict.shown),
                    0 => format!("no ({})", verdict.shown),
                    _ => String::new(),
                }));
                table.rows.push(row);
            }
        }
        table
    }
}

/// Mean with its error, p50, p99 and p99.9.
fn quantities(quantities: Option<&Quantities>, show: fn(f64) -> String) -> [String; 4] {
    let Some(found) = quantities else { return [NOTHING; 4].map(str::to_owned) };
    let mean = match found.standard_error {
        Some(error) => format!("{} ± {:.1} %", show(found.mean), 100.0 * error / found.mean),
        None => show(found.mean),
    };
    [mean, show(found.p50), show(found.p99), show(found.p99_9)]
}

/// A row for each size of each queue of each case.
fn classes(report: &Report) -> Table {
    let columns = ["shares", "queue", "scheduler", "size", "jobs", "mean response", "p50", "p99", "p99.9"];
    let columns = columns.into_iter().chain(["mean slowdown", "p99 slowdown"]);
    let mut table = Table::new("By size of job", columns).with_words(4);
    for case in &report.cases {
        for queue in case.queues.iter().filter(|queue| queue.jobs > 0) {
            let rows = queue.classes.iter().enumerate();
            table.rows.extend(rows.map(|(place, class)| class_row(case, queue, class, place == 0)));
        }
    }
    table
}

fn class_row(case: &CaseReport, queue: &QueueReport, class: &ClassReport, first: bool) -> Vec<String> {
    let names = [case.shares(), queue.name.clone(), queue.title.clone()];
    let mut row: Vec<String> = names.map(|name| if first { name } else { String::new() }).to_vec();
    row.extend([class.sizes.clone(), grouped(class.jobs)]);
    row.extend(quantities(class.response_ns.as_ref(), time));
    let [mean, _, p99, _] = quantities(class.slowdown.as_ref(), three_digits);
    row.extend([mean, p99]);
    row
}

/// Says which cases meet all targets, and where none does, which comes nearest.
fn write_answers(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let targets = &report.arguments.targets;
    if targets.is_empty() {
        return Ok(());
    }
    let asked = targets.join(" and ");
    let meeting: Vec<String> =
        report.cases.iter().filter(|case| case.meets == Some(true)).map(CaseReport::title).collect();
    if !meeting.is_empty() {
        return writeln!(out, "{asked}: met by {}", meeting.join("; "));
    }
    writeln!(out, "{asked}: met by none")?;
    for (place, target) in targets.iter().enumerate() {
        let found = |case: &&CaseReport| case.targets[place].found;
        let nearest = report.cases.iter().min_by(|a, b| found(a).total_cmp(&found(b)));
        if let Some(case) = nearest {
            writeln!(out, "{target}: nearest is {}, with {}", case.title(), case.targets[place].shown)?;
        }
    }
    Ok(())
}

/// Writes formulas beside what was simulated.
///
/// # Errors
///
/// As `out` has them.
pub(crate) fn write_check(report: &CheckReport, out: &mut impl Write) -> io::Result<()> {
    if report.quick {
        writeln!(out, "quick: too few jobs to prove anything\n")?;
    }
    writeln!(out, "Mean response time in units of the mean size: the formula for M/G/1, and the simulator")?;
    writeln!(out, "{}\n", report.by_formula())?;
    let (within, rows) = (report.rows.iter().filter(|row| row.within).count(), report.rows.len());
    let tolerance = percent(report.tolerance);
    writeln!(out, "{within} of {rows} rows are within {tolerance}; seed {}", report.seed)
}

impl CheckReport {
    /// A row for each formula.
    pub fn by_formula(&self) -> Table {
        let columns = [
            "sizes",
            "load",
            "formula for",
            "policy run",
            "jobs",
            "formula",
            "simulated",
            "off by",
            "± s.e.",
        ];
        let table = Table::new("Simulator and formulas", columns).with_words(4);
        Table { rows: self.rows.iter().map(check_row).collect(), ..table }
    }
}

fn check_row(row: &CheckRow) -> Vec<String> {
    vec![
        row.service.clone(),
        row.load.to_string(),
        row.discipline.clone(),
        row.policy.clone(),
        grouped(row.jobs),
        format!("{:.3}", row.formula),
        format!("{:.3}", row.simulated),
        format!("{:+.2} %{}", 100.0 * row.error, if row.within { "" } else { " !" }),
        row.standard_error.map_or_else(|| NOTHING.to_owned(), |error| format!("{:.2} %", 100.0 * error)),
    ]
}
