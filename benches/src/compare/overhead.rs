//! What a poll costs: tasks that do nothing but yield, beside tokio's LocalSet.
//!
//! A *sample* is one shape run once by one arm on a fresh executor in a fresh host. Timed is from before the
//! first spawn until the last handle has been awaited, all inside `host.block_on(executor.run_until(..))`.
//! Making the host, the executor and the vector of handles is before that, dropping host and executor after
//! it; tasks themselves are freed inside, as they finish, in every arm.
//!
//! In every *round* each shape is run once by every arm, in an order shuffled for that round and shape, and
//! each sample is divided by LocalSet's of the same round and shape. What is reported is the median of those
//! ratios. Machines drift, and pairs drift together. LocalSet runs twice a round; its second sample over its
//! first shows what the method makes of no difference at all. A first round is run and not counted.

use std::time::Duration;

use crate::arms::{Baseline, Contender, OneQueue, TwoQueues, host};
use crate::cli::Options;
use crate::pinning::{Pinning, Side};
use crate::progress::Progress;
use crate::random::{Purpose, Random};
use crate::report::{OverheadArm, OverheadReport, OverheadShape};
use crate::stats;
use crate::stopwatch::Stopwatch;
use crate::workload::self_waking::SelfWaking;

/// Rounds counted, unless the command line says otherwise.
const ROUNDS: u32 = 40;
const QUICK_ROUNDS: u32 = 3;

/// When this is over no further round is started, unless the command line gives a number: the whole program
/// is to end within two minutes also on a slow machine.
const TIME_LIMIT: Duration = Duration::from_secs(35);

/// Fewer rounds than this give no interval worth printing.
const FEWEST_ROUNDS: u32 = 8;

pub use crate::workload::shape::Shape;

/// The shapes measured.
pub const SHAPES: [Shape; 4] =
    [Shape::new(50_000, 5), Shape::new(1_000, 100), Shape::new(1_000, 1_000), Shape::new(100_000, 0)];

/// The same, smaller, for a quick run.
pub const QUICK_SHAPES: [Shape; 4] =
    [Shape::new(1_000, 5), Shape::new(100, 20), Shape::new(100, 100), Shape::new(2_000, 0)];

/// An executor, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// tokio's LocalSet: the baseline.
    LocalSet,
    /// LocalSet once more: the noise floor.
    LocalSetAgain,
    /// Clockworker as it comes.
    WokenFirstOneQueue,
    /// Clockworker with its tasks dealt out to two queues, so that both are runnable throughout.
    WokenFirstTwoQueues,
    /// Clockworker with quantised least attained service.
    Qlas,
    /// Clockworker with least attained service.
    Las,
    /// Clockworker with shortest expected remaining time.
    Serpt,
}

impl Arm {
    /// Every arm, in the order of the table.
    pub const ALL: [Arm; 7] = [
        Arm::LocalSet,
        Arm::LocalSetAgain,
        Arm::WokenFirstOneQueue,
        Arm::WokenFirstTwoQueues,
        Arm::Qlas,
        Arm::Las,
        Arm::Serpt,
    ];

    /// The name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::LocalSetAgain => "LocalSet again (A/A)",
            Arm::WokenFirstOneQueue => "WokenFirst, one queue",
            Arm::WokenFirstTwoQueues => "WokenFirst, two queues",
            Arm::Qlas => "QLAS",
            Arm::Las => "LAS",
            Arm::Serpt => "SERPT",
        }
    }

    /// The name in the JSON file.
    pub fn key(self) -> &'static str {
        match self {
            Arm::LocalSet => "local_set",
            Arm::LocalSetAgain => "local_set_again",
            Arm::WokenFirstOneQueue => "woken_first_one_queue",
            Arm::WokenFirstTwoQueues => "woken_first_two_queues",
            Arm::Qlas => "qlas",
            Arm::Las => "las",
            Arm::Serpt => "serpt",
        }
    }

    /// Runs `shape` once on a fresh executor; the time from the first spawn until all is joined.
    pub fn sample(self, shape: Shape) -> Duration {
        match self {
            Arm::LocalSet | Arm::LocalSetAgain => time(&Baseline::default(), shape),
            Arm::WokenFirstOneQueue => time(&OneQueue::as_it_comes(), shape),
            Arm::WokenFirstTwoQueues => time(&TwoQueues::alike(), shape),
            Arm::Qlas => time(&OneQueue::qlas(), shape),
            Arm::Las => time(&OneQueue::las(), shape),
            Arm::Serpt => time(&OneQueue::serpt(), shape),
        }
    }
}

fn time(contender: &impl Contender, shape: Shape) -> Duration {
    bracketed(contender, shape, Stopwatch::start, |watch| watch.elapsed())
}

/// Runs `shape` once, with `begin` before what is timed and `end` after it.
pub fn bracketed<B, T>(
    contender: &impl Contender,
    shape: Shape,
    begin: impl FnOnce() -> B,
    end: impl FnOnce(B) -> T,
) -> T {
    let host = host();
    let mut handles = Vec::with_capacity(shape.tasks);
    let root = async {
        handles.extend((0..shape.tasks).map(|task| contender.spawn(task, SelfWaking::new(shape.yields))));
        for handle in handles.drain(..) {
            handle.await.expect("a task that only yields does not fail");
        }
    };
    let begun = begin();
    host.block_on(contender.run_until(root));
    end(begun)
}

/// Runs the scenario.
pub fn run(options: &Options, pinning: &Pinning) -> OverheadReport {
    pinning.pin(Side::Measured);
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    let shapes = if options.quick { QUICK_SHAPES } else { SHAPES };
    let mut samples = Samples::none(&shapes);
    let mut order = Random::new(options.seed, Purpose::Order, 0);
    let progress = Progress::start("overhead", u64::from(rounds + 1));
    let watch = Stopwatch::start();
    run_round(&shapes, &mut order);
    for round in 0..rounds {
        progress.advance();
        if options.rounds.is_none() && round >= FEWEST_ROUNDS && watch.elapsed() > TIME_LIMIT {
            break;
        }
        samples.push(run_round(&shapes, &mut order));
    }
    progress.finish();
    samples.report(options.seed)
}

/// One sample per shape and arm, in the order of `shapes` and [`Arm::ALL`] whatever order they were taken in.
fn run_round(shapes: &[Shape], order: &mut Random) -> Vec<[Duration; Arm::ALL.len()]> {
    shapes.iter().map(|&shape| run_shape(shape, order)).collect()
}

fn run_shape(shape: Shape, order: &mut Random) -> [Duration; Arm::ALL.len()] {
    let mut arms: [usize; Arm::ALL.len()] = std::array::from_fn(|arm| arm);
    order.shuffle(&mut arms);
    let mut samples = [Duration::ZERO; Arm::ALL.len()];
    for arm in arms {
        samples[arm] = Arm::ALL[arm].sample(shape);
    }
    samples
}

/// Nanoseconds by shape, arm and round.
struct Samples(Vec<(Shape, [Vec<u64>; Arm::ALL.len()])>);

impl Samples {
    fn none(shapes: &[Shape]) -> Self {
        Samples(shapes.iter().map(|&shape| (shape, Default::default())).collect())
    }

    fn push(&mut self, round: Vec<[Duration; Arm::ALL.len()]>) {
        for ((_, columns), samples) in self.0.iter_mut().zip(round) {
            for (column, sample) in columns.iter_mut().zip(samples) {
                column.push(sample.as_nanos() as u64);
            }
        }
    }

    fn report(self, seed: u64) -> OverheadReport {
        let mut resampling = Random::new(seed, Purpose::Resampling, 0);
        let shapes = self.0.into_iter().map(|(shape, columns)| report_shape(shape, columns, &mut resampling));
        OverheadReport { shapes: shapes.collect() }
    }
}

fn report_shape(shape: Shape, columns: [Vec<u64>; Arm::ALL.len()], resampling: &mut Random) -> OverheadShape {
    let baseline = as_floats(&columns[0]);
    let arms = Arm::ALL.into_iter().zip(columns).map(|(arm, samples_ns)| {
        let times = as_floats(&samples_ns);
        let ratios = stats::paired_ratios(&times, &baseline);
        OverheadArm {
            arm: arm.key(),
            title: arm.title(),
            ns_per_poll: stats::median(&times) / shape.polls() as f64,
            ratio: (arm != Arm::LocalSet).then(|| stats::bootstrap_median(&ratios, resampling)),
            samples_ns,
        }
    });
    OverheadShape { tasks: shape.tasks, yields: shape.yields, polls: shape.polls(), arms: arms.collect() }
}

fn as_floats(samples: &[u64]) -> Vec<f64> {
    samples.iter().map(|&sample| sample as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_counted_with_the_last_one() {
        assert_eq!(SHAPES.map(Shape::polls), [300_000, 101_000, 1_001_000, 100_000]);
    }

    #[test]
    fn the_baseline_comes_first() {
        assert_eq!(Arm::ALL[0], Arm::LocalSet);
    }

    #[test]
    fn ratios_pair_the_samples_of_a_round() {
        let shape = Shape::new(10, 9);
        let mut samples = Samples::none(&[shape]);
        for drift in [1, 3, 2] {
            let nanos = [1_000, 1_000, 500, 600, 700, 2_000, 800];
            samples.push(vec![nanos.map(|nanos| Duration::from_nanos(nanos * drift))]);
        }
        let report = samples.report(1);
        let arms = &report.shapes[0].arms;
        assert_eq!(arms[0].ns_per_poll, 20.0);
        assert_eq!(arms[0].ratio, None);
        let ratios: Vec<f64> = arms[1..].iter().map(|arm| arm.ratio.unwrap().median).collect();
        assert_eq!(ratios, [1.0, 0.5, 0.6, 0.7, 2.0, 0.8]);
        assert_eq!(arms[2].samples_ns, [500, 1_500, 1_000]);
    }
}
