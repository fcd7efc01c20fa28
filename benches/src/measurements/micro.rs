//! The command `micro`: what spawns, polls, wakes, hops and memory cost, beside LocalSet.
//!
//! A sample is taken on a fresh executor in a fresh host. Making and dropping these is not timed. The bodies are generic over
//! the executor, and the criterion bench `polls` runs them too.

pub mod tasks;
pub mod threads;
pub mod wakes;

use std::time::Duration;

use crate::arms::Arm;
use crate::harness::{Comparison, Experiment, Measurement, Processes, Sample, Table, Unit};

pub const MICRO: Measurement = Measurement {
    name: "micro",
    question: "What do spawns, polls, wakes and memory cost, beside LocalSet?",
    experiments: |options, pinning| {
        let mut experiments = tasks::experiments(options.quick);
        experiments.extend(wakes::experiments(options.quick));
        experiments.extend(threads::experiments(options.quick, pinning));
        experiments.push(tasks::memory(options.quick));
        experiments
    },
    tables: |found| PARTS.iter().filter_map(|part| part.table(found)).collect(),
};

/// The figure of what is timed: nanoseconds for each.
const NS: &str = "ns";
/// Resident memory of each.
const BYTES: &str = "bytes";

/// A table of the comparisons of a part.
struct Part {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    /// Figures that are columns, with what follows the comparison's title.
    figures: &'static [(&'static str, &'static str)],
}

const PARTS: [Part; 6] = [
    timed_part("spawn", "Spawn: a task's beginning and end, for each task"),
    timed_part("poll", "Poll: a task that yields, for each poll"),
    timed_part("hop", "Hop: a task wakes another and waits, for each wake with its poll"),
    timed_part("wake", "Wake: one task wakes many, for each wake with its poll"),
    Part {
        name: "thread",
        title: "Wake from another thread",
        unit: Unit::Nanos,
        figures: &[
            (threads::SENDER, ", for the waker"),
            (threads::DELAY_P50, ", until the poll: p50"),
            (threads::DELAY_P99, ", until the poll: p99"),
        ],
    },
    Part {
        name: "memory",
        title: "Memory: resident bytes for each task",
        unit: Unit::Bytes,
        figures: &[(BYTES, "")],
    },
];

const fn timed_part(name: &'static str, title: &'static str) -> Part {
    Part { name, title, unit: Unit::Nanos, figures: &[(NS, "")] }
}

impl Part {
    fn table(&self, found: &[Comparison]) -> Option<Table> {
        let of_part = found.iter().filter(|found| found.part == self.name);
        let columns = of_part.flat_map(|found| self.figures.iter().map(move |figure| (found, figure)));
        let table = columns.fold(Table::new(self.title), |table, (found, (figure, heading))| {
            table.column(format!("{}{heading}", found.title), found, figure, self.unit)
        });
        (!table.columns.is_empty()).then_some(table)
    }
}

/// An experiment in which executors take a time for so many of something.
fn timed(
    part: &'static str,
    title: impl Into<String>,
    can: fn(Arm) -> bool,
    number: usize,
    take: impl Fn(Arm) -> Duration + 'static,
) -> Experiment {
    sampled(part, title, can, move |arm| {
        Sample::default().number(NS, take(arm).as_nanos() as f64 / number as f64)
    })
}

/// An experiment with those arms that can do what is measured.
fn sampled(
    part: &'static str,
    title: impl Into<String>,
    can: fn(Arm) -> bool,
    take: impl Fn(Arm) -> Sample + 'static,
) -> Experiment {
    let arms: Vec<Arm> = Arm::all().filter(|&arm| can(arm)).collect();
    let titles: Vec<&str> = arms.iter().map(|arm| arm.title()).collect();
    Experiment::new(part, title, titles, move |window| Ok(take(arms[window.arm])))
        .processes(Processes::ForARound)
}

fn every(_arm: Arm) -> bool {
    true
}
