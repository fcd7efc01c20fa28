//! What is to be met: `p99 <= 2ms`.

use std::fmt;
use std::str::FromStr;

use clockworker_schedulers::simulate::{Figures, Spread, parse_ns};

use crate::numbers::{three_digits, time};

/// A bound on a figure of one queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    /// As it was written.
    text: String,
    /// The queue; `None` for the first.
    pub(crate) queue: Option<String>,
    statistic: Statistic,
    slowdown: bool,
    /// Nanoseconds, or a number.
    bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    Mean,
    Max,
    /// The quantile of this part.
    Quantile(f64),
}

impl Target {
    /// The figure that is bounded: nanoseconds, or a slowdown. Quantiles have three digits, rounded up.
    pub(crate) fn figure(&self, figures: &Figures) -> f64 {
        let spread: &Spread = if self.slowdown { &figures.slowdown } else { &figures.response };
        match self.statistic {
            Statistic::Mean => spread.mean(),
            Statistic::Max => spread.max(),
            Statistic::Quantile(part) => spread.quantile(part),
        }
    }

    /// Whether such a figure is within the bound.
    pub(crate) fn is_met_by(&self, figure: f64) -> bool {
        figure <= self.bound
    }

    /// A figure, for people.
    pub(crate) fn show(&self, figure: f64) -> String {
        if self.slowdown { three_digits(figure) } else { time(figure) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no target: [QUEUE] p99|mean|max [slowdown] <= VALUE");
        let (figure, bound) = text.split_once("<=").ok_or_else(wrong)?;
        let mut words: Vec<&str> = figure.split_whitespace().collect();
        let slowdown = words.last() == Some(&"slowdown");
        if slowdown {
            words.pop();
        }
        let (queue, statistic) = match words[..] {
            [statistic] => (None, statistic),
            [queue, statistic] => (Some(queue.to_owned()), statistic),
            _ => return Err(wrong()),
        };
        let statistic = Statistic::read(statistic).ok_or_else(wrong)?;
        let bound = if slowdown {
            bound.trim().parse().ok().filter(|bound: &f64| bound.is_finite()).ok_or_else(wrong)?
        } else {
            parse_ns(bound.trim()).map_err(|error| error.to_string())?
        };
        Ok(Self { text: text.trim().to_owned(), queue, statistic, slowdown, bound })
    }
}

impl Statistic {
    fn read(text: &str) -> Option<Self> {
        match text {
            "mean" => Some(Self::Mean),
            "max" => Some(Self::Max),
            _ => {
                let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
                (percent > 0.0 && percent < 100.0).then_some(Self::Quantile(percent / 100.0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clockworker_schedulers::simulate::{Classes, Done, Job, Outcome};

    use super::*;

    fn figures() -> Figures {
        let mut outcome = Outcome::new(Classes::at([]));
        for us in 1..=100 {
            let job = Job { at_ns: 0, queue: 0, service_ns: 500, group: None, polls: None };
            outcome.add(Done { job, finished_ns: us * 1_000 });
        }
        outcome.all()
    }

    #[test]
    fn figures_are_found_and_judged() {
        let figures = figures();
        for (text, figure, met) in [
            ("p99 <= 99.1us", 99_000.0, true),
            ("p50 <= 49us", 50_000.0, false),
            ("mean <= 50.5us", 50_500.0, true),
            ("max slowdown <= 199", 200.0, false),
            ("front p50 slowdown <= 100.5", 100.0, true),
        ] {
            let target: Target = text.parse().unwrap();
            let found = target.figure(&figures);
            assert!((found / figure - 1.0).abs() < 1e-3, "{found} for {text}");
            assert_eq!(target.is_met_by(found), met, "{text}");
            assert_eq!(target.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in
            ["", "p99", "p99 < 2ms", "p0 <= 1ms", "p100 <= 1ms", "p99 <= 2", "a b p99 <= 2ms", "<= 2ms"]
        {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
        let target: Target = "front p99 <= 2ms".parse().unwrap();
        assert_eq!(target.queue.as_deref(), Some("front"));
    }
}
