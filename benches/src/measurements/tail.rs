//! The command `tail`: what the order of work does to response times when jobs differ in size.
//!
//! Jobs arrive in an open loop, as a Poisson process that is drawn beforehand, and are served in pieces, each a poll, in the order
//! of the executor under test. All arms of a round get the same schedule; the next round has another. How jobs come to an executor
//! without a second thread, and without one arm noticing them sooner than another, is told in [`server`].
//!
//! - *Response time*: intended arrival until the end of the last piece.
//! - *Slowdown*: response time over size. 1 is a job that had the thread for itself.
//! - *Small* jobs are below 100 µs, *large* ones from 1 ms. What becomes of these shows whether favouring small jobs starves them.
//!
//! Jobs do no work: [a clock](crate::workload::clock) is moved on by it, and by the time that the executor really takes. So rounds
//! of seconds take a moment, and other programs on the machine change little. A reader must not conclude from this what caches,
//! which real work would fill, do to an executor; nor how often it stops for more than 20 µs; nor what its readings of the clock
//! cost, which here are of a number in memory. Instead each piece is charged one reading of the system's clock, in every arm, also
//! in LocalSet, which would need none.
//!
//! Each arm is compared with the [simulator](clockworker_schedulers::simulate) by the mean response: that is given the round's
//! schedule, and for each piece the overhead that the round itself had.
//!
//! The part [`slowdown_50`](slowdown) has the highest load at which short jobs are not slowed down too much.

pub mod schedule;
pub mod server;
pub mod slowdown;

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, value_parser};
use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Serpt};
use clockworker_schedulers::simulate::{Policy, Queue, Service, Simulation};

use crate::harness::{
    Comparison, Distribution, Experiment, Measurement, Options, Pinning, Sample, Sampling, Table, Unit,
    Window,
};
use schedule::{Jobs, Schedule};
use server::{Order, Served, Work};

#[derive(Args, Debug)]
pub struct Tail {
    #[command(flatten)]
    pub options: Options,

    /// Jobs of each load that `slowdown_50` tries [default: 400,000 of the first shape, 50,000 of the second]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1_000..=50_000_000))]
    pub jobs: Option<u32>,
}

const PART: &str = "order";

const PIECE: Duration = Duration::from_micros(25);

/// For how long jobs arrive in a round.
const WINDOW: Duration = Duration::from_secs(3);
const QUICK_WINDOW: Duration = Duration::from_millis(40);

const ROUNDS: u32 = 12;

/// In percent.
const LOADS: [u32; 2] = [70, 90];

/// The arms, with the name that the simulator has for their order. LocalSet's tasks take turns, as RunnableFifo's do.
const ARMS: [(&str, &str, Order); 6] = [
    ("LocalSet", "fifo", |work| work.on_local_set()),
    ("Clockworker, RunnableFifo", "fifo", |work| work.under(RunnableFifo::default())),
    ("Clockworker, ArrivalFifo", "arrival", |work| work.under(ArrivalFifo::default())),
    ("Clockworker, LAS", "las", |work| work.under(Las::default())),
    ("Clockworker, QLAS", "qlas", |work| work.under(Qlas::default())),
    ("Clockworker, SERPT", "serpt", |work| work.under(Serpt::default())),
];

const RESPONSE: &str = "response_ns";
/// Slowdowns, by the sizes of jobs in nanoseconds.
const SIZES: [(&str, Range<u64>); 3] = [
    ("slowdown", 0..u64::MAX),
    ("slowdown_of_small", 0..100_000),
    ("slowdown_of_large", 1_000_000..u64::MAX),
];
/// The mean response over that of the simulator with the same schedule and the round's own overhead.
const SIMULATED: &str = "mean_by_simulated";
/// Time that was neither work nor idle, for each piece served.
const OVERHEAD: &str = "overhead_ns_per_poll";

/// All have a mean of 60 to 66 µs.
fn services() -> [(&'static str, Service); 3] {
    let bimodal = Service::bimodal(10_000, 10_000_000, 0.005);
    let pareto = Service::bounded_pareto(1.1, 10_000, 100_000_000);
    [
        ("exponential, mean 60 µs", Service::exponential(60_000.0)),
        ("99.5 % 10 µs, 0.5 % 10 ms", bimodal),
        ("Pareto, α = 1.1, 10 µs to 100 ms", pareto),
    ]
    .map(|(title, service)| (title, service.expect("these are distributions")))
}

impl Measurement for Tail {
    fn name(&self) -> &'static str {
        "tail"
    }

    fn question(&self) -> &'static str {
        "What does the order of work do to the slowest jobs, short and long?"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn experiments(&self, _pinning: &Pinning) -> Result<Vec<Box<dyn Experiment>>> {
        let Options { seed, quick, .. } = self.options;
        let window = if quick { QUICK_WINDOW } else { WINDOW };
        let loads = services().into_iter().flat_map(|service| LOADS.map(|load| (service.clone(), load)));
        let orders = (0..).zip(loads).map(move |(number, (service, load))| {
            let experiment = order(service, load, window, seed, number);
            Box::new(experiment) as Box<dyn Experiment>
        });
        let jobs = self.jobs.map(|jobs| jobs as usize);
        let slowdowns = slowdown::experiments(seed, quick, jobs).into_iter().map(|one| Box::new(one) as _);
        Ok(orders.chain(slowdowns).collect())
    }

    fn tables(&self, found: &[Comparison]) -> Vec<Table> {
        let orders = found.iter().filter(|found| found.part == PART);
        orders.map(table).chain(slowdown::tables(found)).collect()
    }
}

/// Jobs of such sizes at a utilisation in percent.
fn order(
    (title, service): (&str, Service),
    percent: u32,
    window: Duration,
    seed: u64,
    number: u64,
) -> Sampling {
    let load = f64::from(percent) / 100.0;
    let count = (window.as_nanos() as f64 * load / service.mean_ns()).ceil() as usize;
    let take = move |window: &Window| {
        let jobs = Jobs::draw(&service, count, seed, number << 32 | u64::from(window.round));
        let (schedule, (_, policy, serve)) = (Rc::new(jobs.at_load(load)), ARMS[window.arm]);
        let served =
            serve(Work { schedule: schedule.clone(), piece: PIECE, give_up: Box::new(|_, _| false) });
        Ok(sample(&schedule, &served, policy))
    };
    let titles = ARMS.map(|(title, ..)| title.to_owned()).to_vec();
    Sampling::new(PART, format!("{title}, at {percent} %"), titles, take).rounds(ROUNDS)
}

fn sample(schedule: &Schedule, served: &Served, policy: &str) -> Sample {
    let ends = schedule.jobs.iter().zip(&served.ends_ns);
    let responses = ends.map(|(job, end_ns)| (job.service_ns, end_ns - job.at_ns));
    let response = Distribution::of_nanos(responses.clone().map(|(_, response_ns)| Some(response_ns)));
    let slowdown = |sizes: Range<u64>| {
        let mut slowdown = Distribution::in_units_of(0.001);
        let of_size = responses.clone().filter(|(size_ns, _)| sizes.contains(size_ns));
        of_size.for_each(|(size_ns, response_ns)| slowdown.add(response_ns as f64 / size_ns as f64));
        slowdown
    };
    let overhead_ns = served.overhead.as_nanos() as f64 / served.polls.max(1) as f64;
    let sample = Sample::default()
        .rate(SIMULATED, response.mean(), simulated_ns(schedule, policy, overhead_ns))
        .number(OVERHEAD, overhead_ns)
        .distribution(RESPONSE, response);
    SIZES
        .into_iter()
        .map(|(key, sizes)| (key, slowdown(sizes)))
        .filter(|(_, slowdown)| slowdown.count() > 0)
        .fold(sample, |sample, (key, slowdown)| sample.distribution(key, slowdown))
}

/// The mean response that the simulator has, where each piece takes such an overhead besides.
fn simulated_ns(schedule: &Schedule, policy: &str, overhead_ns: f64) -> f64 {
    let policy = Policy::named(policy).expect("the simulator has every order of work").make();
    let queue = Queue::new("jobs", policy).quantum_ns(PIECE.as_nanos() as u64);
    let simulation = Simulation::new([queue]).overhead_ns(overhead_ns.round() as u64);
    let mut sum = 0.0;
    simulation
        .run(schedule.jobs.iter().copied(), |done| sum += done.response_ns() as f64)
        .expect("schedules are in order, and there is one queue");
    sum / schedule.jobs.len().max(1) as f64
}

fn table(found: &Comparison) -> Table {
    Table::new(format!("Jobs of sizes {}", found.title))
        .column("mean response", found, "response_ns.mean", Unit::Nanos)
        .column("p99 slowdown", found, "slowdown.p99", Unit::Number)
        .column("p99.9 slowdown", found, "slowdown.p999", Unit::Number)
        .column("of small: p99", found, "slowdown_of_small.p99", Unit::Number)
        .column("of large: p99", found, "slowdown_of_large.p99", Unit::Number)
        .values("mean ÷ simulator's", found, SIMULATED, Unit::Number)
        .values("overhead of a poll", found, OVERHEAD, Unit::Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedule::job;

    fn schedule() -> Schedule {
        Schedule { jobs: vec![job(0, 50_000), job(1_000, 10_000)], length_ns: 60_000 }
    }

    #[test]
    fn the_simulated_order_is_the_arms() {
        for policy in ["fifo", "arrival", "las", "qlas"] {
            let ends = if policy == "arrival" { [50_000, 59_000] } else { [60_000, 34_000] };
            let mean = f64::from(ends[0] + ends[1]) / 2.0;
            assert_eq!(simulated_ns(&schedule(), policy, 0.0), mean, "{policy}");
        }
        // Each piece is charged the overhead: the long job ends three pieces after the start, the short one two.
        let las = |overhead_ns| simulated_ns(&schedule(), "las", overhead_ns);
        assert_eq!(las(100.0) - las(0.0), (300.0 + 200.0) / 2.0);
        assert!(services().iter().all(|(_, service)| (59_900.0..66_500.0).contains(&service.mean_ns())));
    }

    #[test]
    fn responses_count_from_the_intended_arrival() {
        let served =
            Served { ends_ns: vec![60_000, 36_000], polls: 3, overhead: Duration::ZERO, gave_up: false };
        let figures = sample(&schedule(), &served, "fifo").figures();
        assert_eq!((figures["response_ns.max"], figures["response_ns.mean"]), (60_000.0, 47_500.0));
        assert_eq!((figures["slowdown.max"], figures["slowdown_of_small.max"]), (3.5, 3.5));
    }
}
