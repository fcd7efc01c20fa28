//! The reports for people.

use std::fmt;

use clockworker_schedulers::simulate::format_ns;
use comfy_table::{CellAlignment, Table, presets};

use crate::check::{CheckReport, CheckRow};
use crate::numbers::{NOTHING, grouped, percent, three_digits, time};
use crate::report::{CaseReport, ClassReport, JobsReport, Quantities, QueueReport, Report, UNSTABLE};

/// What was asked, what was found by queue and by size, and what meets the targets.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_arguments(f)?;
        writeln!(f, "{}\n", self.by_queue())?;
        if self.cases.iter().flat_map(|case| &case.queues).any(|queue| queue.classes.len() > 1) {
            writeln!(f, "By size of job\n{}\n", self.by_size())?;
        }
        self.write_answers(f)
    }
}

impl Report {
    fn write_arguments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = &self.arguments;
        for queue in &arguments.queues {
            let (quantum, request) = (exact(queue.quantum_ns), exact(queue.request_ns));
            writeln!(f, "{}: {}; polls of at most {quantum}, requests of {request}", queue.name, queue.load)?;
        }
        let jobs = match arguments.jobs {
            Some(jobs) => format!("{} jobs in {} runs", grouped(jobs), arguments.replications),
            None => "the jobs of the trace".to_owned(),
        };
        let overhead = exact(arguments.overhead_ns);
        writeln!(f, "{jobs}, seed {}; a poll takes {overhead} besides its work\n", arguments.seed)
    }

    /// A row for each queue of each case.
    fn by_queue(&self) -> Table {
        let columns = ["shares", "queue", "scheduler", "mean response", "p50", "p99", "p99.9"];
        let columns = columns.into_iter().chain(["mean slowdown", "p99 slowdown", "CPU"]);
        let columns = columns.chain(self.arguments.targets.iter().map(String::as_str));
        let mut rows = Vec::new();
        for case in &self.cases {
            for (place, queue) in case.queues.iter().enumerate() {
                let mut row = vec![case.shares(), queue.name.clone(), queue.title.clone()];
                row.extend(times(queue, &queue.done));
                row.push(percent(queue.cpu));
                // A target is about one queue, but a case meets it or not: once for each case.
                row.extend(case.targets.iter().map(|verdict| match place {
                    0 if verdict.met => format!("yes ({})", verdict.shown),
                    0 => format!("no ({})", verdict.shown),
                    _ => String::new(),
                }));
                rows.push(row);
            }
        }
        table(columns, 3, rows)
    }

    /// A row for each size of each queue of each case.
    fn by_size(&self) -> Table {
        let columns =
            ["shares", "queue", "scheduler", "size", "jobs", "mean response", "p50", "p99", "p99.9"];
        let columns = columns.into_iter().chain(["mean slowdown", "p99 slowdown"]);
        let mut rows = Vec::new();
        for case in &self.cases {
            for queue in case.queues.iter().filter(|queue| queue.done.jobs > 0) {
                let classes = queue.classes.iter().enumerate();
                rows.extend(classes.map(|(place, class)| class_row(case, queue, class, place == 0)));
            }
        }
        table(columns, 4, rows)
    }

    /// Says which cases meet all targets, and where none does, which comes nearest.
    fn write_answers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let targets = &self.arguments.targets;
        if targets.is_empty() {
            return Ok(());
        }
        let asked = targets.join(" and ");
        let meeting = self.cases.iter().filter(|case| case.meets == Some(true));
        let meeting: Vec<String> = meeting.map(CaseReport::title).collect();
        if !meeting.is_empty() {
            return writeln!(f, "{asked}: met by {}", meeting.join("; "));
        }
        writeln!(f, "{asked}: met by none")?;
        for (place, target) in targets.iter().enumerate() {
            let found = |case: &&CaseReport| case.targets[place].found;
            let stable = self.cases.iter().filter(|case| case.targets[place].shown != UNSTABLE);
            let nearest = stable.min_by(|a, b| found(a).total_cmp(&found(b)));
            if let Some(case) = nearest {
                writeln!(f, "{target}: nearest is {}, with {}", case.title(), case.targets[place].shown)?;
            }
        }
        Ok(())
    }
}

/// A time, as it may be given on the command line.
fn exact(ns: u64) -> String {
    format_ns(ns as f64)
}

/// Mean with its error, p50, p99 and p99.9 of the response, mean and p99 of the slowdown; none where they grow with the run.
fn times(queue: &QueueReport, done: &JobsReport) -> [String; 6] {
    if !queue.stable {
        let mut row = [NOTHING; 6].map(str::to_owned);
        row[0] = UNSTABLE.to_owned();
        return row;
    }
    let [mean, p50, p99, p99_9] = quantities(done.response_ns.as_ref(), time);
    let [mean_slowdown, _, p99_slowdown, _] = quantities(done.slowdown.as_ref(), three_digits);
    [mean, p50, p99, p99_9, mean_slowdown, p99_slowdown]
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

fn class_row(case: &CaseReport, queue: &QueueReport, class: &ClassReport, first: bool) -> Vec<String> {
    let names = [case.shares(), queue.name.clone(), queue.title.clone()];
    let mut row: Vec<String> = names.map(|name| if first { name } else { String::new() }).to_vec();
    row.extend([class.sizes.clone(), grouped(class.done.jobs)]);
    row.extend(times(queue, &class.done));
    row
}

/// Formulas beside what was simulated.
impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.quick {
            writeln!(f, "quick: too few jobs to prove anything\n")?;
        }
        writeln!(
            f,
            "Mean response time in units of the mean size: the formula for M/G/1, and the simulator"
        )?;
        let columns = ["sizes", "load", "formula for", "policy run", "jobs", "formula", "simulated"];
        let columns = columns.into_iter().chain(["off by", "± s.e."]);
        writeln!(f, "{}\n", table(columns, 4, self.rows.iter().map(check_row)))?;
        let (within, rows) = (self.rows.iter().filter(|row| row.within).count(), self.rows.len());
        writeln!(f, "{within} of {rows} rows are within {}; seed {}", percent(self.tolerance), self.seed)
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

/// A table whose first `words` columns are words, and the others numbers, which stand on the right.
fn table<'a>(
    columns: impl IntoIterator<Item = &'a str>,
    words: usize,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(columns).add_rows(rows);
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
