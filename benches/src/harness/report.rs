//! What a run found, as data: one form for all measurements.
//!
//! A *figure* is a number of an arm, by key: it has a sample for each round, a value for all of them, and the ratio to the
//! base's. A *distribution* gives figures too (`latency_ns.p99`), whose value is that of all rounds together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::heading::Heading;
use super::measurement::Measurement;
use crate::numbers::{self, NOTHING, compared, number};
use crate::page::Section;
use crate::stats::spread::WORST;
use crate::stats::{self, Bar, Conclusion, Estimate, Interval};

#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Report<M: Measurement> {
    #[serde(flatten)]
    pub heading: Heading<M::Options>,
    pub cells: Vec<Cell<M::Shape>>,
    pub bars: Vec<Conclusion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell<S> {
    pub title: String,
    #[serde(flatten)]
    pub shape: S,
    pub interval: Interval,
    /// The arms, the base first.
    pub arms: Vec<Arm>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Arm {
    #[serde(rename = "arm")]
    pub key: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    pub figures: BTreeMap<String, Figure>,
    pub distributions: BTreeMap<String, Distribution>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figure {
    /// Of all rounds: the median of the samples, or, in a distribution, what all rounds together have.
    pub value: f64,
    /// The median of the ratios to the base's samples of the same rounds, with its interval.
    pub ratio: Option<Estimate>,
    /// The key of the base, if there is a ratio to it.
    pub base: Option<String>,
    pub samples: Vec<f64>,
}

/// Values of all rounds together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    pub count: u64,
    /// Those of them that count as the worst, because what they measure did not end in time.
    pub missing: u64,
    /// Points: this part of the values is no larger than so much.
    pub curve: Vec<(f64, f64)>,
}

impl<M: Measurement> Report<M> {
    /// A section of its chapter, with what every section has, and all bars: a chapter of several leaves them in one.
    pub fn section(&self, title: impl Into<String>) -> Section {
        Section {
            title: title.into(),
            question: M::QUESTION.to_owned(),
            command: self.heading.command_line.clone(),
            note: self.heading.note.clone(),
            bars: self.bars.clone(),
            ..Section::default()
        }
    }
}

/// The arms of cells, each with its cell, in their order.
pub fn rows<'a, S: 'a>(
    cells: impl IntoIterator<Item = &'a Cell<S>>,
) -> impl Iterator<Item = (&'a Cell<S>, &'a Arm)> {
    cells.into_iter().flat_map(|cell| cell.arms.iter().map(move |arm| (cell, arm)))
}

impl<S> Cell<S> {
    /// A cell whose ratios have intervals of 95 %.
    pub fn new(title: impl Into<String>, shape: S, arms: Vec<Arm>) -> Self {
        Cell { title: title.into(), shape, interval: Interval::Confidence95, arms }
    }

    /// The same, with ratios of so few rounds that their range is all that can be told.
    pub fn with_range(self) -> Self {
        Cell { interval: Interval::RangeOfRepetitions, ..self }
    }

    pub fn arm(&self, key: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.key == key)
    }

    /// The arms but for those that are there a second time.
    pub fn different_arms(&self) -> impl Iterator<Item = &Arm> {
        self.arms.iter().filter(|arm| !arm.key.ends_with(AGAIN))
    }

    pub fn rounds(&self) -> usize {
        self.arms
            .iter()
            .flat_map(|arm| arm.figures.values())
            .map(|figure| figure.samples.len())
            .max()
            .unwrap_or(0)
    }

    /// The median of a figure's rounds, with an interval of the cell's kind, resampled as `seed` says.
    pub fn estimate(&self, arm: &Arm, figure: &str, seed: u64) -> Option<Estimate> {
        let samples = arm.samples(figure);
        match self.interval {
            Interval::Confidence95 => stats::estimated_by_seed(samples, seed),
            Interval::RangeOfRepetitions => (!samples.is_empty()).then(|| stats::median_and_range(samples)),
        }
    }

    /// What the ratio of an arm's figure is beside `bar`, if there is such a ratio. It is undecided where the A/A arm of the
    /// base leaves it open.
    pub fn conclude(&self, arm: &str, figure: &str, named: String, bar: Option<Bar>) -> Option<Conclusion> {
        let Figure { ratio, base, .. } = self.arm(arm)?.figures.get(figure)?;
        let value = (*ratio)?;
        let again = self.arm(&again(base.as_ref()?)).and_then(|again| again.ratio(figure));
        Some(Conclusion::new(named, value, self.interval, bar).doubted(again.as_ref()))
    }
}

/// What the key of an arm that is there a second time ends with.
const AGAIN: &str = "_again";

/// The key of the arm that is another one again (A/A).
pub fn again(key: &str) -> String {
    format!("{key}{AGAIN}")
}

/// Arms of such keys and titles. What is there a second time is the A/A arm of the first.
pub fn arms(named: impl IntoIterator<Item = (String, String)>) -> Vec<Arm> {
    let mut arms: Vec<Arm> = Vec::new();
    for (key, title) in named {
        let (key, title) = match arms.iter().any(|arm| arm.key == key) {
            true => (again(&key), format!("{title} again (A/A)")),
            false => (key, title),
        };
        arms.push(Arm { key, title, ..Arm::default() });
    }
    arms
}

impl Arm {
    pub fn value(&self, figure: &str) -> Option<f64> {
        Some(self.figures.get(figure)?.value)
    }

    pub fn ratio(&self, figure: &str) -> Option<Estimate> {
        self.figures.get(figure)?.ratio
    }

    pub fn samples(&self, figure: &str) -> &[f64] {
        self.figures.get(figure).map_or(&[], |figure| &figure.samples)
    }

    /// A figure in the round in which it was largest; 0 if the arm does not have it.
    pub fn worst(&self, figure: &str) -> f64 {
        self.samples(figure).iter().copied().fold(0.0, f64::max)
    }

    pub fn counts(&self, distribution: &str) -> (u64, u64) {
        self.distributions.get(distribution).map_or((0, 0), |found| (found.count, found.missing))
    }

    /// Points of a distribution: this part of the values is no larger than so much.
    pub fn curve(&self, distribution: &str) -> Vec<(f64, f64)> {
        self.distributions.get(distribution).map_or_else(Vec::new, |found| found.curve.clone())
    }

    /// A figure in `unit`, for a table.
    pub fn shown(&self, figure: &str, unit: f64) -> String {
        match self.value(figure) {
            None => NOTHING.to_owned(),
            Some(nanos) if figure.contains("_ns.") && nanos >= WORST.as_nanos() as f64 => "never".to_owned(),
            Some(value) => number(value / unit),
        }
    }

    pub fn percent(&self, figure: &str) -> String {
        self.value(figure).map_or_else(|| NOTHING.to_owned(), numbers::percent)
    }

    /// A figure to three digits, or to all before the point.
    pub fn digits(&self, figure: &str) -> String {
        self.value(figure).map_or_else(|| NOTHING.to_owned(), numbers::three_digits)
    }

    pub fn compared(&self, figure: &str) -> String {
        compared(self.ratio(figure).as_ref())
    }

    /// The percentiles of a distribution in `unit`, for a table.
    pub fn tail(&self, distribution: &str, unit: f64) -> String {
        ["p50", "p99", "p999"].map(|part| self.shown(&format!("{distribution}.{part}"), unit)).join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Verdict;

    fn cell(again: [f64; 2], own: [f64; 2]) -> Cell<()> {
        let mut arms = arms(["base", "base", "own"].map(|key| (key.to_owned(), key.to_owned())));
        for (arm, [low, high]) in arms[1..].iter_mut().zip([again, own]) {
            let ratio = Some(Estimate { median: f64::midpoint(low, high), low, high });
            arm.figures.insert(
                "time".to_owned(),
                Figure { ratio, base: Some("base".to_owned()), ..Figure::default() },
            );
        }
        Cell::new("cell", (), arms)
    }

    #[test]
    fn an_arm_that_is_there_twice_is_the_base_again() {
        let cell = cell([1.0, 1.0], [1.0, 1.0]);
        let titles: Vec<&str> = cell.arms.iter().map(|arm| arm.title.as_str()).collect();
        assert_eq!(titles, ["base", "base again (A/A)", "own"]);
        assert_eq!(cell.different_arms().count(), 2);
    }

    #[test]
    fn what_no_difference_can_look_like_decides_nothing() {
        let verdict = |again, own| {
            let bar = Some(Bar::AtMost(1.03));
            cell(again, own).conclude("own", "time", String::new(), bar).unwrap().verdict
        };
        assert_eq!(verdict([0.99, 1.01], [1.0, 1.01]), Some(Verdict::Met));
        assert_eq!(verdict([0.97, 1.03], [1.0, 1.01]), Some(Verdict::Undecided));
        assert_eq!(verdict([0.97, 1.03], [2.0, 2.1]), Some(Verdict::Missed));
    }

    #[test]
    fn what_is_not_there_is_shown_as_nothing() {
        let arm = Arm::default();
        assert_eq!([arm.shown("x", 1.0), arm.compared("x"), arm.percent("x")], [NOTHING; 3]);
    }
}
