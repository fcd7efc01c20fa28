//! The command `tail`: what the order of work does to response times when jobs differ in size.
//!
//! Jobs arrive open-loop, at random times drawn beforehand, and are served in pieces of 25 µs, each a poll, by the order
//! of the executor under test. The same schedule goes to every arm of a *round*, in balanced order; the next round has
//! another schedule.
//!
//! - *Response time*: intended arrival until the end of the last piece.
//! - *Slowdown*: response time over size. 1 is a job that had the thread for itself.
//! - *Size class*: a decade of sizes. What becomes of the largest shows whether favouring small jobs starves them.
//!
//! Arms and the [simulator](clockworker_schedulers::simulate) are compared by the mean response: the simulator is given
//! the round's schedule, and for each piece the overhead that the round itself had.
//!
//! How jobs come to an executor without a second thread, and without one arm noticing them sooner than another, is told
//! in `tail/server.rs`.

pub(super) mod arm;
mod chapter;
pub mod options;
pub mod schedule;
pub(super) mod served;
mod server;

use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report, Rounds, Sample, Sampling, Window, arms};
use crate::measurements::Keyed;
use crate::page::Chapter;
use crate::stats::{self, Bar, Conclusion, Interval};

use arm::ARMS;
use options::Options;
use schedule::{Schedule, Service};
use served::{Waits, class_name};

pub(crate) struct Tail;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub service: Service,
    pub distribution: String,
    pub load_percent: u32,
    pub window_s: f64,
    pub piece_us: u32,
}

const BARRED_ARMS: [&str; 2] = ["las", "qlas"];
const BARRED: (Service, u32) = (Service::Pareto, 90);

const RESPONSE: &str = "response_ns";
const SLOWDOWN: &str = "slowdown";
/// Jobs that had not ended when their window was over, a round. All have in the end.
const UNFINISHED: &str = "unfinished";
/// The mean response over that of the simulator with the same schedule and the round's own overhead.
const SIMULATED_RATIO: &str = "mean_by_simulated";
/// Time that was neither work nor idle, for each piece served.
const OVERHEAD: &str = "overhead_ns_per_poll";
/// Wall time over CPU time: 1 where no other program had the core.
const STRETCH: &str = "stretch";
/// What stands between a figure's name and the sizes it is for.
const OF: &str = " of ";

impl Measurement for Tail {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "tail";
    const SCHEMA: &'static str = "clockworker-tail";
    const QUESTION: &'static str = "What does the order of work do to the slowest jobs, short and long?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;
    const ARGUMENTS: &'static [&'static str] = &["tail", "--grid"];

    fn plan(options: &Options, _pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let loads = options.cells().into_iter().zip(0..);
        let load = |((service, percent), part)| Box::new(load(service, percent, part, options)) as _;
        Ok(loads.map(load).collect())
    }

    fn bars(options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        let pairs = cells.iter().flat_map(|cell| BARRED_ARMS.map(|arm| (cell, arm)));
        pairs.flat_map(|(cell, arm)| bars_of(cell, arm, options.common.seed)).flatten().collect()
    }
}

fn bars_of(cell: &Cell<Shape>, key: &str, seed: u64) -> Option<impl Iterator<Item = Conclusion> + use<>> {
    let arm = cell.arm(key)?;
    let barred = (cell.shape.service, cell.shape.load_percent) == BARRED;
    let named = |what, of| format!("{}: {what}, {} ÷ {of}", cell.title, arm.title);
    let slowdown = cell.conclude(
        key,
        "slowdown.p99",
        named("p99 slowdown", "LocalSet"),
        barred.then_some(Bar::AtMost(0.3)),
    );
    let simulated = stats::estimated_by_seed(arm.samples(SIMULATED_RATIO), seed).map(|value| {
        let (named, bar) = (named("mean response", "simulator"), Bar::Within(0.9, 1.1));
        Conclusion::new(named, value, Interval::Confidence95, barred.then_some(bar))
    });
    Some(slowdown.into_iter().chain(simulated))
}

/// A service time and a utilisation, and how they are measured.
fn load(service: Service, load_percent: u32, part: u64, options: &Options) -> Sampling<Shape> {
    let (window, piece, seed) = (options.window(), options.piece(), options.common.seed);
    let shape = Shape {
        service,
        distribution: service.distribution().to_string(),
        load_percent,
        window_s: window.as_secs_f64(),
        piece_us: options.piece,
    };
    let title = format!("{} at {load_percent} %", service.key());
    let named = ARMS.iter().map(|arm| (arm.key.to_owned(), arm.title.to_owned()));
    let cell = Cell::new(title, shape, arms(named));
    let rounds = Rounds { usual: if options.grid { 3 } else { 20 }, limit: None, warms_up: false };
    let sample = move |&Window { arm, round, .. }: &Window| {
        let (arm, load) = (&ARMS[arm], f64::from(load_percent) / 100.0);
        let schedule = Rc::new(Schedule::draw(service, load, window, seed, part << 32 | round));
        let served = (arm.serve)(&schedule, piece);
        let (all, by_class) = served.waits();
        let simulated_ns = arm.simulated_ns(&schedule, piece, served.overhead_ns_per_poll());
        let sample = Sample::default()
            .with_rate(SIMULATED_RATIO, all.response.mean(), simulated_ns)
            .with_number(OVERHEAD, served.overhead_ns_per_poll())
            .with_number("late_max_ns", served.late_max_ns() as f64)
            .with_number(STRETCH, served.stretch());
        let by_class =
            by_class.into_iter().map(|(class, waits)| (format!("{OF}{}", class_name(class)), waits));
        Ok(by_class.fold(with_waits(sample, ("", all)), with_waits))
    };
    Sampling::new(vec![cell], rounds, sample).taking(window).comparing(is_of_all)
}

/// Whether a figure is of all jobs, and not of some sizes or of the arm alone.
fn is_of_all(figure: &str) -> bool {
    figure.split_once('.').is_some_and(|(of, _)| [RESPONSE, SLOWDOWN].contains(&of))
}

fn with_waits(sample: Sample, (sizes, waits): (impl fmt::Display, Waits)) -> Sample {
    sample
        .with_values(format!("{RESPONSE}{sizes}"), waits.response)
        .with_values(format!("{SLOWDOWN}{sizes}"), waits.slowdown)
        .with_number(format!("{UNFINISHED}{sizes}"), waits.unfinished as f64)
}
