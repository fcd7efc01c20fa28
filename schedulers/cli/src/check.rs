//! `simulate --theory`: the simulator, held to the formulas for M/G/1.
//!
//! A formula is about a limit: processor sharing and least attained service cut time as finely as one likes. The policies
//! run with polls of some microseconds here, without fair turns, and forget nothing; what that makes of the mean is inside the 2 %.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use anyhow::ensure;
use clockworker_schedulers::simulate::theory::{Discipline, MG1};
use clockworker_schedulers::simulate::{Arrivals, Boxed, Queue, Service, Simulation, Stream, format_ns};
use clockworker_schedulers::{ClockUse, FairTurns, Las, Qlas, Ready, RunnableFifo, Scheduler, Task, TaskId};
use serde::Serialize;

use crate::numbers::mean_and_error;
use crate::plan::replication_seed;
use crate::work;

/// How far a simulated mean may be from the formula's, as a part of it.
const TOLERANCE: f64 = 0.02;

/// Runs of a row, for a standard error.
const RUNS: usize = 20;

const EXPONENTIAL: &str = "exponential:mean=20us";
const BIMODAL: &str = "bimodal:short=10us,long=10ms,part=0.005";
/// [`BIMODAL`] in polls of 10 µs that take 11.
const BIMODAL_LONGER: &str = "bimodal:short=11us,long=11ms,part=0.005";
const PARETO: &str = "pareto:alpha=1.1,min=10us,max=100ms";

/// A formula, and the policy that it is about.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// FCFS: `RunnableFifo` with whole jobs for polls.
    Whole,
    /// FCFS: jobs that yield and [go on](GoesOn). Overhead makes jobs longer, which the formula is told.
    GoesOn,
    /// Processor sharing: `RunnableFifo` with short polls.
    Sharing,
    Las,
    Qlas,
}

/// First come, first served: a job that yields goes on.
#[derive(Default)]
struct GoesOn(VecDeque<TaskId>);

impl Scheduler for GoesOn {
    const CLOCK: ClockUse = ClockUse::Unused;

    fn push(&mut self, task: Task, why: Ready) {
        match why {
            Ready::Yielded => self.0.push_front(task.id),
            _ => self.0.push_back(task.id),
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop_front()
    }
}

/// A formula to be held to.
#[derive(Clone, Copy, Debug)]
struct Row {
    service: &'static str,
    /// How long jobs become by the overhead of their polls: what the formula is told.
    charged: &'static str,
    /// Overhead included.
    load: f64,
    order: Order,
    quantum_ns: u64,
    overhead_ns: u64,
    /// Millions of jobs.
    millions: u64,
}

const fn row(service: &'static str, load: f64, order: Order, quantum_ns: u64, millions: u64) -> Row {
    Row { service, charged: service, load, order, quantum_ns, overhead_ns: 0, millions }
}

/// Whole jobs.
const WHOLE: u64 = u64::MAX;

/// So many jobs that the standard error is well below a percent. Polls of exponential jobs may be long, as the
/// mean does not depend on them. QLAS' are a whole part of its levels.
const ROWS: [Row; 17] = [
    row(EXPONENTIAL, 0.5, Order::Whole, WHOLE, 4),
    row(EXPONENTIAL, 0.5, Order::Sharing, 4_096, 4),
    row(EXPONENTIAL, 0.5, Order::Las, 4_096, 4),
    row(EXPONENTIAL, 0.5, Order::Qlas, 4_096, 4),
    row(EXPONENTIAL, 0.9, Order::Whole, WHOLE, 10),
    row(EXPONENTIAL, 0.9, Order::Sharing, 4_096, 10),
    row(EXPONENTIAL, 0.9, Order::Las, 4_096, 10),
    row(EXPONENTIAL, 0.9, Order::Qlas, 4_096, 10),
    row(BIMODAL, 0.7, Order::Whole, WHOLE, 40),
    Row { charged: BIMODAL_LONGER, overhead_ns: 1_000, ..row(BIMODAL, 0.7, Order::GoesOn, 10_000, 40) },
    row(BIMODAL, 0.7, Order::Sharing, 1_024, 30),
    row(BIMODAL, 0.7, Order::Las, 4_096, 60),
    row(BIMODAL, 0.7, Order::Qlas, 4_096, 60),
    row(PARETO, 0.7, Order::Whole, WHOLE, 80),
    row(PARETO, 0.7, Order::Sharing, 2_048, 30),
    row(PARETO, 0.7, Order::Las, 2_048, 10),
    row(PARETO, 0.7, Order::Qlas, 2_048, 10),
];

/// What the check found.
#[derive(Debug, Serialize)]
pub(crate) struct CheckReport {
    /// What kind of file this is.
    schema: &'static str,
    /// The version of its form.
    schema_version: u32,
    /// Whether there were too few jobs to prove anything.
    pub(crate) quick: bool,
    pub(crate) seed: u64,
    /// How far a row may be off, as a part.
    pub(crate) tolerance: f64,
    pub(crate) rows: Vec<CheckRow>,
}

/// A formula beside the simulator.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CheckRow {
    pub(crate) service: String,
    pub(crate) load: f64,
    /// What the formula is for.
    pub(crate) discipline: String,
    /// What was run.
    pub(crate) policy: String,
    pub(crate) jobs: u64,
    /// E\[T\] / E\[S\] by the formula.
    pub(crate) formula: f64,
    /// The same by the simulator.
    pub(crate) simulated: f64,
    /// How far that is from the formula, as a part of it.
    pub(crate) error: f64,
    /// The standard error of `simulated`, as a part of the formula.
    pub(crate) standard_error: Option<f64>,
    /// Whether the error is within the tolerance.
    pub(crate) within: bool,
}

/// Runs every row.
pub(crate) fn run(seed: u64, quick: bool, threads: NonZeroUsize) -> anyhow::Result<CheckReport> {
    let million = if quick { 100 } else { 1_000_000 };
    let means = work::each("theory", ROWS.len() * RUNS, threads, |number| {
        mean_response(&ROWS[number / RUNS], million, replication_seed(seed, (number % RUNS) as u64))
    })?;
    let rows = ROWS.iter().zip(means.chunks(RUNS)).map(|(row, means)| check_row(row, million, means));
    let (schema, tolerance) = ("clockworker-simulate-theory", TOLERANCE);
    Ok(CheckReport {
        schema,
        schema_version: 1,
        quick,
        seed,
        tolerance,
        rows: rows.collect::<Result<_, _>>()?,
    })
}

/// The mean response time of one run of a row, in nanoseconds.
fn mean_response(row: &Row, million: u64, seed: u64) -> anyhow::Result<f64> {
    let (service, charged) = (row.service.parse::<Service>()?, row.charged.parse::<Service>()?);
    let load = row.load * service.mean_ns() / charged.mean_ns();
    let jobs = row.millions * million / RUNS as u64;
    let arrivals = Arrivals::new(&[Stream::new(service, load)], jobs, seed)?;
    let (mut sum, mut count) = (0.0, 0_u64);
    Simulation::new([Queue::new("all", row.order.policy()).quantum_ns(row.quantum_ns)])
        .overhead_ns(row.overhead_ns)
        .run(arrivals, |done| {
            sum += done.response_ns() as f64;
            count += 1;
        })?;
    Ok(sum / count.max(1) as f64)
}

fn check_row(row: &Row, million: u64, means: &[f64]) -> anyhow::Result<CheckRow> {
    let charged: Service = row.charged.parse()?;
    let size = charged.mean_ns();
    let theory = MG1::new(charged, row.load)?;
    let wanted = theory.mean_response_ns(&row.order.discipline());
    let (mean, error_of_mean) = mean_and_error(means);
    let error = mean / wanted - 1.0;
    Ok(CheckRow {
        service: row.service.to_owned(),
        load: row.load,
        discipline: row.order.names().0.to_owned(),
        policy: row.policy(),
        jobs: row.millions * million,
        formula: wanted / size,
        simulated: mean / size,
        error,
        standard_error: error_of_mean.map(|error| error / wanted),
        within: error.abs() <= TOLERANCE,
    })
}

impl Row {
    fn policy(&self) -> String {
        let polls = match self.quantum_ns {
            WHOLE => "whole jobs".to_owned(),
            quantum_ns => format!("polls of {}", format_ns(quantum_ns as f64)),
        };
        let overhead = match self.overhead_ns {
            0 => String::new(),
            overhead_ns => format!(" + {}", format_ns(overhead_ns as f64)),
        };
        format!("{}, {polls}{overhead}", self.order.names().1)
    }
}

impl Order {
    fn policy(self) -> Boxed {
        match self {
            Order::Whole | Order::Sharing => Boxed::new(RunnableFifo::new()),
            Order::GoesOn => Boxed::new(GoesOn::default()),
            Order::Las => Boxed::new(Las::new().without_half_life().with_fair_turns(FairTurns::NEVER)),
            Order::Qlas => Boxed::new(Qlas::new().without_half_life().with_fair_turns(FairTurns::NEVER)),
        }
    }

    fn discipline(self) -> Discipline {
        match self {
            Order::Whole | Order::GoesOn => Discipline::Fcfs,
            Order::Sharing => Discipline::Ps,
            Order::Las => Discipline::Las,
            Order::Qlas => Discipline::levels_of(&Qlas::new()),
        }
    }

    /// The names of the formula and of the policy.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Order::Whole => ("FCFS", "RunnableFifo"),
            Order::GoesOn => ("FCFS", "first come"),
            Order::Sharing => ("PS", "RunnableFifo"),
            Order::Las => ("LAS", "LAS"),
            Order::Qlas => ("multilevel", "QLAS"),
        }
    }
}

/// Fails if a row is off by more than it may, unless there were too few jobs to tell: whether the simulator can be believed.
pub(crate) fn judge(report: &CheckReport) -> anyhow::Result<()> {
    let wrong = report.rows.iter().filter(|row| !row.within).count();
    let (rows, percent) = (report.rows.len(), report.tolerance * 100.0);
    ensure!(report.quick || wrong == 0, "{wrong} of {rows} rows are more than {percent} % off");
    Ok(())
}
