//! The command `tail`: what the order of work does to response times when jobs differ in size.
//!
//! Jobs arrive open-loop, at random times drawn beforehand, and are served in pieces of 25 µs, each a poll, by the order
//! of the executor under test. The same schedule goes to every arm of a *round*, in an order shuffled anew; the next round
//! has another schedule.
//!
//! - *Response time*: intended arrival until the end of the last piece.
//! - *Slowdown*: response time over size. 1 is a job that had the thread for itself.
//! - *Size class*: a decade of sizes. What becomes of the largest shows whether favouring small jobs starves them.
//!
//! Arms and the [simulator](clockworker_schedulers::simulate) are compared by the mean response: the simulator is given
//! the round's schedule, and for each piece the overhead that the round itself had.
//!
//! How jobs come to an executor without a second thread, and without one arm noticing them sooner than another, is told
//! in [`server`].

pub mod arm;
pub mod cell;
pub mod chapter;
pub mod classes;
pub mod options;
pub mod schedule;
pub mod server;
pub mod service;
pub mod simulated;
pub mod window;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{self, Report};
use crate::page::model::Chapter;
use crate::stats;
use crate::stats::conclusion::{Bar, Conclusion, Interval};

use arm::Arm;
use cell::{Cell, SIMULATED_RATIO, Shape};
use options::Options;
use service::Service;

/// The measurement `tail`.
#[derive(Debug)]
pub struct Tail;

/// The arms and the cell that bars are for.
const BARRED_ARMS: [Arm; 2] = [Arm::Las, Arm::Qlas];
const BARRED: (Service, u32) = (Service::Pareto, 90);

impl Measurement for Tail {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "tail";
    const SCHEMA: &'static str = "clockworker-tail";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str = "What does the order of work do to the slowest jobs, short and long?";
    const ARGUMENTS: &'static [&'static str] = &["tail", "--grid"];

    fn plan(options: &Options, _pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let cell =
            |((service, load_percent), part)| Cell { service, load_percent, options: options.clone(), part };
        Ok(options.cells().into_iter().zip(0..).map(|named| Box::new(cell(named)) as _).collect())
    }

    fn bars(options: &Options, cells: &[report::Cell<Shape>]) -> Vec<Conclusion> {
        let pairs = cells.iter().flat_map(|cell| BARRED_ARMS.map(|arm| (cell, arm)));
        pairs.flat_map(|(cell, arm)| bars_of(cell, arm, options.common.seed)).collect()
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}

fn bars_of(cell: &report::Cell<Shape>, arm: Arm, seed: u64) -> impl Iterator<Item = Conclusion> + use<> {
    let (title, barred) = (arm.title(), (cell.shape.service, cell.shape.load_percent) == BARRED);
    let slowdown = cell.conclude(
        arm.key(),
        "slowdown.p99",
        format!("{}: p99 slowdown, {title} ÷ LocalSet", cell.title),
        barred.then_some(Bar::AtMost(0.3)),
    );
    let simulated =
        cell.arm(arm.key()).and_then(|arm| stats::estimated_by_seed(arm.samples(SIMULATED_RATIO), seed));
    let simulated = simulated.map(|value| {
        let named = format!("{}: mean response, {title} ÷ simulator", cell.title);
        Conclusion::new(named, value, Interval::Confidence95, barred.then_some(Bar::Within(0.9, 1.1)))
    });
    slowdown.into_iter().chain(simulated)
}
