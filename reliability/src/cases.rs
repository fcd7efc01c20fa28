//! Random cases, each made of its own seed, and the worst of them.

use std::ops::Range;

use clap::Args;
use fastrand::Rng;

/// How many cases, and from which seed on.
#[derive(Clone, Debug, Args)]
pub struct Cases {
    /// How many random cases; as many as RELIABILITY.md says unless told otherwise.
    #[arg(long, value_name = "N")]
    pub cases: Option<u64>,
    /// Few cases: at most some seconds.
    #[arg(long, conflicts_with = "cases")]
    pub quick: bool,
    /// The seed of the first case; the next has the next. With `--cases 1` it repeats a case.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Cases {
    /// The quick form, from the first seed.
    pub fn quick() -> Self {
        Cases { cases: None, quick: true, seed: 1 }
    }

    /// The seeds of all cases, where the two forms have so many.
    pub fn seeds(&self, long: u64, quick: u64) -> Range<u64> {
        let count = self.cases.unwrap_or(if self.quick { quick } else { long });
        self.seed..self.seed.saturating_add(count)
    }
}

/// The greatest of many numbers, and the seed that it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// The number; 0 if there was none.
    pub value: f64,
    /// Whose it was.
    pub seed: u64,
}

impl Worst {
    /// Takes a number in. What is not a number is worse than any.
    pub fn add(&mut self, value: f64, seed: u64) {
        if value > self.value || (value.is_nan() && !self.value.is_nan()) {
            *self = Worst { value, seed };
        }
    }
}

/// A number from `least` to `most`, each order of magnitude as likely as any other.
///
/// Both are above 0.
pub fn log_uniform(rng: &mut Rng, least: u64, most: u64) -> u64 {
    let (least_ln, most_ln) = ((least as f64).ln(), (most as f64).ln());
    ((least_ln + rng.f64() * (most_ln - least_ln)).exp() as u64).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_can_be_repeated_by_its_seed() {
        let cases = Cases { cases: Some(1), quick: false, seed: 17 };
        assert_eq!(cases.seeds(100, 10), 17..18);
        assert_eq!(Cases::quick().seeds(100, 10), 1..11);
    }

    #[test]
    fn the_worst_is_the_greatest_or_no_number_at_all() {
        let mut worst = Worst::default();
        worst.add(0.5, 1);
        worst.add(0.25, 2);
        assert_eq!(worst, Worst { value: 0.5, seed: 1 });
        worst.add(f64::NAN, 3);
        worst.add(9.0, 4);
        assert!(worst.value.is_nan() && worst.seed == 3);
    }
}
