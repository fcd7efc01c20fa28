//! The command `compare`: what a poll costs, and foreground latency beside background work, next to LocalSet.

mod chapter;
pub mod options;

use std::time::Duration;

use clockworker::DEFAULT_REQUEST;
use serde::{Deserialize, Serialize};

use super::overhead::arm::Arm as Executor;
use super::overhead::measure::measure;
use super::overhead::tasks::SpawnAndJoin;
use crate::beside::lanes::{Background, DRAIN_LIMIT};
use crate::beside::scene::{Arm, BACKGROUND_RATE, CPU_USED, OFFERED_LOAD, P99, Scene};
use crate::beside::trial::{Place, Timing};
use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report, Rounds, Sampling, again, arms};
use crate::page::Chapter;
use crate::stats::{Bar, Conclusion};
use crate::workload::arrivals::Pattern;
use crate::workload::shape::Shape as Tasks;

use options::{Options, Scenario};

pub(crate) struct Compare;

#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "scenario", rename_all = "lowercase")]
pub(crate) enum Shape {
    Overhead {
        tasks: usize,
        yields: u32,
        /// tasks × (yields + 1).
        polls: u64,
    },
    Background {
        /// Seconds of arrivals that were served and not counted, in each repetition.
        warm_up_s: f64,
        /// Seconds of arrivals that were counted, in each repetition.
        counted_s: f64,
        drain_limit_s: f64,
    },
}

/// The bars of the overhead scenario, by arm: the most of LocalSet's time, at the first, the third and the last of [`SHAPES`].
const OVERHEAD_BARS: [(&str, [f64; 3]); 6] = [
    ("woken_first_one_queue", [0.28, 0.28, 0.28]),
    ("woken_first_two_queues", [0.31, 0.31, 0.30]),
    ("qlas", [0.38, 0.38, 0.36]),
    ("serpt", [0.45, 0.45, 0.38]),
    ("fair_groups", [0.45, 0.45, 0.38]),
    ("las", [0.50, 0.55, 0.40]),
];
const BARRED: [usize; 3] = [0, 2, 3];
const _: () = assert!(matches!(SHAPES, [(50_000, 5), _, (1_000, 1_000), (100_000, 0)]));

impl Measurement for Compare {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "compare";
    const SCHEMA: &'static str = "clockworker-compare";
    const QUESTION: &'static str =
        "What does a poll cost, and what becomes of foreground latency beside background work?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;
    const PROCESSES: u32 = 4;

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        if let Some(ns) = options.clock_cost {
            clockworker::delay_readings(Duration::from_nanos(ns.into()));
        }
        let mut plan: Plan<Shape> = Vec::new();
        if options.wants(Scenario::Overhead) {
            plan.push(Box::new(overhead(options.common.quick)));
        }
        if options.wants(Scenario::Background) {
            plan.push(Box::new(background(options, pinning)));
        }
        Ok(plan)
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let (overhead, background) = by_scenario(cells);
        overhead_bars(&overhead).chain(background.into_iter().flat_map(background_bars)).collect()
    }
}

fn by_scenario(cells: &[Cell<Shape>]) -> (Vec<&Cell<Shape>>, Vec<&Cell<Shape>>) {
    cells.iter().partition(|cell| matches!(cell.shape, Shape::Overhead { .. }))
}

/// The last one is the noise floor.
fn overhead_bars(cells: &[&Cell<Shape>]) -> impl Iterator<Item = Conclusion> {
    let conclude = |place: usize, arm: &str, bar| {
        let cell = cells.get(place)?;
        let title = &cell.arm(arm)?.title;
        cell.conclude(arm, NS_PER_POLL, format!("Time per poll at {}, {title} ÷ LocalSet", cell.title), bar)
    };
    let bars = OVERHEAD_BARS
        .into_iter()
        .flat_map(|(arm, most)| BARRED.into_iter().zip(most).map(move |bar| (arm, bar)));
    let judged = bars.filter_map(move |(arm, (place, most))| conclude(place, arm, Some(Bar::AtMost(most))));
    let [(local_set, _), ..] = ARMS;
    judged.chain(conclude(BARRED[1], &again(local_set), None))
}

fn background_bars(cell: &Cell<Shape>) -> impl Iterator<Item = Conclusion> + use<> {
    let conclude = |arm, figure, what: &str, bar| {
        let quantity = what.replace('#', &cell.arm(arm)?.title);
        cell.conclude(arm, figure, quantity, bar)
    };
    let latency = "Foreground p99 total latency, # ÷ foreground only";
    let iterations = "Background iterations, # ÷ LocalSet with background";
    [
        conclude(CLOCKWORKER, P99, latency, Some(Bar::AtMost(1.25))),
        conclude(CLOCKWORKER, BACKGROUND_RATE, iterations, Some(Bar::AtLeast(0.9))),
        conclude(LOCAL_SET, P99, latency, None),
    ]
    .into_iter()
    .flatten()
}

const NS_PER_POLL: &str = "ns_per_poll";

pub const ARMS: [(&str, Executor); 7] = [
    ("local_set", Executor::LocalSet),
    ("woken_first_one_queue", Executor::WokenFirst),
    ("woken_first_two_queues", Executor::TwoQueues),
    ("qlas", Executor::Qlas),
    ("las", Executor::Las),
    ("serpt", Executor::Serpt),
    ("fair_groups", Executor::FairGroups),
];

const SHAPES: [(usize, u32); 4] = [(50_000, 5), (1_000, 100), (1_000, 1_000), (100_000, 0)];
const QUICK_SHAPES: [(usize, u32); 4] = [(1_000, 5), (100, 20), (100, 100), (2_000, 0)];

/// The whole program is to end within two minutes also on a slow machine.
const ROUNDS: Rounds = Rounds { usual: 40, limit: Some(Duration::from_secs(35)), warms_up: true };

/// What a poll costs: tasks that do nothing but yield, beside tokio's LocalSet.
///
/// A *sample* is one shape run once by one arm on a fresh executor in a fresh host. Timed is from before the
/// first spawn until the last handle has been awaited, all inside `host.block_on(executor.run_until(..))`.
/// Making the host, the executor and the vector of handles is before that, dropping host and executor after
/// it; tasks themselves are freed inside, as they finish, in every arm.
fn overhead(quick: bool) -> Sampling<Shape> {
    let shapes = if quick { QUICK_SHAPES } else { SHAPES }.map(|(tasks, yields)| Tasks::new(tasks, yields));
    let measured: Vec<_> = ARMS[..1].iter().chain(&ARMS).copied().collect();
    let arms = arms(measured.iter().map(|(key, executor)| ((*key).to_owned(), executor.title())));
    let cell = |shape: Tasks| {
        let overhead = Shape::Overhead { tasks: shape.tasks, yields: shape.yields, polls: shape.polls() };
        Cell::new(shape.to_string(), overhead, arms.clone())
    };
    measure(shapes.map(cell).into(), vec![NS_PER_POLL], ROUNDS, move |cell, arm| {
        let time = measured[arm].1.run(&SpawnAndJoin(shapes[cell]))[0];
        vec![time / shapes[cell].polls() as f64]
    })
}

const BACKGROUND_SHARE: u32 = 2;

const LOCAL_SET: &str = "local_set";
const CLOCKWORKER: &str = "clockworker";

const BACKGROUND: Background =
    Background { tasks: 8, poll: Duration::from_micros(100), rest: Some(Duration::from_micros(100)) };

/// Foreground latency beside background work, on one thread and on two.
///
/// What arrives, what serves it and what is measured are told in [`beside`](crate::beside). Ratios are taken within a
/// repetition; their median is reported with the smallest and the largest.
///
/// tokio's timers have a resolution of one millisecond: a sleep of 100 µs takes one to two. That holds for every arm.
fn background(options: &Options, pinning: &Pinning) -> Scene<Shape> {
    let timing =
        if options.common.quick { Timing::of_millis(50, 450) } else { Timing::of_millis(500, 5_500) };
    let shape = Shape::Background {
        warm_up_s: timing.warm_up.as_secs_f64(),
        counted_s: timing.counted.as_secs_f64(),
        drain_limit_s: DRAIN_LIMIT.as_secs_f64(),
    };
    // The background asks for one of its loops at a time, so that when its turn comes among foreground work, that waits for
    // one poll and not for a few.
    let queues =
        Place::queues((options.foreground_share, DEFAULT_REQUEST), (BACKGROUND_SHARE, BACKGROUND.poll));
    let arms = [
        ("local_set_foreground_only", "LocalSet, foreground only", Place::ForegroundOnly),
        (LOCAL_SET, "LocalSet with background", Place::LocalSet),
        (CLOCKWORKER, "Clockworker, two queues", queues),
        ("two_runtimes_nice", "two runtimes, one core, background nice 19", Place::TwoRuntimes),
    ];
    Scene {
        cell: Cell::new("Foreground beside background", shape, Vec::new()).with_range(),
        arms: arms.map(|(key, title, place)| Arm::new(key, title, place)).into(),
        foreground: Pattern::USUAL,
        background: BACKGROUND,
        timing,
        figures: &[BACKGROUND_RATE, CPU_USED, OFFERED_LOAD],
        rounds: 3,
        wanted: options.repetitions,
        seed: options.common.seed,
        part: 0,
        pinning: pinning.clone(),
    }
}
