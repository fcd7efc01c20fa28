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
//! Jobs do no work: [a clock](clock) is moved on by it, and by the time that the executor really takes. So rounds
//! of seconds take a moment, and other programs on the machine change little. A reader must not conclude from this what caches,
//! which real work would fill, do to an executor; nor how often it stops for more than 20 µs; nor what its readings of the clock
//! cost, which here are of a number in memory. Instead each piece is charged one reading of the system's clock, in every arm, also
//! in LocalSet, which would need none.
//!
//! Each arm is compared with the [simulator](clockworker_schedulers::simulate) by the mean response: that is given the round's
//! schedule, and for each piece the overhead that the round itself had.
//!
//! The part [`slowdown_50`](slowdown) has the highest load at which short jobs are not slowed down too much.

pub mod clock;
pub mod schedule;
pub mod server;
pub mod slowdown;

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, RunnableFifo, Serpt};
use clockworker_schedulers::simulate::{Policy, Queue, Service, Simulation};

use crate::harness::{Comparison, Experiment, Measurement, Sample, Table, Unit, Window};
use schedule::{Jobs, Schedule};
use server::{Order, Served, Work};

pub const TAIL: Measurement = Measurement {
    name: "tail",
    question: "What does the order of work do to the slowest jobs, short and long?",
    experiments: |options, _pinning| {
        let window = if options.quick { QUICK_WINDOW } else { WINDOW };
        let loads = services().into_iter().flat_map(|service| LOADS.map(|load| (service.clone(), load)));
        let orders = (0..)
            .zip(loads)
            .map(|(number, (service, load))| order(service, load, window, options.seed, number));
        orders.chain(slowdown::experiments(options.seed, options.quick)).collect()
    },
    tables: |found| {
        let orders = found.iter().filter(|found| found.part == PART);
        orders.map(table).chain(slowdown::tables(found)).collect()
    },
};

const PART: &str = "order";

const PIECE: Duration = Duration::from_micros(25);

/// For how long jobs arrive in a round.
const WINDOW: Duration = Duration::from_secs(3);
const QUICK_WINDOW: Duration = Duration::from_millis(40);

const ROUNDS: u32 = 12;

/// In percent.
const LOADS: [u32; 2] = [70, 90];

/// The arms, with the name that the simulator has for their order. LocalSet's tasks take turns, as RunnableFifo's do.
const ARMS: [(&str, &str, Order); 5] = [
    ("LocalSet", "fifo", |work| work.on_local_set()),
    ("Clockworker, RunnableFifo", "fifo", |work| work.under(RunnableFifo::default())),
    ("Clockworker, LAS", "las", |work| work.under(Las::default())),
    ("Clockworker, QLAS", "qlas", |work| work.under(Qlas::default())),
    ("Clockworker, SERPT", "serpt", |work| work.under(Serpt::default())),
];

const RESPONSE: &str = "mean_response_ns";
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

/// Jobs of such sizes at a utilisation in percent.
fn order(
    (title, service): (&str, Service),
    percent: u32,
    window: Duration,
    seed: u64,
    number: u64,
) -> Experiment {
    let load = f64::from(percent) / 100.0;
    let count = (window.as_nanos() as f64 * load / service.mean_ns()).ceil() as usize;
    let take = move |window: &Window| {
        let jobs = Jobs::draw(&service, count, seed, number << 32 | u64::from(window.round));
        let (schedule, (_, policy, serve)) = (Rc::new(jobs.at_load(load)), ARMS[window.arm]);
        let served =
            serve(Work { schedule: schedule.clone(), piece: PIECE, give_up: Box::new(|_, _| false) });
        Ok(sample(&schedule, &served, policy))
    };
    Experiment::new(PART, format!("{title}, at {percent} %"), ARMS.map(|(title, ..)| title), take)
        .rounds(ROUNDS)
}

fn sample(schedule: &Schedule, served: &Served, policy: &str) -> Sample {
    let ends = schedule.jobs.iter().zip(&served.ends_ns);
    let responses: Vec<(u64, f64)> =
        ends.map(|(job, end_ns)| (job.service_ns, (end_ns - job.at_ns) as f64)).collect();
    let mean_ns = responses.iter().map(|(_, response_ns)| response_ns).sum::<f64>() / responses.len() as f64;
    let overhead_ns = served.overhead.as_nanos() as f64 / served.polls.max(1) as f64;
    let sample = Sample::default()
        .number(SIMULATED, mean_ns / simulated_ns(schedule, policy, overhead_ns))
        .number(OVERHEAD, overhead_ns)
        .number(RESPONSE, mean_ns);
    SIZES.into_iter().fold(sample, |sample, (key, sizes)| {
        let of_size = responses.iter().filter(|(size_ns, _)| sizes.contains(size_ns));
        let slowdowns: Vec<f64> =
            of_size.map(|(size_ns, response_ns)| response_ns / *size_ns as f64).collect();
        if slowdowns.is_empty() { sample } else { sample.distribution(key, slowdowns) }
    })
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
        .column("mean response", found, RESPONSE, Unit::Nanos)
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
        for policy in ["fifo", "las", "qlas"] {
            let mean = f64::from(60_000 + 34_000) / 2.0;
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
        let figures = sample(&schedule(), &served, "fifo").into_figures();
        let wanted = (47_500.0, 3.5, 3.5);
        assert_eq!((figures[RESPONSE], figures["slowdown.p99"], figures["slowdown_of_small.p99"]), wanted);
    }
}
