//! What follows from the numbers, in plain words: nothing is said here that is not computed from the run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::compare::overhead;
use crate::compare::{background, overhead::Shape};
use crate::numbers;
use crate::report::{Arguments, BackgroundArm, BackgroundReport, OverheadArm, OverheadReport, OverheadShape};
use crate::stats::Estimate;

/// A quantity that the project has set itself a bar for, or that helps to judge one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Conclusion {
    /// What it is.
    pub quantity: String,
    /// How large it is.
    pub value: Estimate,
    /// What the ends of the value's interval are.
    pub interval: Interval,
    /// The bar, where there is one and the run is a measurement.
    pub bar: Option<Bar>,
    /// Whether it is met.
    pub verdict: Option<Verdict>,
}

/// What kind of interval a value comes with.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// 95 % by bootstrap.
    Confidence95,
    /// The smallest and the largest of the repetitions.
    RangeOfRepetitions,
}

/// Where a quantity should be.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// This, or less.
    AtMost(f64),
    /// This, or less, by the value alone.
    MiddleAtMost(f64),
    /// This, or more.
    AtLeast(f64),
    /// From the one to the other.
    Within(f64, f64),
}

/// Whether a quantity is where it should be. The whole interval has a say, not only the value, unless the bar says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of the interval is on the right side.
    Met,
    /// All of it is on the wrong side.
    Missed,
    /// The bar is inside the interval.
    Undecided,
}

impl Bar {
    fn verdict(self, value: &Estimate) -> Verdict {
        let (met, missed) = match self {
            Bar::AtMost(limit) => (value.high <= limit, value.low > limit),
            Bar::MiddleAtMost(limit) => (value.median <= limit, value.median > limit),
            Bar::AtLeast(limit) => (value.low >= limit, value.high < limit),
            Bar::Within(least, most) => {
                (value.low >= least && value.high <= most, value.high < least || value.low > most)
            }
        };
        match (met, missed) {
            (true, _) => Verdict::Met,
            (_, true) => Verdict::Missed,
            _ => Verdict::Undecided,
        }
    }
}

/// The bars of the overhead scenario, for WokenFirst, the default, with one queue, by place in [`overhead::SHAPES`].
const OVERHEAD_BARS: [(usize, Bar); 2] = [(2, Bar::AtMost(0.65)), (0, Bar::AtMost(0.40))];

/// The bars of the background scenario, for clockworker.
const LATENCY_BAR: Bar = Bar::AtMost(1.25);
const ITERATIONS_BAR: Bar = Bar::AtLeast(0.9);

/// Draws the conclusions. If the run was no measurement the quantities are there and the bars are not.
pub fn draw(
    arguments: &Arguments,
    overhead: Option<&OverheadReport>,
    background: Option<&BackgroundReport>,
) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    conclusions.extend(overhead.into_iter().flat_map(overhead_conclusions));
    conclusions.extend(background.into_iter().flat_map(background_conclusions));
    let judged = arguments.note().is_none();
    conclusions.iter_mut().for_each(|conclusion| conclusion.settle(judged));
    conclusions
}

impl Conclusion {
    /// Judges the quantity by its bar, or takes the bar away if the run was no measurement.
    pub fn settle(&mut self, judged: bool) {
        if judged {
            self.judge();
        } else {
            self.bar = None;
        }
    }

    /// Takes back a verdict that could be another one if nothing were different: `again` is what the method makes of the same
    /// quantity where there is no difference (A/A).
    pub fn doubt(&mut self, again: &Estimate) {
        let widened = Estimate {
            median: self.value.median,
            low: self.value.low * again.low.min(1.0),
            high: self.value.high * again.high.max(1.0),
        };
        let open = self.bar.is_some_and(|bar| bar.verdict(&widened) == Verdict::Undecided);
        if open {
            self.verdict = Some(Verdict::Undecided);
        }
    }

    fn judge(&mut self) {
        self.verdict = self.bar.map(|bar| bar.verdict(&self.value));
    }
}

fn overhead_conclusions(report: &OverheadReport) -> Vec<Conclusion> {
    let judged = OVERHEAD_BARS.into_iter().filter_map(|(place, bar)| {
        let shape = report.shapes.get(place)?;
        let arm = arm_of(shape, overhead::Arm::WokenFirstOneQueue)?;
        Some(ratio_to_local_set(shape, arm, Some(bar)))
    });
    let noise = report.shapes.get(OVERHEAD_BARS[0].0).and_then(|shape| {
        let again = arm_of(shape, overhead::Arm::LocalSetAgain)?;
        Some(ratio_to_local_set(shape, again, None))
    });
    judged.chain(noise).collect()
}

fn arm_of(shape: &OverheadShape, arm: overhead::Arm) -> Option<&OverheadArm> {
    shape.arms.iter().find(|found| found.arm == arm.key())
}

fn ratio_to_local_set(shape: &OverheadShape, arm: &OverheadArm, bar: Option<Bar>) -> Conclusion {
    let OverheadShape { tasks, yields, .. } = *shape;
    let shape = Shape { tasks, yields };
    Conclusion {
        quantity: format!("Time per poll at {shape}, {} ÷ LocalSet", arm.title),
        value: arm.ratio.expect("every arm but the baseline has a ratio"),
        interval: Interval::Confidence95,
        bar,
        verdict: None,
    }
}

fn background_conclusions(report: &BackgroundReport) -> Vec<Conclusion> {
    let arm = |arm: background::Arm| report.arms.iter().find(|found| found.arm == arm.key());
    let latency = |arm: &BackgroundArm, bar| {
        let quantity = format!("Foreground p99 total latency, {} ÷ foreground only", arm.title);
        Some(over_repetitions(quantity, arm.total_p99_ratio?, bar))
    };
    let iterations = |arm: &BackgroundArm, bar| {
        let quantity = format!("Background iterations, {} ÷ LocalSet with background", arm.title);
        Some(over_repetitions(quantity, arm.background_ratio?, bar))
    };
    let clockworker = arm(background::Arm::Clockworker);
    let local_set = arm(background::Arm::LocalSet);
    [
        clockworker.and_then(|arm| latency(arm, Some(LATENCY_BAR))),
        clockworker.and_then(|arm| iterations(arm, Some(ITERATIONS_BAR))),
        local_set.and_then(|arm| latency(arm, None)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn over_repetitions(quantity: String, value: Estimate, bar: Option<Bar>) -> Conclusion {
    Conclusion { quantity, value, interval: Interval::RangeOfRepetitions, bar, verdict: None }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.interval {
            Interval::Confidence95 => "95 % interval",
            Interval::RangeOfRepetitions => "range of repetitions",
        };
        let (value, interval) = (numbers::ratio(self.value.median), numbers::interval(&self.value));
        write!(f, "{}: {value} ({kind} {interval})", self.quantity)?;
        if let (Some(bar), Some(verdict)) = (self.bar, self.verdict) {
            write!(f, "; wanted {bar}: {verdict}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::AtMost(limit) | Bar::MiddleAtMost(limit) => write!(f, "≤ {limit:.2}"),
            Bar::AtLeast(limit) => write!(f, "≥ {limit:.2}"),
            Bar::Within(least, most) => write!(f, "{least:.2} to {most:.2}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::Undecided => "undecided",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_has_a_say() {
        let value = Estimate { median: 0.6, low: 0.5, high: 0.7 };
        let verdicts = [0.7, 0.65, 0.4].map(|limit| Bar::AtMost(limit).verdict(&value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Undecided, Verdict::Missed]);
        let verdicts = [0.5, 0.65, 0.8].map(|limit| Bar::AtLeast(limit).verdict(&value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Undecided, Verdict::Missed]);
        let verdicts = [0.6, 0.59].map(|limit| Bar::MiddleAtMost(limit).verdict(&value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Missed]);
        let verdicts = [(0.5, 0.7), (0.6, 0.7), (0.8, 0.9)]
            .map(|(least, most)| Bar::Within(least, most).verdict(&value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Undecided, Verdict::Missed]);
    }

    #[test]
    fn bars_are_at_the_shapes_they_were_set_for() {
        let shapes = OVERHEAD_BARS.map(|(place, _)| overhead::SHAPES[place]);
        assert_eq!(shapes, [Shape { tasks: 1_000, yields: 1_000 }, Shape { tasks: 50_000, yields: 5 }]);
    }

    #[test]
    fn a_conclusion_reads_as_a_sentence() {
        let mut conclusion = Conclusion {
            quantity: "Time".to_owned(),
            value: Estimate { median: 0.44, low: 0.431, high: 0.45 },
            interval: Interval::Confidence95,
            bar: Some(Bar::AtMost(0.65)),
            verdict: None,
        };
        assert_eq!(conclusion.to_string(), "Time: 0.44 (95 % interval 0.43 – 0.45)");
        conclusion.judge();
        assert_eq!(conclusion.to_string(), "Time: 0.44 (95 % interval 0.43 – 0.45); wanted ≤ 0.65: met");
    }
}
