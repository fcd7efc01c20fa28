//! [`Sample`]: what measuring an arm once has found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Numbers and distributions, by key. What an arm does not have is left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// An amount, and per how much.
    rates: BTreeMap<String, (f64, f64)>,
    distributions: BTreeMap<String, Distribution>,
}

impl Sample {
    /// Adds a number, unless there is none: NaN or infinite.
    pub fn number(self, key: &str, number: f64) -> Self {
        self.rate(key, number, 1.0)
    }

    /// Adds an amount per something, as events per second. Samples of a round are put together by adding up both.
    pub fn rate(mut self, key: &str, amount: f64, per: f64) -> Self {
        if (amount / per).is_finite() {
            self.rates.insert(key.to_owned(), (amount, per));
        }
        self
    }

    /// Adds a distribution. One of `latency` has the figures `latency.p99`, `latency.mean` and so on.
    pub fn distribution(mut self, key: &str, values: Distribution) -> Self {
        self.distributions.insert(key.to_owned(), values);
        self
    }

    /// Puts another sample of the arm beside this one.
    pub fn merge(&mut self, other: Sample) {
        for (key, (amount, per)) in other.rates {
            let (amounts, pers) = self.rates.entry(key).or_default();
            *amounts += amount;
            *pers += per;
        }
        for (key, values) in other.distributions {
            self.distributions.entry(key).and_modify(|there| there.merge(&values)).or_insert(values);
        }
    }

    /// All figures, by key.
    pub fn figures(&self) -> BTreeMap<String, f64> {
        let rates = self.rates.iter().map(|(key, (amount, per))| (key.clone(), amount / per));
        rates.chain(self.statistics()).collect()
    }

    /// The figures of the distributions.
    pub fn statistics(&self) -> impl Iterator<Item = (String, f64)> {
        self.distributions.iter().flat_map(|(key, values)| {
            values.statistics().into_iter().map(move |(name, value)| (format!("{key}.{name}"), value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_round_are_one() {
        let sample = |amount, per, nanos| {
            let waits = Distribution::of_nanos([Some(nanos)]);
            Sample::default().rate("rate", amount, per).distribution("wait", waits)
        };
        let mut both = sample(10.0, 1.0, 3);
        both.merge(sample(30.0, 3.0, 5));
        let figures = both.figures();
        assert_eq!((figures["rate"], figures["wait.mean"], figures["wait.max"]), (10.0, 4.0, 5.0));
    }

    #[test]
    fn a_sample_from_another_process_is_the_same() {
        let waits = Distribution::of_nanos([Some(70), Some(1_000_000), None]);
        let sample = Sample::default().rate("rate", 1.0, 3.0).number("none", f64::NAN);
        let sample = sample.distribution("wait", waits);
        let sent: Sample = serde_json::from_str(&serde_json::to_string(&sample).unwrap()).unwrap();
        assert_eq!(sent.figures(), sample.figures());
        assert!(!sent.figures().contains_key("none"));
        assert_eq!(sent.distributions["wait"].missing(), 1);
    }
}
