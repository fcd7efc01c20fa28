//! The part `slowdown_50`: the highest load at which the p99.9 slowdown of the short jobs is at most 50.
//!
//! It is the currency of the literature on scheduling at microseconds: Shinjuku (NSDI '19), Perséphone (SOSP '21), Concord
//! (SOSP '23), Tiny Quanta (ASPLOS '24). The two shapes are those of Perséphone's artefact (its schedules `SBIM2` and `DISP2`).
//! *Slowdown* is the time from arrival to end over the job's own work, without what its executor takes. *Load* is that work over
//! time, so overhead lowers the load that is reached.
//!
//! There, clients send over a network in an open loop with exponential gaps; here arrivals are such a process without a network, and
//! each try has exactly its load. Those systems serve with several cores and preempt by interrupts, or by yields that a compiler
//! inserts; here is one thread, and a job yields by itself each so many microseconds. So compare arms with each other, and what a
//! yield changes with what it changes there, but no figure with a figure. Only short jobs are in the percentile; an executor that
//! favours them has to keep up as well: the last job must have ended when the window, and a hundredth of it, is over.
//!
//! In each round an arm's highest load is looked for anew, in steps of 1 %, with the same jobs at every load: only their gaps
//! change. Of the first shape 398 short jobs of a try may be slowed down more, of the second 25. Jobs wait because of crowds, which are
//! rarer than the jobs that are hurt in one: so the p99.9 of a round is less certain than its number of jobs says, and errs to
//! higher loads.

use std::cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Qlas, RunnableFifo, WokenFirst};
use clockworker_schedulers::simulate::{Job, Service};

use super::schedule::{Jobs, Schedule};
use super::server::{Order, Work};
use crate::harness::{Comparison, Experiment, Sample, Table, Unit, Window};

pub const PART: &str = "slowdown_50";

/// Executors as they come, and with QLAS's level 0 and FairGroups' turns as short as their pages advise for short jobs.
pub const ORDERS: [(&str, Order); 7] = [
    ("LocalSet", |work| work.on_local_set()),
    ("Clockworker", |work| work.under(WokenFirst::default())),
    ("Clockworker, RunnableFifo", |work| work.under(RunnableFifo::default())),
    ("Clockworker, QLAS", |work| work.under(Qlas::default())),
    ("Clockworker, QLAS, base 2 µs", |work| work.under(Qlas::new().with_base_ns(SHORT_NS))),
    ("Clockworker, FairGroups", |work| work.under(FairGroups::default())),
    ("Clockworker, FairGroups, quantum 2 µs", |work| {
        work.under(FairGroups::new().with_quantum_ns(SHORT_NS))
    }),
];
const SHORT_NS: u64 = 2_048;

/// The slowdown that is exceeded by one short job in a thousand at most.
const SLOWDOWN: u64 = 50;
const ONE_IN: usize = 1_000;

const ROUNDS: u32 = 6;

/// In percent.
const LOAD: &str = "load";

/// A name (percent:µs of each kind of jobs), their sizes in nanoseconds, the part that is long, and how many there are in a try.
#[derive(Clone, Copy)]
struct Shape(&'static str, [u64; 2], f64, usize);

const RARE: Shape = Shape("99.5:0.5, 0.5:500", [500, 500_000], 0.005, 400_000);
const HALF: Shape = Shape("50:1, 50:100", [1_000, 100_000], 0.5, 50_000);

/// What is measured, with the lengths of polls in microseconds.
const CELLS: [(Shape, u64); 5] = [(RARE, 1), (RARE, 5), (HALF, 1), (HALF, 5), (HALF, 25)];

const QUICK_JOBS: usize = 200;

/// An experiment for each shape and length of polls.
pub fn experiments(seed: u64, quick: bool) -> Vec<Experiment> {
    let experiment = |(number, (shape, micros)): (u64, (Shape, u64))| {
        let jobs = if quick { QUICK_JOBS } else { shape.3 };
        experiment(shape, jobs, Duration::from_micros(micros), seed, number)
    };
    (0..).zip(CELLS).map(experiment).collect()
}

fn experiment(shape: Shape, count: usize, piece: Duration, seed: u64, number: u64) -> Experiment {
    let Shape(title, [short_ns, long_ns], long, _) = shape;
    let service = Service::bimodal(short_ns, long_ns, long).expect("it is a distribution");
    let mut drawn: Option<(u32, Jobs)> = None;
    let allowed = (count as f64 * (1.0 - long)) as usize / ONE_IN;
    // Where each place's search ended, which is where its next begins.
    let mut near: BTreeMap<usize, u32> = BTreeMap::new();
    let take = move |window: &Window| {
        if drawn.as_ref().is_none_or(|(round, _)| *round != window.round) {
            let part = 1 << 48 | number << 32 | u64::from(window.round);
            drawn = Some((window.round, Jobs::draw(&service, count, seed, part)));
        }
        let jobs = drawn.as_ref().map(|(_, jobs)| jobs).expect("they were just drawn");
        let near = near.entry(window.place).or_insert(75);
        *near = highest(*near, |percent| {
            let schedule = Rc::new(jobs.at_load(f64::from(percent) / 100.0));
            holds(ORDERS[window.arm].1, &schedule, (short_ns, allowed), piece)
        });
        Ok(Sample::default().number(LOAD, f64::from(*near)))
    };
    let title = format!("{title} at {} µs", piece.as_micros());
    Experiment::new(PART, title, ORDERS.map(|(title, _)| title), take).rounds(ROUNDS)
}

/// The highest percentage at which it holds, if it holds below and not above that; 0 if it holds nowhere. Is found soonest if it
/// is near `guess`.
fn highest(guess: u32, mut holds: impl FnMut(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, 100);
    let (mut next, mut step) = (guess.clamp(1, 99), 2);
    while low + 1 < high {
        if holds(next) {
            low = next;
        } else {
            high = next;
        }
        // Twice as far each time, until it is between two.
        next = match (low, high) {
            (low, 100) => (low + step).min(99),
            (0, high) => high.saturating_sub(step).max(1),
            _ => u32::midpoint(low, high),
        };
        step *= 2;
    }
    low
}

/// Whether few enough of the short jobs are slowed down too much, and the executor keeps up. Gives up when it is known that not.
fn holds(order: Order, schedule: &Rc<Schedule>, (short_ns, allowed): (u64, usize), piece: Duration) -> bool {
    let give_up = Box::new(lost(short_ns, allowed, schedule.length_ns));
    !order(Work { schedule: schedule.clone(), piece, give_up }).gave_up
}

/// Whether it is known, now that this job has ended then, that too many are slowed down or that the executor does not keep up.
fn lost(short_ns: u64, allowed: usize, length_ns: u64) -> impl Fn(&Job, u64) -> bool {
    let patience_ns = length_ns + length_ns / 100 + 1_000_000;
    let slow = cell::Cell::new(0);
    move |job, end_ns| {
        let is_slow = job.service_ns == short_ns && end_ns - job.at_ns > SLOWDOWN * short_ns;
        slow.set(slow.get() + usize::from(is_slow));
        slow.get() > allowed || end_ns > patience_ns
    }
}

/// The loads, and their ratios to LocalSet's.
pub fn tables(found: &[Comparison]) -> Vec<Table> {
    let found: Vec<&Comparison> = found.iter().filter(|found| found.part == PART).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "Highest load in percent with a p99.9 slowdown of short jobs up to {SLOWDOWN} (percent:µs, yields)"
    );
    let ratios = Table::new(format!("{title}: ratios"));
    vec![
        found.iter().fold(Table::new(title), |table, found| table.medians(&found.title, found, LOAD)),
        found.iter().fold(ratios, |table, found| table.column(&found.title, found, LOAD, Unit::Number)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::job;

    #[test]
    fn the_highest_is_found_from_everywhere_and_sooner_from_near() {
        for wanted in 0..100 {
            for guess in [0, 1, 40, 75, 99, 200] {
                let mut tries = 0;
                let found = highest(guess, |percent| {
                    tries += 1;
                    percent <= wanted
                });
                assert_eq!(found, wanted, "from {guess}");
                assert!(tries <= 13, "{tries} from {guess} to {wanted}");
                assert!(
                    guess.abs_diff(wanted) > 1 || guess > 99 || tries <= 4,
                    "{tries} from {guess} to {wanted}"
                );
            }
        }
    }

    #[test]
    fn a_load_is_lost_by_one_slow_short_job_too_many_or_by_a_late_one() {
        let short = |at_ns| job(at_ns, 1_000);
        let lost = lost(1_000, 1, 100_000_000);
        assert!(!lost(&short(7_000), 57_000), "fifty times its work");
        assert!(!lost(&job(0, 100_000), 9_000_000), "long ones may be slow");
        assert!(!lost(&short(7_000), 57_001), "one may");
        assert!(!lost(&short(8_000), 58_000));
        assert!(lost(&short(8_000), 58_001), "two may not");

        let lost = super::lost(1_000, 1, 100_000_000);
        assert!(!lost(&job(0, 100_000), 102_000_000), "a hundredth and a millisecond after the window");
        assert!(lost(&job(0, 100_000), 102_000_001));
    }

    // That a load holds depends on the machine; that it does not, here, only on the executor.
    #[test]
    fn no_load_holds_with_more_work_than_time_or_behind_long_polls() {
        let piece = Duration::from_micros(1);
        // A short job arrives after each long one has begun; a long one lasts for 200 times the short.
        let schedule = |gap_ns: u64| {
            let long = |number: u64| job(number * gap_ns, 2_000_000);
            let jobs = (0..40_u64).flat_map(|number| [long(number), job(number * gap_ns + 50_000, 10_000)]);
            Rc::new(Schedule { jobs: jobs.collect(), length_ns: 40 * gap_ns })
        };
        let [local_set, _, _, qlas, ..] = ORDERS.map(|(_, order)| order);
        // It serves the long one to its end, and then the short.
        assert!(!holds(qlas, &schedule(1_800_000), (10_000, 0), piece), "there is more work than time");
        let blocked = !holds(local_set, &schedule(8_000_000), (10_000, 0), Duration::from_secs(1));
        assert!(blocked, "the long ones do not yield");
    }
}
