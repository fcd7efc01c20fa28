//! The command `priority`: what foreground latency costs beside a background that always has work, by share, by the
//! length of the background's polls, and by request.
//!
//! What arrives, who serves it and what is measured are told in [`beside`](crate::beside). In each round every arm of a
//! [scene](scene::Scene) gets the same schedule for two seconds; the next round has another schedule. Latency is compared with
//! that of the foreground alone on a LocalSet, background with that of LocalSet.
//!
//! `compare` has a background that sleeps. There a thread that serves the foreground first is idle later, when all eight
//! background tasks happen to sleep at once, and what the background lost in the foreground's bursts it cannot make up
//! for. That is a property of those eight tasks, not of the executor, so the bars here are for a background that always
//! has work: what it gets then is all that the foreground and the executor leave. The section `sleeping` has the other.

pub mod arm;
pub mod chapter;
pub mod options;
pub mod scene;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report};
use crate::page::model::Chapter;
use crate::stats::conclusion::{Bar, Conclusion};

use options::Options;
use scene::{BACKGROUND_CPU, Scene, Section, Shape};

/// The measurement `priority`.
#[derive(Debug)]
pub struct Priority;

/// The arm that bars are for, and the polls of the background beside it.
const BARRED_ARM: &str = "shares_99_1";
const BARRED_POLL_US: u64 = 100;

impl Measurement for Priority {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "priority";
    const SCHEMA: &'static str = "clockworker-priority";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str =
        "What do shares and requests do for a foreground beside a background that always has work?";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let scenes = options.scenes().into_iter().zip(0..);
        Ok(scenes
            .map(|((section, poll), part)| Box::new(Scene::new(section, poll, part, options, pinning)) as _)
            .collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let is_barred = |cell: &&Cell<Shape>| {
            cell.shape.background_poll_us == BARRED_POLL_US && cell.shape.section != Section::Request
        };
        cells.iter().filter(is_barred).flat_map(bars_of).collect()
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
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
        conclude("foreground p99 ÷ foreground only", "total_latency_ns.p99", Bar::AtMost(1.1)),
        conclude("background ÷ LocalSet's", BACKGROUND_CPU, Bar::AtLeast(0.95)),
    ]
    .into_iter()
    .flatten()
}
