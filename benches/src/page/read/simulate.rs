//! Files of `simulate`: the schedulers and shares in virtual time.

use serde::Deserialize;

use super::Reader;
use super::parts::{self, Arguments, NOTHING, Spread, number};
use crate::failure::Failure;
use crate::numbers::{grouped, percent};
use crate::page::document::Document;
use crate::page::model::{Chapter, Section, Table};
use crate::page::plot::Plot;

/// Reads such files.
pub const READER: Reader = Reader {
    schema: "clockworker-simulate",
    version: 1,
    arguments: &["simulate", "--load", "0.9", "--service", "pareto:alpha=1.1,min=10us,max=100ms"],
    question: "Which scheduler and which shares meet a target?",
    quick: &["--jobs", "10000"],
    read,
};

#[derive(Debug, Deserialize)]
struct Report {
    arguments: Simulated,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Simulated {
    #[serde(flatten)]
    usual: Arguments,
    queues: Vec<QueueArguments>,
    overhead_ns: u64,
    jobs: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct QueueArguments {
    name: String,
    load: String,
}

#[derive(Debug, Deserialize)]
struct Case {
    queues: Vec<Queue>,
    targets: Vec<Verdict>,
}

#[derive(Debug, Deserialize)]
struct Queue {
    name: String,
    share: u32,
    scheduler: String,
    cpu: f64,
    response_ns: Option<Quantities>,
    slowdown: Option<Quantities>,
}

#[derive(Debug, Deserialize)]
struct Quantities {
    #[serde(flatten)]
    spread: Spread,
    p90: f64,
}

#[derive(Debug, Deserialize)]
struct Verdict {
    target: String,
    met: bool,
}

fn read(document: &Document) -> Result<Chapter, Failure> {
    let Report { arguments, cases } = document.content()?;
    let queues: Vec<String> =
        arguments.queues.iter().map(|queue| format!("{}: {}", queue.name, queue.load)).collect();
    let jobs = arguments
        .jobs
        .map_or_else(|| "the jobs of a trace".to_owned(), |jobs| format!("{} jobs", grouped(jobs)));
    let section = Section {
        title: "Simulated".to_owned(),
        question: READER.question.to_owned(),
        command: arguments.usual.command("simulate"),
        method: format!(
            "In virtual time, by the executor’s own schedulers: {}; {jobs}; a poll takes {} ns besides its work. The same \
             seed gives the same figures on every machine.",
            queues.join("; "),
            arguments.overhead_ns
        ),
        plots: plot(&cases).into_iter().collect(),
        tables: vec![table(&cases)],
        ..Section::default()
    };
    Ok(Chapter { headlines: Vec::new(), sections: vec![section] })
}

impl Case {
    fn shares(&self) -> String {
        self.queues.iter().map(|queue| queue.share.to_string()).collect::<Vec<_>>().join(":")
    }

    fn targets(&self) -> String {
        let verdict =
            |verdict: &Verdict| format!("{}: {}", verdict.target, if verdict.met { "met" } else { "missed" });
        match self.targets.as_slice() {
            [] => NOTHING.to_owned(),
            targets => targets.iter().map(verdict).collect::<Vec<_>>().join("; "),
        }
    }
}

fn plot(cases: &[Case]) -> Option<Plot> {
    let points = |Quantities { spread, p90 }: &Quantities| {
        vec![(0.5, spread.p50), (0.9, *p90), (0.99, spread.p99), (0.999, spread.p999)]
    };
    let series = cases.iter().flat_map(|case| {
        case.queues.iter().filter_map(move |queue| {
            let label = format!("{} {} {}", case.shares(), queue.name, queue.scheduler);
            Some((label, points(queue.slowdown.as_ref()?)))
        })
    });
    Plot::lines("Simulated slowdown by percentile", parts::number_by_percentile("slowdown"), series)
}

fn table(cases: &[Case]) -> Table {
    let columns = [
        "shares",
        "queue",
        "scheduler",
        "mean response, µs",
        "response, µs",
        "mean slowdown",
        "slowdown",
        "CPU",
        "targets",
    ];
    let mut table = Table::new("Every combination: p50 / p99 / p99.9", &columns).with_words(3);
    let of = |quantities: &Option<Quantities>, text: &dyn Fn(&Spread) -> String| {
        quantities.as_ref().map_or_else(|| NOTHING.to_owned(), |quantities| text(&quantities.spread))
    };
    let row = |case: &Case, queue: &Queue| {
        vec![
            case.shares(),
            queue.name.clone(),
            queue.scheduler.clone(),
            of(&queue.response_ns, &|spread| number(spread.mean / 1e3)),
            of(&queue.response_ns, &|spread| parts::tail(spread, 1e3)),
            of(&queue.slowdown, &|spread| number(spread.mean)),
            of(&queue.slowdown, &|spread| parts::tail(spread, 1.0)),
            percent(queue.cpu),
            case.targets(),
        ]
    };
    table.rows = cases.iter().flat_map(|case| case.queues.iter().map(|queue| row(case, queue))).collect();
    table
}
