//! The command `micro`: what spawns, polls, wakes, hops and memory cost, beside LocalSet.
//!
//! A sample is taken on a fresh executor in a fresh host. Making and dropping these is not timed. The bodies are generic over
//! the executor, and the criterion bench `polls` runs them too.

pub mod memory;
pub mod tasks;
pub mod threads;
pub mod wakes;

use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::arms::Arm;
use crate::harness::{
    Comparison, Experiment, Measurement, Options, Pinning, Processes, Sample, Sampling, Table, Unit,
};

#[derive(Args, Debug)]
pub struct Micro {
    #[command(flatten)]
    pub options: Options,

    /// Measure these executors only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,
}

/// The figure of what is timed: nanoseconds for each.
const NS: &str = "ns";

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
        figures: &[(memory::BYTES, "")],
    },
];

const fn timed_part(name: &'static str, title: &'static str) -> Part {
    Part { name, title, unit: Unit::Nanos, figures: &[(NS, "")] }
}

impl Part {
    fn table(&self, found: &[Comparison]) -> Table {
        let of_part = found.iter().filter(|found| found.part == self.name);
        let columns = of_part.flat_map(|found| self.figures.iter().map(move |figure| (found, figure)));
        columns.fold(Table::new(self.title), |table, (found, (figure, heading))| {
            table.column(format!("{}{heading}", found.title), found, figure, self.unit)
        })
    }
}

impl Measurement for Micro {
    fn name(&self) -> &'static str {
        "micro"
    }

    fn question(&self) -> &'static str {
        "What do spawns, polls, wakes and memory cost, beside LocalSet?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let (arms, quick) = (self.arms(), self.options.quick);
        let experiments = tasks::experiments(&arms, quick)
            .into_iter()
            .chain(wakes::experiments(&arms, quick))
            .chain(threads::experiments(&arms, quick, pinning))
            .chain(memory::experiments(&arms, quick));
        Ok(experiments.map(|experiment| Box::new(experiment) as _).collect())
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        PARTS.iter().map(|part| part.table(found)).filter(|table| !table.columns.is_empty()).collect()
    }
}

impl Micro {
    /// LocalSet, and those that are asked for.
    fn arms(&self) -> Vec<Arm> {
        let wanted = |arm: &Arm| *arm == Arm::LocalSet || self.arms.is_empty() || self.arms.contains(arm);
        Arm::all().filter(wanted).collect()
    }
}

/// An experiment in which an executor takes a time for so many of something.
fn timed(
    part: &'static str,
    title: impl Into<String>,
    arms: impl IntoIterator<Item = Arm>,
    number: usize,
    take: impl Fn(Arm) -> Duration + 'static,
) -> Sampling {
    sampled(part, title, arms, move |arm| {
        Sample::default().number(NS, take(arm).as_nanos() as f64 / number as f64)
    })
}

fn sampled(
    part: &'static str,
    title: impl Into<String>,
    arms: impl IntoIterator<Item = Arm>,
    take: impl Fn(Arm) -> Sample + 'static,
) -> Sampling {
    let arms: Vec<Arm> = arms.into_iter().collect();
    let titles = arms.iter().map(|arm| arm.title().to_owned()).collect();
    Sampling::new(part, title, titles, move |window| Ok(take(arms[window.arm])))
        .processes(Processes::ForARound)
}

/// Those of the arms that can do what is measured.
fn able(arms: &[Arm], can: fn(Arm) -> bool) -> impl Iterator<Item = Arm> {
    arms.iter().copied().filter(move |&arm| can(arm))
}
