//! Foreground latency beside background work, on one thread and on two.
//!
//! What arrives, who serves it and what is measured are told in [`beside`](crate::beside). Here eight background tasks
//! loop, 100 µs CPU and 100 µs sleep. In one repetition every arm gets the same schedule, in the next another.
//!
//! Arrivals in the first half second of a repetition are served and not counted. Percentiles are those of all repetitions
//! together. Ratios are taken within a repetition; their median is reported with the smallest and the largest.
//!
//! tokio's timers have a resolution of one millisecond: a sleep of 100 µs takes one to two. That holds for
//! every arm.

use std::time::Duration;

use super::Scene;
use super::options::Options;
use crate::arms::QueueSetup;
use crate::beside::foreground::DRAIN_LIMIT;
use crate::beside::loops::{self, Rest};
use crate::beside::trial::{Outcome, Place, Timing, Trial};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::options::Common;
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report::{Cell, arms};
use crate::harness::sample::Sample;
use crate::workload::arrivals::Pattern;

/// The share of clockworker's background queue.
pub const BACKGROUND_SHARE: u32 = 2;

/// Background iterations per second.
pub const BACKGROUND_RATE: &str = "background_rate";

/// CPU time of the tasks that ended and of the background, as a part of one core's: how near the core is to saturation,
/// its schedulers' own time left out.
pub const CPU_USED: &str = "cpu_used";

/// The foreground's CPU time as a part of one core's.
pub const OFFERED_LOAD: &str = "offered_load";

const BACKGROUND: loops::Background = loops::Background {
    tasks: 8,
    poll: Duration::from_micros(100),
    rest: Rest::Sleep(Duration::from_micros(100)),
};

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
    const ALL: [Arm; 4] = [Arm::ForegroundOnly, Arm::LocalSet, Arm::Clockworker, Arm::TwoRuntimes];

    /// The name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Arm::ForegroundOnly => "LocalSet, foreground only",
            Arm::LocalSet => "LocalSet with background",
            Arm::Clockworker => "Clockworker, two queues",
            Arm::TwoRuntimes => "two runtimes, one core",
        }
    }

    /// The name in the file of results.
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
}

/// The two queues of clockworker's arm.
///
/// The background asks for one of its loops at a time, so that when its turn comes among foreground work, that waits for
/// one poll and not for a few.
fn queues(foreground_share: u32) -> [QueueSetup; 2] {
    [
        QueueSetup { name: "foreground", share: foreground_share, request: clockworker::DEFAULT_REQUEST },
        QueueSetup { name: "background", share: BACKGROUND_SHARE, request: BACKGROUND.poll },
    ]
}

/// The foreground and the background, and how long they go on in a repetition.
#[derive(Debug)]
pub struct Background {
    timing: Timing,
    options: Options,
    pinning: Pinning,
}

impl Background {
    /// As it is asked for.
    pub fn new(options: &Options, pinning: &Pinning) -> Self {
        let timing = if options.common.quick { QUICK_TIMING } else { TIMING };
        Background { timing, options: options.clone(), pinning: pinning.clone() }
    }
}

impl Experiment<Scene> for Background {
    fn cells(&self) -> Vec<Cell<Scene>> {
        let scene = Scene::Background {
            warm_up_s: self.timing.warm_up.as_secs_f64(),
            counted_s: self.timing.counted.as_secs_f64(),
            drain_limit_s: DRAIN_LIMIT.as_secs_f64(),
        };
        let arms = arms(Arm::ALL.map(|arm| (arm.key().to_owned(), arm.title().to_owned())));
        vec![Cell::new("Foreground beside background", scene, arms).with_range()]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let arm = Arm::ALL[window.arm];
        let (seed, timing) = (self.options.common.seed, self.timing);
        let schedule = Pattern::USUAL.draw(seed, window.round, timing.whole()).into();
        let trial = Trial { schedule, background: BACKGROUND, timing, pinning: &self.pinning };
        let outcome = trial.run(arm.place(self.options.foreground_share), arm.title())?;
        let sample = sample_of(&outcome, arm != Arm::ForegroundOnly);
        Ok(sample.with_number(OFFERED_LOAD, trial.offered_load()))
    }

    fn rounds(&self) -> Rounds {
        // What warms up are the first arrivals of each sample.
        Rounds { usual: 3, limit: None, warms_up: false }
    }

    fn wanted(&self, _common: &Common) -> Option<u32> {
        self.options.repetitions
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn base<'a>(&self, _cell: &'a Cell<Scene>, figure: &str) -> Option<&'a str> {
        let base = if figure == BACKGROUND_RATE { Arm::LocalSet } else { Arm::ForegroundOnly };
        Some(base.key())
    }
}

fn sample_of(outcome: &Outcome, has_background: bool) -> Sample {
    let cpu = outcome.foreground_cpu + outcome.background_rate * BACKGROUND.poll.as_secs_f64();
    let sample = outcome.waits().with_number(CPU_USED, cpu);
    if has_background { sample.with_number(BACKGROUND_RATE, outcome.background_rate) } else { sample }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_used_is_that_of_both_sides() {
        let outcome = Outcome {
            queueing_delays: vec![Some(5)],
            total_latencies: vec![None],
            lateness: vec![3],
            background_rate: 4_000.0,
            foreground_cpu: 0.5,
        };
        let cpu = sample_of(&outcome, true).figures().find(|(key, _)| key == CPU_USED);
        assert_eq!(cpu.map(|(_, cpu)| cpu), Some(0.5 + 0.4));
    }
}
