//! The command `programs`: what a program written for `LocalSet` costs and gains when only its imports change.
//!
//! The files in `programs/both` are compiled twice: once with `tokio::task`, once with `clockworker::compat`; `requests.rs` once
//! with monoio's spawn and once with Clockworker's. Nothing else differs, so a ratio says what a drop-in costs or gains before
//! queues and shares are thought of.
//!
//! In each round a program runs once with each import, on a fresh set in a fresh host; memory is measured in a process of its
//! own each time. Calls are closed loops: a client waits for its answer before it asks again. So a p99 compares two
//! executors that have the same amount to do, and is not the latency of a service under load. What drives a program from
//! outside has the other core.

mod clients;
mod program;

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;

use crate::harness::{
    Arm, Cell, Comparison, Experiment, Measurement, Options, Pinning, Processes, Sample, Sampling, Table,
};

use program::{Program, QUANTITIES, Setting};

#[path = "programs"]
mod on_local_set {
    mod task {
        pub(super) use tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

#[allow(
    clippy::duplicate_mod,
    reason = "every program is compiled with two sets of imports: that is the point"
)]
#[path = "programs"]
mod on_clockworker {
    mod task {
        pub(super) use clockworker::compat::{JoinSet, LocalSet, spawn_local, yield_now};
    }

    #[path = "both/mod.rs"]
    pub(super) mod both;
}

#[cfg(all(target_os = "linux", feature = "rivals"))]
#[path = "programs"]
mod on_monoio {
    mod task {
        use crate::arms::monoio::Monoio;
        use crate::arms::runner::Runner;
        pub(super) use monoio::spawn;

        pub(super) fn run<F: Future>(main: F) -> F::Output {
            Monoio::default().block_on(main)
        }
    }

    pub(super) mod requests;
}

#[cfg(all(target_os = "linux", feature = "rivals"))]
#[allow(clippy::duplicate_mod, reason = "as above")]
#[path = "programs"]
mod on_clockworker_in_monoio {
    mod task {
        use crate::arms::monoio::Monoio;
        use crate::arms::runner::Runner;
        use clockworker::Executor;
        pub(super) use clockworker::spawn_local as spawn;

        pub(super) fn run<F: Future>(main: F) -> F::Output {
            let executor = Executor::new();
            Monoio::default().block_on(executor.run_until(main))
        }
    }

    pub(super) mod requests;
}

#[derive(Args, Debug)]
pub struct Programs {
    #[command(flatten)]
    pub options: Options,

    /// Say which programs there are, for `--only`, and run none
    #[arg(long)]
    pub list: bool,
}

/// Every program with the imports of what it was written for, and with Clockworker's, in the order of the table.
fn programs() -> impl Iterator<Item = [&'static Program; 2]> {
    let programs = on_local_set::both::PROGRAMS.iter().zip(on_clockworker::both::PROGRAMS);
    #[cfg(all(target_os = "linux", feature = "rivals"))]
    let programs =
        programs.chain([(&on_monoio::requests::PROGRAM, &on_clockworker_in_monoio::requests::PROGRAM)]);
    programs.map(Into::into)
}

/// In a process of its own memory comes out nearly the same each time.
const MEMORY_ROUNDS: u32 = 6;
const ROUNDS: u32 = 12;

fn experiment(program: [&'static Program; 2], setting: Setting) -> Sampling {
    let Program { key, title, base, apart, .. } = *program[0];
    let (rounds, processes) =
        if apart { (MEMORY_ROUNDS, Processes::ForASample) } else { (ROUNDS, Processes::This) };
    let arms = vec![base.to_owned(), CLOCKWORKER.to_owned()];
    let take = move |arm: usize| {
        let numbers = (program[arm].run)(&setting);
        let named = program[arm].quantities.iter().zip(numbers);
        named.fold(Sample::default(), |sample, (what, number)| sample.number(what.key, number))
    };
    Sampling::new(key, title, arms, move |window| Ok(take(window.arm))).rounds(rounds).processes(processes)
}

const CLOCKWORKER: &str = "Clockworker";

impl Measurement for Programs {
    fn name(&self) -> &'static str {
        "programs"
    }

    fn question(&self) -> &'static str {
        "What do programs written for LocalSet take when only their imports change?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let Options { quick, seed, .. } = self.options;
        let setting = || Setting { quick, seed, pinning: pinning.clone() };
        Ok(programs().map(|program| Box::new(experiment(program, setting())) as _).collect())
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        let mut table = Table::new("Programs by their imports alone");
        table.columns = ["before", "Clockworker", "before, again (A/A)"].map(str::to_owned).to_vec();
        vec![found.iter().flat_map(rows).fold(table, |table, (title, cells)| table.row(title, cells))]
    }
}

/// A row for each quantity of a program.
fn rows(found: &Comparison) -> impl Iterator<Item = (String, Vec<Cell>)> {
    let [base, again, clockworker] = &found.arms[..] else { unreachable!("a program has two arms") };
    QUANTITIES.iter().filter_map(move |quantity| {
        let figure = base.figures.get(quantity.key)?;
        let ratio = |arm: &Arm| {
            arm.figures.get(quantity.key).and_then(|figure| figure.ratio).map_or(Cell::Nothing, Cell::Ratio)
        };
        let cells = vec![Cell::Value(figure.value, quantity.unit), ratio(clockworker), ratio(again)];
        Some((format!("{}: {}", found.title, quantity.title), cells))
    })
}

impl Programs {
    /// Prints the programs, one a line.
    pub fn list() -> io::Result<()> {
        let mut out = io::stdout().lock();
        for [program, _] in programs() {
            writeln!(out, "{:24}{}", program.key, program.title)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_and_titles_are_of_one_program_each() {
        let keys: BTreeSet<&str> = programs().map(|[program, _]| program.key).collect();
        let titles: BTreeSet<&str> = programs().map(|[program, _]| program.title).collect();
        assert_eq!([keys.len(), titles.len()], [programs().count(); 2]);
    }
}
