//! Foreground latency beside background work, on one thread and on two.
//!
//! What arrives, who serves it and what is measured are told in [`beside`](crate::beside). Here eight background tasks
//! loop, 100 µs CPU and 100 µs sleep. In one repetition every arm gets the same schedule, in the next another; the order
//! of the arms is shuffled each time.
//!
//! Arrivals in the first half second of a repetition are served and not counted. Percentiles are those of all repetitions
//! together. Ratios are taken within a repetition; their median is reported with the smallest and the largest.
//!
//! tokio's timers have a resolution of one millisecond: a sleep of 100 µs takes one to two. That holds for
//! every arm.

use std::time::Duration;

use crate::arms::QueueSetup;
use crate::beside::foreground::DRAIN_LIMIT;
use crate::beside::loops::{Background, Rest};
use crate::beside::trial::{Outcome, Place, Timing, Trial};
use crate::cli::Options;
use crate::failure::Failure;
use crate::latencies::{Latencies, Percentiles};
use crate::pinning::{Pinning, Side};
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::report::{BackgroundArm, BackgroundReport, Repetition};
use crate::stats::{self, Estimate};
use crate::workload::arrivals::Pattern;

/// The share of clockworker's background queue.
pub const BACKGROUND_SHARE: u32 = 2;

const BACKGROUND: Background =
    Background { tasks: 8, poll: Duration::from_micros(100), rest: Rest::Sleep(Duration::from_micros(100)) };

/// Repetitions per arm, unless the command line says otherwise.
const REPETITIONS: u32 = 3;
const QUICK_REPETITIONS: u32 = 1;

const TIMING: Timing = Timing { warm_up: Duration::from_millis(500), counted: Duration::from_millis(5_500) };
const QUICK_TIMING: Timing =
    Timing { warm_up: Duration::from_millis(50), counted: Duration::from_millis(450) };

/// Who shares a thread or a core with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The foreground on a LocalSet, with nothing beside it: what latency could be.
    ForegroundOnly,
    /// Foreground and background on one LocalSet.
    LocalSet,
    /// Foreground and background in two queues of one clockworker executor.
    Clockworker,
    /// Foreground and background on a LocalSet and a tokio runtime each, on two threads that share a core.
    TwoRuntimes,
}

impl Arm {
    /// Every arm, in the order of the table.
    pub const ALL: [Arm; 4] = [Arm::ForegroundOnly, Arm::LocalSet, Arm::Clockworker, Arm::TwoRuntimes];

    /// The name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Arm::ForegroundOnly => "LocalSet, foreground only",
            Arm::LocalSet => "LocalSet with background",
            Arm::Clockworker => "Clockworker, two queues",
            Arm::TwoRuntimes => "two runtimes, one core",
        }
    }

    /// The name in the JSON file.
    pub fn key(self) -> &'static str {
        match self {
            Arm::ForegroundOnly => "local_set_foreground_only",
            Arm::LocalSet => "local_set",
            Arm::Clockworker => "clockworker",
            Arm::TwoRuntimes => "two_runtimes",
        }
    }

    fn place(self, foreground_share: u32) -> Place {
        match self {
            Arm::ForegroundOnly => Place::ForegroundOnly,
            Arm::LocalSet => Place::LocalSet,
            Arm::Clockworker => Place::Clockworker(queues(foreground_share)),
            Arm::TwoRuntimes => Place::TwoRuntimes,
        }
    }

    /// Whether it has anything in the background.
    pub fn has_background(self) -> bool {
        self != Arm::ForegroundOnly
    }
}

/// The two queues of clockworker's arm, by lane.
///
/// The background asks for one of its loops at a time, so that when its turn comes among foreground work, that waits for
/// one poll and not for a few.
fn queues(foreground_share: u32) -> [QueueSetup; 2] {
    [
        QueueSetup { name: "foreground", share: foreground_share, request: clockworker::DEFAULT_REQUEST },
        QueueSetup { name: "background", share: BACKGROUND_SHARE, request: BACKGROUND.poll },
    ]
}

/// The repetitions of each arm, in the order of [`Arm::ALL`].
type Repetitions = [Vec<Repetition>; Arm::ALL.len()];

/// Runs the scenario.
///
/// # Errors
///
/// If an arm does not come to an end.
pub fn run(options: &Options, pinning: &Pinning) -> Result<BackgroundReport, Failure> {
    pinning.pin(Side::Load);
    let count = options.repetitions.unwrap_or(if options.quick { QUICK_REPETITIONS } else { REPETITIONS });
    let timing = if options.quick { QUICK_TIMING } else { TIMING };
    let progress = Progress::start("background", u64::from(count) * Arm::ALL.len() as u64);
    let mut order = Random::new(options.seed, Purpose::Order, 1);
    let mut repetitions = Repetitions::default();
    let mut offered_loads = Vec::new();
    for number in 0..count {
        let schedule = Pattern::USUAL.draw(options.seed, u64::from(number), timing.whole()).into();
        let trial = Trial { schedule, background: BACKGROUND, timing, pinning };
        offered_loads.push(trial.offered_load());
        run_trial(&trial, options.foreground_share, &mut order, &progress, &mut repetitions)?;
    }
    progress.finish();
    Ok(report(timing, options.foreground_share, stats::median(&offered_loads), repetitions))
}

fn run_trial(
    trial: &Trial<'_>,
    foreground_share: u32,
    order: &mut Random,
    progress: &Progress,
    repetitions: &mut Repetitions,
) -> Result<(), Failure> {
    let mut places: [usize; Arm::ALL.len()] = std::array::from_fn(|place| place);
    order.shuffle(&mut places);
    for place in places {
        let arm = Arm::ALL[place];
        progress.say(arm.title());
        let outcome = trial.run(arm.place(foreground_share), arm.title())?;
        repetitions[place].push(Repetition::from(outcome));
        progress.advance();
    }
    Ok(())
}

impl From<Outcome> for Repetition {
    fn from(outcome: Outcome) -> Self {
        let gather = |nanos: &[Option<u64>]| Latencies::gather(nanos.iter().copied()).percentiles();
        Repetition {
            queueing_delay: gather(&outcome.queueing_delays),
            total_latency: gather(&outcome.total_latencies),
            background_rate: outcome.background_rate,
            cpu_used: outcome.foreground_cpu + outcome.background_rate * BACKGROUND.poll.as_secs_f64(),
            queueing_delays_ns: outcome.queueing_delays,
            total_latencies_ns: outcome.total_latencies,
            generator_lateness_ns: outcome.lateness,
        }
    }
}

fn report(
    timing: Timing,
    foreground_share: u32,
    offered_load: f64,
    repetitions: Repetitions,
) -> BackgroundReport {
    let [alone, shared, ..] = &repetitions;
    let best_p99 = p99s(alone);
    let usual_rate = rates(shared);
    let compared = repetitions.iter().zip(Arm::ALL).map(|(own, arm)| Compared {
        total_p99: (arm != Arm::ForegroundOnly).then(|| range_of_ratios(&p99s(own), &best_p99)),
        background: (arm.has_background() && arm != Arm::LocalSet)
            .then(|| range_of_ratios(&rates(own), &usual_rate)),
    });
    let compared: Vec<Compared> = compared.collect();
    let arms = Arm::ALL.into_iter().zip(repetitions).zip(compared);
    BackgroundReport {
        warm_up_s: timing.warm_up.as_secs_f64(),
        counted_s: timing.counted.as_secs_f64(),
        drain_limit_s: DRAIN_LIMIT.as_secs_f64(),
        offered_load,
        foreground_share,
        arms: arms.map(|((arm, repetitions), compared)| report_arm(arm, repetitions, compared)).collect(),
    }
}

/// An arm beside those that set the marks.
struct Compared {
    total_p99: Option<Estimate>,
    background: Option<Estimate>,
}

fn report_arm(arm: Arm, repetitions: Vec<Repetition>, compared: Compared) -> BackgroundArm {
    let all = |pick: fn(&Repetition) -> &[Option<u64>]| merged(repetitions.iter().map(pick));
    let lateness =
        repetitions.iter().flat_map(|repetition| &repetition.generator_lateness_ns).copied().map(Some);
    let background_rate = stats::median(&rates(&repetitions));
    let cpu_used: Vec<f64> = repetitions.iter().map(|repetition| repetition.cpu_used).collect();
    BackgroundArm {
        arm: arm.key(),
        title: arm.title(),
        offered: repetitions.iter().map(|repetition| repetition.total_latencies_ns.len()).sum(),
        completed: repetitions.iter().map(Repetition::completed).sum(),
        queueing_delay: all(|repetition| &repetition.queueing_delays_ns),
        total_latency: all(|repetition| &repetition.total_latencies_ns),
        total_p99_ratio: compared.total_p99,
        background_rate: arm.has_background().then_some(background_rate),
        background_ratio: compared.background,
        generator_lateness_p99: Latencies::gather(lateness).percentiles().p99,
        cpu_used: stats::median(&cpu_used),
        repetitions,
    }
}

fn merged<'a>(parts: impl Iterator<Item = &'a [Option<u64>]>) -> Percentiles {
    Latencies::gather(parts.flatten().copied()).percentiles()
}

fn p99s(repetitions: &[Repetition]) -> Vec<f64> {
    repetitions.iter().map(|repetition| repetition.total_latency.p99 as f64).collect()
}

fn rates(repetitions: &[Repetition]) -> Vec<f64> {
    repetitions.iter().map(|repetition| repetition.background_rate).collect()
}

fn range_of_ratios(samples: &[f64], marks: &[f64]) -> Estimate {
    stats::median_and_range(&stats::paired_ratios(samples, marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetition(total: u64, rate: f64) -> Repetition {
        Repetition::from(Outcome {
            queueing_delays: vec![Some(total / 2); 10],
            total_latencies: vec![Some(total); 10],
            lateness: vec![3; 10],
            background_rate: rate,
            foreground_cpu: 0.5,
        })
    }

    #[test]
    fn ratios_are_taken_within_a_repetition() {
        let repetitions = [
            vec![repetition(100, 0.0), repetition(200, 0.0), repetition(100, 0.0)],
            vec![repetition(300, 400.0), repetition(600, 200.0), repetition(400, 400.0)],
            vec![repetition(100, 200.0), repetition(200, 200.0), repetition(150, 100.0)],
            vec![repetition(200, 400.0), repetition(400, 200.0), repetition(200, 400.0)],
        ];
        let report = report(TIMING, 13, 0.6, repetitions);
        let [alone, shared, clockworker, two] = report.arms.as_slice() else { panic!("four arms") };
        assert_eq!(
            (alone.total_p99_ratio, alone.background_rate, alone.background_ratio),
            (None, None, None)
        );
        assert_eq!(shared.total_p99_ratio.map(|ratio| (ratio.low, ratio.median)), Some((3.0, 3.0)));
        assert_eq!(shared.background_ratio, None);
        assert_eq!(clockworker.total_p99_ratio, Some(Estimate { median: 1.0, low: 1.0, high: 1.5 }));
        assert_eq!(clockworker.background_ratio, Some(Estimate { median: 0.5, low: 0.25, high: 1.0 }));
        assert_eq!(two.background_ratio, Some(Estimate { median: 1.0, low: 1.0, high: 1.0 }));
        assert_eq!((two.offered, two.completed, two.generator_lateness_p99), (30, 30, 3));
    }

    #[test]
    fn cpu_used_is_that_of_both_sides() {
        assert_eq!(repetition(100, 4_000.0).cpu_used, 0.5 + 0.4);
    }

    #[test]
    fn what_is_unfinished_is_reported() {
        let outcome = Outcome {
            queueing_delays: vec![Some(5), Some(5), None],
            total_latencies: vec![Some(9), None, None],
            lateness: vec![0; 3],
            background_rate: 0.0,
            foreground_cpu: 0.0,
        };
        assert_eq!(Repetition::from(outcome).completed(), 1);
    }
}
