//! The command `compare`: what a poll costs, and foreground latency beside background work, next to LocalSet.

pub mod background;
pub mod chapter;
pub mod options;
pub mod overhead;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report, again};
use crate::page::model::Chapter;
use crate::stats::conclusion::{Bar, Conclusion};

use background::{BACKGROUND_RATE, Background};
use options::{Options, Scenario};
use overhead::{NS_PER_POLL, Overhead};

/// The measurement `compare`.
#[derive(Debug)]
pub struct Compare;

/// What tells a cell from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "scenario", rename_all = "lowercase")]
pub enum Scene {
    /// Tasks that do nothing but yield.
    Overhead {
        /// Tasks spawned.
        tasks: usize,
        /// Yields of each.
        yields: u32,
        /// tasks × (yields + 1).
        polls: u64,
    },
    /// Foreground beside background.
    Background {
        /// Seconds of arrivals that were served and not counted, in each repetition.
        warm_up_s: f64,
        /// Seconds of arrivals that were counted, in each repetition.
        counted_s: f64,
        /// Seconds that tasks had after the last arrival.
        drain_limit_s: f64,
    },
}

/// The bars of the overhead scenario, for WokenFirst, the default, with one queue, by place in [`overhead::SHAPES`].
const OVERHEAD_BARS: [(usize, Bar); 2] = [(2, Bar::AtMost(0.65)), (0, Bar::AtMost(0.40))];

impl Measurement for Compare {
    type Options = Options;
    type Shape = Scene;

    const NAME: &'static str = "compare";
    const SCHEMA: &'static str = "clockworker-compare";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str =
        "What does a poll cost, and what becomes of foreground latency beside background work?";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Scene>, Failure> {
        let mut plan: Plan<Scene> = Vec::new();
        if options.wants(Scenario::Overhead) {
            plan.push(Box::new(Overhead::new(options.common.quick)));
        }
        if options.wants(Scenario::Background) {
            plan.push(Box::new(Background::new(options, pinning)));
        }
        Ok(plan)
    }

    fn bars(_options: &Options, cells: &[Cell<Scene>]) -> Vec<Conclusion> {
        let is_overhead = |cell: &&Cell<Scene>| matches!(cell.shape, Scene::Overhead { .. });
        let (overhead, background): (Vec<_>, Vec<_>) = cells.iter().partition(is_overhead);
        overhead_bars(&overhead).chain(background.into_iter().flat_map(background_bars)).collect()
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}

/// The last one is the noise floor.
fn overhead_bars(cells: &[&Cell<Scene>]) -> impl Iterator<Item = Conclusion> {
    let conclude = |place: usize, arm: &str, bar| {
        let cell = cells.get(place)?;
        let title = &cell.arm(arm)?.title;
        cell.conclude(arm, NS_PER_POLL, format!("Time per poll at {}, {title} ÷ LocalSet", cell.title), bar)
    };
    let own = overhead::Arm::WokenFirstOneQueue.key();
    let again = again(overhead::Arm::LocalSet.key());
    let judged = OVERHEAD_BARS.into_iter().filter_map(move |(place, bar)| conclude(place, own, Some(bar)));
    judged.chain(conclude(OVERHEAD_BARS[0].0, &again, None))
}

fn background_bars(cell: &Cell<Scene>) -> impl Iterator<Item = Conclusion> + use<> {
    let conclude = |arm: background::Arm, figure, what: &str, bar| {
        cell.conclude(arm.key(), figure, what.replace('#', arm.title()), bar)
    };
    let (own, local_set) = (background::Arm::Clockworker, background::Arm::LocalSet);
    let (p99, latency) = ("total_latency_ns.p99", "Foreground p99 total latency, # ÷ foreground only");
    let iterations = "Background iterations, # ÷ LocalSet with background";
    [
        conclude(own, p99, latency, Some(Bar::AtMost(1.25))),
        conclude(own, BACKGROUND_RATE, iterations, Some(Bar::AtLeast(0.9))),
        conclude(local_set, p99, latency, None),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::shape::Shape;

    #[test]
    fn bars_are_at_the_shapes_they_were_set_for() {
        let shapes = OVERHEAD_BARS.map(|(place, _)| overhead::SHAPES[place]);
        assert_eq!(shapes, [Shape::new(1_000, 1_000), Shape::new(50_000, 5)]);
    }
}
