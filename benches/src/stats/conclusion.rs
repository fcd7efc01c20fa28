//! What follows from the numbers, in plain words: nothing is said here that is not computed from the run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbers;
use crate::stats::Estimate;

/// A quantity that the project has set itself a bar for, or that helps to judge one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Conclusion {
    pub quantity: String,
    pub value: Estimate,
    pub interval: Interval,
    /// The bar, where there is one and the run is a measurement.
    pub bar: Option<Bar>,
    pub verdict: Option<Verdict>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// 95 % by bootstrap.
    Confidence95,
    /// The smallest and the largest of the repetitions.
    RangeOfRepetitions,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    AtMost(f64),
    /// This, or less, by the value alone.
    MiddleAtMost(f64),
    AtLeast(f64),
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

impl Conclusion {
    pub fn new(quantity: String, value: Estimate, interval: Interval, bar: Option<Bar>) -> Self {
        let verdict = bar.map(|bar| bar.verdict(&value));
        Conclusion { quantity, value, interval, bar, verdict }
    }

    /// The same, but undecided if the verdict could be another one without any difference: `again` is what the method makes
    /// of the same quantity where there is none (A/A).
    pub fn doubted(mut self, again: Option<&Estimate>) -> Self {
        let Some(again) = again else { return self };
        let widened = Estimate {
            median: self.value.median,
            low: self.value.low * again.low.min(1.0),
            high: self.value.high * again.high.max(1.0),
        };
        if self.bar.is_some_and(|bar| bar.verdict(&widened) == Verdict::Undecided) {
            self.verdict = Some(Verdict::Undecided);
        }
        self
    }
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
        for [met, undecided, missed] in [
            [0.7, 0.65, 0.4].map(Bar::AtMost),
            [0.5, 0.65, 0.8].map(Bar::AtLeast),
            [(0.5, 0.7), (0.6, 0.7), (0.8, 0.9)].map(|(least, most)| Bar::Within(least, most)),
        ] {
            let verdicts = [met, undecided, missed].map(|bar| bar.verdict(&value));
            assert_eq!(verdicts, [Verdict::Met, Verdict::Undecided, Verdict::Missed]);
        }
        let verdicts = [0.6, 0.59].map(|limit| Bar::MiddleAtMost(limit).verdict(&value));
        assert_eq!(verdicts, [Verdict::Met, Verdict::Missed]);
    }
}
