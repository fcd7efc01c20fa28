//! A foreground, a background and the arms that serve them, as an experiment, and what reports say of it.

use std::time::Duration;

use super::lanes::Background;
use super::trial::{Outcome, Place, Timing, Trial};
use crate::failure::Failure;
use crate::harness::{Cell, Common, Experiment, Pinning, Rounds, Sample, Side, Window, arms, report};
use crate::numbers::{grouped, micros};
use crate::page::{Plot, distribution, time_by_percentile, turned};
use crate::stats::spread::TOLERABLE_LATENESS_NS;
use crate::stats::spread::Values;
use crate::workload::arrivals::Pattern;

pub(crate) struct Arm {
    pub(crate) key: String,
    pub(crate) title: String,
    pub(crate) place: Place,
}

impl Arm {
    pub(crate) fn new(key: impl Into<String>, title: impl Into<String>, place: Place) -> Self {
        Arm { key: key.into(), title: title.into(), place }
    }
}

/// What is measured together. In a round every arm gets the same schedule, in the next another.
pub(crate) struct Scene<S> {
    pub(crate) cell: Cell<S>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) foreground: Pattern,
    pub(crate) background: Background,
    pub(crate) timing: Timing,
    pub(crate) figures: &'static [&'static str],
    pub(crate) rounds: u32,
    pub(crate) wanted: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) part: u64,
    pub(crate) pinning: Pinning,
}

impl<S: Clone> Experiment<S> for Scene<S> {
    fn cells(&self) -> Vec<Cell<S>> {
        let arms = arms(self.arms.iter().map(|arm| (arm.key.clone(), arm.title.clone())));
        vec![Cell { arms, ..self.cell.clone() }]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let Arm { title, place, .. } = &self.arms[window.arm];
        let part = self.part << 32 | window.round;
        let schedule = self.foreground.draw(self.seed, part, self.timing.whole()).into();
        let (background, timing, pinning) = (self.background, self.timing, &self.pinning);
        let outcome = Trial { schedule, background, timing, pinning }.run(*place, title)?;
        let has = |key| !matches!(place, Place::ForegroundOnly) || !is_of_background(key);
        let figures = self.figures.iter().filter(|key| has(key));
        Ok(figures.fold(outcome.waits(), |sample, key| sample.with_number(*key, outcome.figure(key))))
    }

    fn rounds(&self) -> Rounds {
        // What warms up are the first arrivals of each sample.
        Rounds { usual: self.rounds, limit: None, warms_up: false }
    }

    fn wanted(&self, _common: &Common) -> Option<u32> {
        self.wanted
    }

    fn side(&self) -> Side {
        Side::Load
    }

    fn base<'a>(&self, cell: &'a Cell<S>, figure: &str) -> Option<&'a str> {
        let is_base = |arm: &Arm| match arm.place {
            Place::ForegroundOnly => !is_of_background(figure),
            Place::LocalSet => is_of_background(figure),
            _ => false,
        };
        let base = self.arms.iter().position(is_base)?;
        Some(&cell.arms[base].key)
    }

    fn round_takes(&self) -> Option<Duration> {
        Some(self.timing.whole() * self.arms.len() as u32)
    }
}

pub(crate) const QUEUEING_DELAY: &str = "queueing_delay_ns";
/// Intended arrival until the end of the last segment.
pub(crate) const TOTAL_LATENCY: &str = "total_latency_ns";
pub(crate) const P99: &str = "total_latency_ns.p99";
const LATENESS: &str = "lateness_ns";
pub(crate) const BACKGROUND_RATE: &str = "background_rate";
/// CPU time of the background, as a part of one core's.
pub(crate) const BACKGROUND_CPU: &str = "background_cpu";
pub(crate) const FOREGROUND_CPU: &str = "foreground_cpu";
/// Of background and foreground: how near the core is to saturation, its schedulers' own time left out.
pub(crate) const CPU_USED: &str = "cpu_used";
pub(crate) const OFFERED_LOAD: &str = "offered_load";

/// Whether a figure tells what the background got: it is compared with LocalSet's, and the foreground alone has none.
fn is_of_background(figure: &str) -> bool {
    [BACKGROUND_RATE, BACKGROUND_CPU].contains(&figure)
}

impl Outcome {
    fn figure(&self, key: &str) -> f64 {
        match key {
            BACKGROUND_RATE => self.background_rate,
            BACKGROUND_CPU => self.background_cpu,
            FOREGROUND_CPU => self.foreground_cpu,
            CPU_USED => self.foreground_cpu + self.background_cpu,
            OFFERED_LOAD => self.offered_load,
            _ => f64::NAN,
        }
    }

    fn waits(&self) -> Sample {
        let values = |nanos: &[Option<u64>]| Values::of_nanos(nanos.iter().copied());
        Sample::default()
            .with_values(QUEUEING_DELAY, values(&self.queueing_delays))
            .with_values(TOTAL_LATENCY, values(&self.total_latencies))
            .with_values(LATENESS, Values::of_nanos(self.lateness.iter().copied().map(Some)))
    }
}

/// The total latencies of a cell's arms as lines, under titles that begin like that.
pub(crate) fn curves<S>(title: &str, cell: &Cell<S>) -> [Option<Plot>; 2] {
    let curves = || cell.different_arms().map(|arm| (arm.title.clone(), arm.curve(TOTAL_LATENCY)));
    let what = "total latency";
    [
        Plot::lines(format!("{title} by percentile"), time_by_percentile(what), curves()),
        Plot::lines(format!("{title} distribution"), distribution(what), curves().map(turned)),
    ]
}

pub(crate) fn ended(arm: &report::Arm) -> String {
    let (offered, unfinished) = arm.counts(TOTAL_LATENCY);
    format!("{} / {}", grouped(offered - unfinished), grouped(offered))
}

/// What to say of an arm of that name if arrivals were sent late in any round.
pub(crate) fn lateness(name: &str, arm: &report::Arm) -> Option<String> {
    let late = arm.worst(&format!("{LATENESS}.p99")) as u64;
    let doubt = || {
        format!("{name}: arrivals were sent up to {} µs late (p99): the machine was not quiet", micros(late))
    };
    (late > TOLERABLE_LATENESS_NS).then(doubt)
}
