//! The command `priority`: what foreground latency costs beside a background that always has work, by share, by the
//! length of the background's polls, and by request.
//!
//! What arrives, what serves it and what is measured are told in [`beside`](crate::beside). In each round every arm of a
//! scene gets the same schedule for two seconds; the next round has another schedule. Latency is compared with that of the
//! foreground alone on a LocalSet, background with that of LocalSet.
//!
//! `compare` has a background that sleeps. There a thread that serves the foreground first is idle later, when all eight
//! background tasks happen to sleep at once, and what the background lost in the foreground's bursts it cannot make up
//! for. That is a property of those eight tasks, not of the executor, so the bars here are for a background that always
//! has work: what it gets then is all that the foreground and the executor leave. The section `sleeping` has the other.

mod chapter;
pub mod options;

use std::time::Duration;

use clockworker::DEFAULT_REQUEST;
use serde::{Deserialize, Serialize};

use crate::beside::lanes::Background;
use crate::beside::scene::{Arm, BACKGROUND_CPU, FOREGROUND_CPU, P99, Scene};
use crate::beside::trial::Place;
use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report};
use crate::page::Chapter;
use crate::stats::{Bar, Conclusion};
use crate::workload::arrivals::Pattern;

use options::{Options, Section};

pub(crate) struct Priority;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    section: Section,
    background_poll_us: u64,
    /// Seconds of arrivals that were served and not counted, in each round.
    warm_up_s: f64,
    /// Seconds of arrivals that were counted, in each round.
    counted_s: f64,
}

/// The arm that bars and the first screen are for, and the polls of the background beside it.
const BARRED_ARM: &str = "shares_99_1";
const BARRED_POLL_US: u64 = 100;

impl Measurement for Priority {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "priority";
    const SCHEMA: &'static str = "clockworker-priority";
    const QUESTION: &'static str =
        "What do shares and requests do for a foreground beside a background that always has work?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let parts = options.scenes().into_iter().zip(0..);
        Ok(parts.map(|(of, part)| Box::new(scene(of, part, options, pinning)) as _).collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let is_barred = |cell: &&Cell<Shape>| {
            cell.shape.background_poll_us == BARRED_POLL_US && cell.shape.section != Section::Request
        };
        cells.iter().filter(is_barred).flat_map(bars_of).collect()
    }
}

/// Only the section `shares` has bars: `sleeping` is there to be compared with it.
fn bars_of(cell: &Cell<Shape>) -> impl Iterator<Item = Conclusion> + use<> {
    let conclude = |what: &str, figure: &str, bar: Bar| {
        let title = &cell.arm(BARRED_ARM)?.title;
        let bar = (cell.shape.section == Section::Shares).then_some(bar);
        cell.conclude(BARRED_ARM, figure, format!("{}, {title}: {what}", cell.title), bar)
    };
    [
        conclude("foreground p50 ÷ foreground only", "total_latency_ns.p50", Bar::AtMost(1.1)),
        conclude("foreground p99 ÷ foreground only", P99, Bar::AtMost(1.1)),
        conclude("background ÷ LocalSet's", BACKGROUND_CPU, Bar::AtLeast(0.95)),
    ]
    .into_iter()
    .flatten()
}

const TASKS: usize = 8;

const NAP: Duration = Duration::from_micros(100);

/// One short task each two milliseconds: a fortieth of a core, where its share is a tenth.
const LIGHT: Pattern = Pattern {
    mean_gap: Duration::from_millis(2),
    segments: (1, 1),
    shortest: Duration::from_micros(20),
    longest: Duration::from_micros(80),
};

const SMALL_REQUEST: Duration = Duration::from_micros(50);

fn scene(
    (section, poll): (Section, Duration),
    part: u64,
    options: &Options,
    pinning: &Pinning,
) -> Scene<Shape> {
    let us = poll.as_micros();
    let (title, foreground, rest) = match section {
        Section::Shares => (format!("Beside polls of {us} µs that never end"), Pattern::USUAL, None),
        Section::Request => {
            let title = format!("Short tasks at a share of a tenth, beside polls of {us} µs that never end");
            (title, LIGHT, None)
        }
        Section::Sleeping => {
            let title = format!("Beside polls of {us} µs and sleeps of {} µs", NAP.as_micros());
            (title, Pattern::USUAL, Some(NAP))
        }
    };
    let timing = options.timing();
    let shape = Shape {
        section,
        background_poll_us: us as u64,
        warm_up_s: timing.warm_up.as_secs_f64(),
        counted_s: timing.counted.as_secs_f64(),
    };
    Scene {
        cell: Cell::new(title, shape, Vec::new()),
        arms: arms(section, poll),
        foreground,
        background: Background { tasks: TASKS, poll, rest },
        timing,
        figures: &[FOREGROUND_CPU, BACKGROUND_CPU],
        rounds: 10,
        wanted: options.common.rounds,
        seed: options.common.seed,
        part,
        pinning: pinning.clone(),
    }
}

fn arms(section: Section, poll: Duration) -> Vec<Arm> {
    let alone = || Arm::new("foreground_only", "LocalSet, foreground only", Place::ForegroundOnly);
    let local_set = || Arm::new("local_set", "LocalSet with background", Place::LocalSet);
    // The background asks for one of its polls at a time, so that when its turn comes among foreground work, that waits
    // for one poll and not for a few.
    let shares = |foreground, background| {
        let key = format!("shares_{foreground}_{background}");
        let place = Place::queues((foreground, DEFAULT_REQUEST), (background, poll));
        Arm::new(key, format!("Clockworker {foreground}:{background}"), place)
    };
    // A tenth of the thread for the foreground, which is told apart by its request: the background has the usual one.
    let request = |request: Duration| {
        let us = request.as_micros();
        let place = Place::queues((1, request), (9, DEFAULT_REQUEST));
        Arm::new(format!("request_{us}_us"), format!("Clockworker 1:9, request {us} µs"), place)
    };
    let own = match section {
        Section::Shares | Section::Sleeping => [shares(99, 1), shares(9, 1), shares(1, 1)],
        Section::Request => [shares(99, 1), request(DEFAULT_REQUEST), request(SMALL_REQUEST)],
    };
    [alone(), alone(), local_set(), local_set()].into_iter().chain(own).collect()
}
