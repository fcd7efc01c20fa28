//! The command `actions`: a durable queue of actions, in a database, whose loops share a thread.
//!
//! Instances of workflows are started, their actions dispatched to workers, completions recorded, and log lines flushed:
//! loops on one executor, beside a thread that has the database. It is written after a report of such a queue, whose
//! [changes](changes::Change) can be on or off; `--steps` measures them one after the other.
//!
//! A run ends clean or says why not: every loop has ended, nothing refers to what they shared, and the database holds each
//! action's effect once. `--once` is the same program without the measurement, and goes on where it was killed.

pub mod changes;
mod chapter;
mod interrupt;
mod once;
pub mod options;
mod plan;
mod queries;
mod queues;
mod recording;
mod run;
mod schema;
mod starting;
mod store;
mod trouble;
mod world;

use std::time::Duration;

use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report, Rounds, Sample, Sampling, arms, command};
use crate::measurements::Keyed;
use crate::measurements::arm::Arm;
use crate::numbers::grouped;
use crate::page::Chapter;
use crate::stats::{Bar, Conclusion};

use changes::Changes;
use options::Options;
use queues::{TITLES, queues};
use run::{Found, Run};
use store::Moments;
use world::LOOPS;

pub(crate) struct Actions;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    instances: u64,
    /// Actions of each.
    actions: u32,
    /// What is new in this step; nothing where all changes are on that are wanted.
    step: String,
}

const RATE: &str = "actions_per_s";
const LATENCY: &str = "completion_ns";
const LATENCY_P99: &str = "completion_ns.p99";
/// The part of its time that the thread of the database is busy.
const DATABASE: &str = "busy_database";

/// The part of the run that the executor's thread is in polls of a loop.
fn busy(name: &str) -> String {
    format!("busy_{name}")
}

pub(crate) fn command(options: &Options) -> Result<(), Failure> {
    if options.plain.once { once::command(options) } else { command::command::<Actions>(options) }
}

impl Measurement for Actions {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "actions";
    const SCHEMA: &'static str = "clockworker-actions";
    const SCHEMA_VERSION: u32 = 1;
    const QUESTION: &'static str = "Does a queue of actions get more done when its loops have shares?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let sizes = options.instances().into_iter();
        let parts = sizes.flat_map(|size| options.steps().into_iter().map(move |step| (size, step)));
        Ok(parts.map(|(size, step)| Box::new(part(step, size, options, pinning)) as _).collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let judged = cells.iter().filter(|cell| cell.shape.step.is_empty());
        judged.flat_map(bars_of).flatten().collect()
    }
}

fn bars_of(cell: &Cell<Shape>) -> [Option<Conclusion>; 2] {
    let queues = Arm::Queues;
    let bar = |figure, what, bar| {
        let named = format!("{}: {what}, {} ÷ LocalSet", cell.title, queues.title(TITLES));
        cell.conclude(&queues.key(), figure, named, Some(bar))
    };
    [bar(RATE, "actions per second", Bar::AtLeast(1.0)), bar(LATENCY_P99, "completion p99", Bar::AtMost(0.5))]
}

/// A setup, and how it is measured.
fn part(
    (step, changes): (&str, Changes),
    instances: u64,
    options: &Options,
    pinning: &Pinning,
) -> Sampling<Shape> {
    let (setup, own) = (options.setup(instances, changes), options.arms());
    let (options, pinning) = (options.clone(), pinning.clone());
    let schema::Setup { actions, .. } = setup;
    let shape = Shape { instances, actions, step: step.to_owned() };
    let named = own.iter().map(|arm| (arm.key(), arm.title(TITLES).to_owned()));
    let step = if step.is_empty() { String::new() } else { format!(", {step}") };
    let title = format!("{} × {actions}{step}", grouped(instances));
    let usual = rounds(setup.all(), options.steps);
    let cell = Cell::new(title, shape, arms(named));
    let cell = if usual < 8 { cell.with_range() } else { cell };
    // At the rate of a laptop, about; the baseline's scans make it worse.
    let takes = Duration::from_micros(setup.all() * 40);
    let rounds = Rounds { usual, limit: None, warms_up: false };
    Sampling::new(vec![cell], rounds, move |window| sample(own[window.arm], &setup, &options, &pinning))
        .taking(takes)
}

/// How often so many actions are measured.
fn rounds(actions: u64, steps: bool) -> u32 {
    match actions {
        _ if steps => 3,
        0..=10_000 => 20,
        10_001..=100_000 => 10,
        100_001..=300_000 => 4,
        _ => 2,
    }
}

fn sample(arm: Arm, setup: &schema::Setup, options: &Options, pinning: &Pinning) -> Result<Sample, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::unable("cannot make a folder for the database"))?;
    let path = folder.path().join("actions.sqlite");
    let failed = |trouble: trouble::Trouble| trouble.of_measurement();
    let mut connection = schema::open(&path, None).map_err(failed)?;
    schema::create(&mut connection, setup).map_err(failed)?;
    drop(connection);
    let run = Run {
        database: &path,
        setup,
        workers: options.workers.into(),
        pinning: Some(pinning),
        progress: ProgressBar::hidden(),
        moments: Moments::default(),
        most_pages: None,
    };
    Ok(sample_of(arm.run(|| queues(options.shares), &run).map_err(failed)?))
}

fn sample_of(found: Found) -> Sample {
    let seconds = found.elapsed.as_secs_f64();
    let sample = Sample::default()
        .with_rate(RATE, found.completed as f64, seconds)
        .with_values(LATENCY, found.latency)
        .with_rate(DATABASE, found.database_busy.as_secs_f64(), seconds);
    let loops = LOOPS.into_iter().zip(found.busy);
    loops.fold(sample, |sample, ((_, name), time)| sample.with_rate(busy(name), time.as_secs_f64(), seconds))
}
