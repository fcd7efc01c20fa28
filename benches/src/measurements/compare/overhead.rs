//! What a poll costs: tasks that do nothing but yield, beside tokio's LocalSet.
//!
//! A *sample* is one shape run once by one arm on a fresh executor in a fresh host. Timed is from before the
//! first spawn until the last handle has been awaited, all inside `host.block_on(executor.run_until(..))`.
//! Making the host, the executor and the vector of handles is before that, dropping host and executor after
//! it; tasks themselves are freed inside, as they finish, in every arm.

use std::time::Duration;

use super::Scene;
use crate::arms::bracketed::bracketed;
use crate::arms::{Baseline, Contender, OneQueue, TwoQueues};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::Side;
use crate::harness::report::{Cell, arms};
use crate::harness::sample::Sample;
use crate::stopwatch::{Stopwatch, nanos};
use crate::workload::shape::Shape;

/// The whole program is to end within two minutes also on a slow machine.
const TIME_LIMIT: Duration = Duration::from_secs(35);

/// The time of a sample, for each poll.
pub const NS_PER_POLL: &str = "ns_per_poll";

/// The shapes measured.
pub const SHAPES: [Shape; 4] =
    [Shape::new(50_000, 5), Shape::new(1_000, 100), Shape::new(1_000, 1_000), Shape::new(100_000, 0)];

/// The same, smaller, for a quick run.
const QUICK_SHAPES: [Shape; 4] =
    [Shape::new(1_000, 5), Shape::new(100, 20), Shape::new(100, 100), Shape::new(2_000, 0)];

/// An executor, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// tokio's LocalSet: the baseline.
    LocalSet,
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
    pub const ALL: [Arm; 6] =
        [Arm::LocalSet, Arm::WokenFirstOneQueue, Arm::WokenFirstTwoQueues, Arm::Qlas, Arm::Las, Arm::Serpt];

    fn title(self) -> &'static str {
        match self {
            Arm::LocalSet => "LocalSet",
            Arm::WokenFirstOneQueue => "WokenFirst, one queue",
            Arm::WokenFirstTwoQueues => "WokenFirst, two queues",
            Arm::Qlas => "QLAS",
            Arm::Las => "LAS",
            Arm::Serpt => "SERPT",
        }
    }

    /// The name in the file of results.
    pub fn key(self) -> &'static str {
        match self {
            Arm::LocalSet => "local_set",
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
            Arm::LocalSet => time(&Baseline::default(), shape),
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

/// Every shape by every arm.
#[derive(Debug)]
pub struct Overhead {
    shapes: [Shape; 4],
    arms: Vec<Arm>,
}

impl Overhead {
    /// At the usual shapes, or at small ones.
    pub fn new(quick: bool) -> Self {
        let arms = [Arm::LocalSet].into_iter().chain(Arm::ALL).collect();
        Overhead { shapes: if quick { QUICK_SHAPES } else { SHAPES }, arms }
    }
}

impl Experiment<Scene> for Overhead {
    fn cells(&self) -> Vec<Cell<Scene>> {
        let arms = arms(self.arms.iter().map(|arm| (arm.key().to_owned(), arm.title().to_owned())));
        let cell = |shape: Shape| {
            let Shape { tasks, yields } = shape;
            let scene = Scene::Overhead { tasks, yields, polls: shape.polls() };
            Cell::new(shape.to_string(), scene, arms.clone())
        };
        self.shapes.map(cell).to_vec()
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let shape = self.shapes[window.cell];
        let time = nanos(self.arms[window.arm].sample(shape));
        Ok(Sample::default().with_rate(NS_PER_POLL, time, shape.polls() as f64))
    }

    fn rounds(&self) -> Rounds {
        Rounds { usual: 40, limit: Some(TIME_LIMIT), warms_up: true }
    }

    fn side(&self) -> Side {
        Side::Measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_counted_with_the_last_one() {
        assert_eq!(SHAPES.map(Shape::polls), [300_000, 101_000, 1_001_000, 100_000]);
    }
}
