//! A scene, measured in interleaved rounds.

use std::time::Duration;

use crate::beside::trial::{Outcome, Trial};
use crate::failure::Failure;
use crate::latencies::WORST;
use crate::pinning::Pinning;
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::spread::Values;
use crate::stats::{self, Estimate};

use super::options::Options;
use super::report::{ArmReport, Round, SceneReport};
use super::scene::Scene;

/// Everything that an arm did in a scene.
struct Record {
    rounds: Vec<Round>,
    queueing_delay: Values,
    total_latency: Values,
}

impl Default for Record {
    fn default() -> Self {
        Record { rounds: Vec::new(), queueing_delay: Values::to_the(1.0), total_latency: Values::to_the(1.0) }
    }
}

/// Measures a scene. `part` tells it apart from the other scenes of the run.
///
/// # Errors
///
/// If an arm does not come to an end.
pub fn run(scene: &Scene, part: u64, options: &Options, pinning: &Pinning) -> Result<SceneReport, Failure> {
    let (rounds, timing) = (options.rounds(), options.timing());
    let progress = Progress::start("priority", u64::from(rounds) * scene.arms.len() as u64);
    let mut order = Random::new(options.seed, Purpose::Order, part);
    let mut records: Vec<Record> = scene.arms.iter().map(|_| Record::default()).collect();
    for round in 0..u64::from(rounds) {
        let schedule = scene.foreground.draw(options.seed, part << 32 | round, timing.whole()).into();
        let trial = Trial { schedule, background: scene.background, timing, pinning };
        run_round(scene, &trial, &mut order, &progress, &mut records)?;
    }
    progress.finish();
    let mut resampling = Random::new(options.seed, Purpose::Resampling, part);
    Ok(report(scene, records, &mut resampling))
}

fn run_round(
    scene: &Scene,
    trial: &Trial<'_>,
    order: &mut Random,
    progress: &Progress,
    records: &mut [Record],
) -> Result<(), Failure> {
    let mut places: Vec<usize> = (0..scene.arms.len()).collect();
    order.shuffle(&mut places);
    for place in places {
        let arm = scene.arms[place];
        let outcome = trial.run(arm.place(scene.background.poll), &arm.title())?;
        records[place].add(&outcome, scene.background.poll);
        progress.advance();
    }
    Ok(())
}

impl Record {
    fn add(&mut self, outcome: &Outcome, poll: Duration) {
        let (queueing_delay, total_latency) =
            (gathered(&outcome.queueing_delays), gathered(&outcome.total_latencies));
        let mut lateness = Values::to_the(1.0);
        outcome.lateness.iter().for_each(|&nanos| lateness.add(nanos as f64));
        self.queueing_delay.merge(&queueing_delay);
        self.total_latency.merge(&total_latency);
        self.rounds.push(Round {
            queueing_delay_ns: queueing_delay.spread(),
            total_latency_ns: total_latency.spread(),
            unfinished: outcome.total_latencies.iter().filter(|nanos| nanos.is_none()).count() as u64,
            background_cpu: outcome.background_rate * poll.as_secs_f64(),
            foreground_cpu: outcome.foreground_cpu,
            generator_lateness_p99_ns: lateness.spread().p99,
        });
    }
}

fn gathered(nanos: &[Option<u64>]) -> Values {
    let mut values = Values::to_the(1.0);
    for nanos in nanos {
        values.add(nanos.unwrap_or(WORST.as_nanos() as u64) as f64);
    }
    values
}

fn report(scene: &Scene, records: Vec<Record>, resampling: &mut Random) -> SceneReport {
    let [alone, local_set] = [0, 1].map(|place: usize| records[place].rounds.clone());
    let arms = scene.arms.iter().zip(records).zip(0..);
    let arms = arms.map(|((arm, record), place): (_, usize)| {
        let mut ratio = |to: &[Round], of: fn(&Round) -> f64| -> Estimate {
            let [own, base] = [&record.rounds, to].map(|rounds| rounds.iter().map(of).collect::<Vec<f64>>());
            stats::bootstrap_median(&stats::paired_ratios(&own, &base), resampling)
        };
        let beside = |estimate| (place > 0).then_some(estimate);
        let p50_ratio = beside(ratio(&alone, |round| round.total_latency_ns.p50));
        let p99_ratio = beside(ratio(&alone, |round| round.total_latency_ns.p99));
        let background_ratio = (place > 1).then(|| ratio(&local_set, |round| round.background_cpu));
        report_arm(arm.title(), record, p50_ratio, p99_ratio, background_ratio)
    });
    SceneReport {
        section: scene.section,
        title: scene.title(),
        background_poll_us: scene.background.poll.as_micros() as u64,
        arms: arms.collect(),
    }
}

fn report_arm(
    title: String,
    record: Record,
    p50_ratio: Option<Estimate>,
    p99_ratio: Option<Estimate>,
    background_ratio: Option<Estimate>,
) -> ArmReport {
    let Record { rounds, queueing_delay, total_latency } = record;
    let median = |of: fn(&Round) -> f64| stats::median(&rounds.iter().map(of).collect::<Vec<f64>>());
    ArmReport {
        title,
        tasks: total_latency.count(),
        unfinished: rounds.iter().map(|round| round.unfinished).sum(),
        queueing_delay_ns: queueing_delay.spread(),
        total_latency_ns: total_latency.spread(),
        p50_ratio,
        p99_ratio,
        background_cpu: median(|round| round.background_cpu),
        foreground_cpu: median(|round| round.foreground_cpu),
        background_ratio,
        generator_lateness_p99_ns: rounds
            .iter()
            .map(|round| round.generator_lateness_p99_ns)
            .fold(0.0, f64::max),
        total_latency_curve: total_latency.curve(),
        rounds,
    }
}
