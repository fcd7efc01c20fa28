//! [`Values`]: what was recorded into a series in a period.

use serde::Serialize;

use crate::entry::Entry;

/// What was recorded into a [`Series`](crate::Series) in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Values {
    /// How many values.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴.
    pub sum: u64,
    /// The least of them; 0 if there is none.
    pub min: u64,
    /// The greatest of them; 0 if there is none.
    pub max: u64,
}

impl Values {
    /// The mean. None if there are no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Adds what came later.
    pub fn add(&mut self, later: &Values) {
        if later.count == 0 {
            return;
        }
        self.min = if self.count == 0 { later.min } else { self.min.min(later.min) };
        self.max = self.max.max(later.max);
        self.count = self.count.saturating_add(later.count);
        self.sum = self.sum.wrapping_add(later.sum);
    }
}

/// All values of a series, since it was made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) sum: u64,
}

/// What is live of a series.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Live {
    pub(crate) totals: Totals,
    /// The least and the greatest value that came since the last call of the recorder.
    pub(crate) extremes: Option<(u64, u64)>,
}

impl Live {
    /// Of the words: the totals, the greatest value, and the inverse of the least. Both of these are 0 if no value came: of any value
    /// either it or its inverse is more. Where one was reset while another thread raised the other, the other stands for both.
    pub(crate) fn of([count, sum, greatest, inverse_least]: [u64; 4]) -> Self {
        let extremes = match !inverse_least {
            least if least <= greatest => Some((least, greatest)),
            _ if greatest > 0 => Some((greatest, greatest)),
            least => (inverse_least > 0).then_some((least, least)),
        };
        Self { totals: Totals { count, sum }, extremes }
    }

    /// What came after `filed`.
    pub(crate) fn since(&self, filed: Totals) -> Values {
        let count = self.totals.count.saturating_sub(filed.count);
        if count == 0 {
            return Values::default();
        }
        let sum = self.totals.sum.wrapping_sub(filed.sum);
        let (min, max) = self.extremes.unwrap_or((sum / count, sum / count));
        Values { count, sum, min, max }
    }
}

/// What a record says of a period of a series: its values, and all up to then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filed {
    pub(crate) values: Values,
    pub(crate) totals: Totals,
}

impl Entry for Filed {
    const WORDS: usize = 6;
    type Words = [u64; Self::WORDS];

    fn add_later(&mut self, later: &Self) {
        self.values.add(&later.values);
        self.totals = later.totals;
    }

    fn words(&self) -> Self::Words {
        let Values { count, sum, min, max } = self.values;
        [count, sum, min, max, self.totals.count, self.totals.sum]
    }

    fn from_words(words: &[u64]) -> Option<Self> {
        let &[count, sum, min, max, all, total] = words else { return None };
        Some(Self { values: Values { count, sum, min, max }, totals: Totals { count: all, sum: total } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extreme_that_was_reset_alone_is_the_other() {
        let of = |greatest, least: u64| Live::of([1, 5, greatest, !least]).extremes;
        assert_eq!((of(7, 3), of(3, 3), of(0, 0)), (Some((3, 7)), Some((3, 3)), Some((0, 0))));
        // No value at all, the least alone, the greatest alone.
        assert_eq!((of(0, u64::MAX), of(0, 3), of(7, u64::MAX)), (None, Some((3, 3)), Some((7, 7))));
    }
}
