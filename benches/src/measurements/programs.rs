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

use crate::harness::{Experiment, Measurement, Pinning, Processes, Sample, Table, Unit};

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
        use crate::arms::Runner;
        use crate::arms::monoio::Monoio;
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
        use crate::arms::Runner;
        use crate::arms::monoio::Monoio;
        use clockworker::Executor;
        pub(super) use clockworker::spawn_local as spawn;

        pub(super) fn run<F: Future>(main: F) -> F::Output {
            let executor = Executor::new();
            Monoio::default().block_on(executor.run_until(main))
        }
    }

    pub(super) mod requests;
}

pub const PROGRAMS: Measurement = Measurement {
    name: "programs",
    question: "What do programs written for LocalSet take when only their imports change?",
    experiments: |options, pinning| {
        let (quick, seed) = (options.quick, options.seed);
        let setting = || Setting { quick, seed, pinning: pinning.clone() };
        programs().map(|program| experiment(program, setting())).collect()
    },
    tables: |found| {
        let table = Table::by_imports("Programs by their imports alone");
        vec![found.iter().fold(table, |table, found| table.quantities(found, &ROWS))]
    },
};

/// One function, compiled with two sets of imports.
#[derive(Debug)]
struct Program {
    key: &'static str,
    title: &'static str,
    base: &'static str,
    /// Whether it is run in a process of its own, of which nothing has been used before.
    apart: bool,
    /// Runs it once.
    run: fn(&Setting) -> Sample,
}

impl Program {
    const fn new(key: &'static str, title: &'static str, run: fn(&Setting) -> Sample) -> Self {
        Program { key, title, base: "LocalSet", apart: false, run }
    }

    const fn apart(self) -> Self {
        Program { apart: true, ..self }
    }
}

#[derive(Clone, Debug)]
struct Setting {
    quick: bool,
    seed: u64,
    pinning: Pinning,
}

impl Setting {
    fn size(&self, usual: usize, quick: usize) -> usize {
        if self.quick { quick } else { usual }
    }
}

const TIME: &str = "time_ns";
/// Of the executor's thread, where the wall clock would measure how long tasks want to sleep.
const CPU_TIME: &str = "cpu_time_ns";
const TIME_PER_POLL: &str = "time_per_poll_ns";
const LATENCY: &str = "latency_ns";
const MEMORY: &str = "memory_bytes";
const MEMORY_EACH: &str = "memory_each_bytes";

/// What there is a row for, in the order of the table.
const ROWS: [(&str, &str, Unit); 6] = [
    (TIME, "time", Unit::Nanos),
    (CPU_TIME, "CPU time", Unit::Nanos),
    (TIME_PER_POLL, "time per poll", Unit::Nanos),
    ("latency_ns.p99", "p99", Unit::Nanos),
    (MEMORY, "memory", Unit::Bytes),
    (MEMORY_EACH, "memory each", Unit::Bytes),
];

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

fn experiment(program: [&'static Program; 2], setting: Setting) -> Experiment {
    let Program { key, title, base, apart, .. } = *program[0];
    let (rounds, processes) =
        if apart { (MEMORY_ROUNDS, Processes::ForASample) } else { (ROUNDS, Processes::This) };
    Experiment::new(key, title, [base, "Clockworker"], move |window| Ok((program[window.arm].run)(&setting)))
        .rounds(rounds)
        .processes(processes)
}
