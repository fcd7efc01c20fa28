//! A sample: what one arm did in one round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::spread::Values;

/// What one arm did in one round, in one window or in several.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Amounts, and what they are counted per: over all windows.
    #[serde(with = "in_bits")]
    rates: BTreeMap<String, (f64, f64)>,
    values: BTreeMap<String, Values>,
}

impl Sample {
    /// The same with a figure: `amount` over `per`. Of several windows, it is the sum of the one over the sum of the other.
    pub fn with_rate(mut self, key: impl Into<String>, amount: f64, per: f64) -> Self {
        self.rates.insert(key.into(), (amount, per));
        self
    }

    /// The same with a figure; of several windows, it is the mean. NaN is left out of the report.
    pub fn with_number(self, key: impl Into<String>, number: f64) -> Self {
        self.with_rate(key, number, 1.0)
    }

    /// The same with a distribution. `latency_ns` has the figures `latency_ns.p50`, `latency_ns.mean` and so on.
    pub fn with_values(mut self, key: impl Into<String>, values: Values) -> Self {
        self.values.insert(key.into(), values);
        self
    }

    /// Puts another window of the same round beside this one.
    pub fn merge(&mut self, other: Sample) {
        for (key, (amount, per)) in other.rates {
            let (amounts, pers) = self.rates.entry(key).or_default();
            *amounts += amount;
            *pers += per;
        }
        for (key, values) in other.values {
            self.values.entry(key).and_modify(|there| there.merge(&values)).or_insert(values);
        }
    }

    pub fn figures(&self) -> impl Iterator<Item = (String, f64)> {
        let rates = self.rates.iter().map(|(key, (amount, per))| (key.clone(), amount / per));
        rates.chain(self.values.iter().flat_map(|(key, values)| figures_of(key, values)))
    }

    pub fn into_values(self) -> BTreeMap<String, Values> {
        self.values
    }
}

pub fn figures_of(key: &str, values: &Values) -> impl Iterator<Item = (String, f64)> {
    values.statistics().into_iter().map(move |(statistic, value)| (format!("{key}.{statistic}"), value))
}

/// From one process to another, numbers go as their bits: JSON has no NaN.
mod in_bits {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        rates: &BTreeMap<String, (f64, f64)>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_map(rates.iter().map(|(key, (amount, per))| (key, (amount.to_bits(), per.to_bits()))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<String, (f64, f64)>, D::Error> {
        let bits = BTreeMap::<String, (u64, u64)>::deserialize(from)?;
        let number = |(key, (amount, per))| (key, (f64::from_bits(amount), f64::from_bits(per)));
        Ok(bits.into_iter().map(number).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_round_are_one_sample() {
        let window = |amount, per, value| {
            let mut values = Values::default();
            values.add(value);
            Sample::default().with_rate("rate", amount, per).with_values("wait", values)
        };
        let mut sample = Sample::default();
        sample.merge(window(10.0, 1.0, 3.0));
        sample.merge(window(30.0, 3.0, 5.0));
        let figures: BTreeMap<String, f64> = sample.figures().collect();
        assert_eq!((figures["rate"], figures["wait.mean"], figures["wait.max"]), (10.0, 4.0, 5.0));
    }

    #[test]
    fn a_sample_from_another_process_is_the_same() {
        let mut values = Values::to_the(0.25);
        [Some(70), Some(1_000_000), None].into_iter().for_each(|nanos| values.add_nanos(nanos));
        let sample = Sample::default().with_rate("rate", 1.0, 3.0).with_number("none", f64::NAN);
        let sample = sample.with_values("wait", values);
        let sent: Sample = serde_json::from_str(&serde_json::to_string(&sample).unwrap()).unwrap();
        let shown = |sample: &Sample| format!("{:?}", sample.figures().collect::<Vec<_>>());
        assert_eq!(shown(&sent), shown(&sample));
        assert_eq!(sent.values["wait"].missing(), 1);
    }
}
