//! What is measured together: a foreground, a background, and the arms that serve them.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::options::Options;
use crate::beside::loops::{Background, Rest};
use crate::beside::trial::{Timing, Trial};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::{Pinning, Side};
use crate::harness::report::{Cell, arms};
use crate::harness::sample::Sample;
use crate::workload::arrivals::Pattern;

/// A part of the command, which can be run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Shares 99:1, 9:1 and 1:1 beside a background that always has work
    Shares,
    /// A light foreground with a share of a tenth, whose small request has it served soon
    Request,
    /// Shares 99:1, 9:1 and 1:1 beside the background of `compare`, which sleeps after each poll
    Sleeping,
}

impl Section {
    /// Every section, in the order in which they run.
    pub const ALL: [Section; 3] = [Section::Shares, Section::Request, Section::Sleeping];
}

/// What tells a scene from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// The section it belongs to.
    pub section: Section,
    /// How long the background's polls are.
    pub background_poll_us: u64,
    /// Seconds of arrivals that were served and not counted, in each round.
    pub warm_up_s: f64,
    /// Seconds of arrivals that were counted, in each round.
    pub counted_s: f64,
}

/// CPU time of the background, as a part of one core's.
pub const BACKGROUND_CPU: &str = "background_cpu";

/// CPU time of foreground tasks that ended, as a part of one core's.
const FOREGROUND_CPU: &str = "foreground_cpu";

/// Background tasks.
const TASKS: usize = 8;

/// How long they sleep where they do.
const NAP: Duration = Duration::from_micros(100);

/// One short task each two milliseconds: a fortieth of a core, where its share is a tenth.
const LIGHT: Pattern = Pattern {
    mean_gap: Duration::from_millis(2),
    segments: (1, 1),
    shortest: Duration::from_micros(20),
    longest: Duration::from_micros(80),
};

/// The request of a queue that is to be served soon.
const SMALL_REQUEST: Duration = Duration::from_micros(50);

/// What is measured together.
#[derive(Clone, Debug)]
pub struct Scene {
    section: Section,
    foreground: Pattern,
    background: Background,
    arms: Vec<Arm>,
    timing: Timing,
    seed: u64,
    part: u64,
    pinning: Pinning,
}

impl Scene {
    /// The scene of a section beside a background of such polls. `part` tells it apart from the other scenes of the run.
    pub fn new(section: Section, poll: Duration, part: u64, options: &Options, pinning: &Pinning) -> Self {
        let shares = |foreground, background| Arm::Shares { foreground, background };
        let usual = [shares(99, 1), shares(9, 1), shares(1, 1)];
        let request = |foreground| Arm::Requests { foreground };
        let by_request = [shares(99, 1), request(clockworker::DEFAULT_REQUEST), request(SMALL_REQUEST)];
        let (foreground, rest, own) = match section {
            Section::Shares => (Pattern::USUAL, Rest::Yield, usual),
            Section::Sleeping => (Pattern::USUAL, Rest::Sleep(NAP), usual),
            Section::Request => (LIGHT, Rest::Yield, by_request),
        };
        let bases = [Arm::ForegroundOnly, Arm::ForegroundOnly, Arm::LocalSet, Arm::LocalSet];
        Scene {
            section,
            foreground,
            background: Background { tasks: TASKS, poll, rest },
            arms: bases.into_iter().chain(own).collect(),
            timing: options.timing(),
            seed: options.common.seed,
            part,
            pinning: pinning.clone(),
        }
    }

    fn title(&self) -> String {
        let poll = self.background.poll.as_micros();
        match self.section {
            Section::Shares => format!("Beside polls of {poll} µs that never end"),
            Section::Sleeping => format!("Beside polls of {poll} µs and sleeps of {} µs", NAP.as_micros()),
            Section::Request => {
                format!("Short tasks at a share of a tenth, beside polls of {poll} µs that never end")
            }
        }
    }
}

impl Experiment<Shape> for Scene {
    fn cells(&self) -> Vec<Cell<Shape>> {
        let shape = Shape {
            section: self.section,
            background_poll_us: self.background.poll.as_micros() as u64,
            warm_up_s: self.timing.warm_up.as_secs_f64(),
            counted_s: self.timing.counted.as_secs_f64(),
        };
        let arms = arms(self.arms.iter().map(|arm| (arm.key(), arm.title())));
        vec![Cell::new(self.title(), shape, arms)]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let (arm, poll) = (self.arms[window.arm], self.background.poll);
        let schedule =
            self.foreground.draw(self.seed, self.part << 32 | window.round, self.timing.whole()).into();
        let trial =
            Trial { schedule, background: self.background, timing: self.timing, pinning: &self.pinning };
        let outcome = trial.run(arm.place(poll), &arm.title())?;
        let sample = outcome.waits().with_number(FOREGROUND_CPU, outcome.foreground_cpu);
        Ok(match arm {
            Arm::ForegroundOnly => sample,
            _ => sample.with_number(BACKGROUND_CPU, outcome.background_rate * poll.as_secs_f64()),
        })
    }

    fn rounds(&self) -> Rounds {
        // What warms up are the first arrivals of each sample.
        Rounds { usual: 10, limit: None, warms_up: false }
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn base<'a>(&self, cell: &'a Cell<Shape>, figure: &str) -> Option<&'a str> {
        let base = if figure == BACKGROUND_CPU { Arm::LocalSet } else { Arm::ForegroundOnly };
        Some(cell.arm(&base.key())?.key.as_str())
    }

    fn round_takes(&self) -> Option<Duration> {
        Some(self.timing.whole() * self.arms.len() as u32)
    }
}
