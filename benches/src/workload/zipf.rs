//! Numbers of which few are frequent and many are rare.

use crate::random::Random;

/// Zipf's distribution with exponent 1: number `n`, counted from 1, is drawn in proportion to `1 / n`.
#[derive(Debug)]
pub struct Zipf {
    /// The weights of the numbers up to each.
    sums: Vec<f64>,
}

impl Zipf {
    /// Over `0..numbers`; 0 is the most frequent.
    pub fn new(numbers: usize) -> Self {
        let sums = (1..=numbers).scan(0.0, |sum, number| {
            *sum += 1.0 / number as f64;
            Some(*sum)
        });
        Zipf { sums: sums.collect() }
    }

    /// A number.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let all = self.sums.last().expect("there are numbers");
        let point = random.below(1 << 53) as f64 / (1_u64 << 53) as f64 * all;
        self.sums.partition_point(|&sum| sum <= point) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn frequencies_fall_as_one_over_n() {
        let (zipf, mut random) = (Zipf::new(100), Random::new(1, Purpose::Groups, 0));
        let mut seen = [0_u32; 100];
        for _ in 0..100_000 {
            seen[zipf.draw(&mut random) as usize] += 1;
        }
        for (number, part) in [(1, 2.0), (9, 10.0)] {
            let found = f64::from(seen[0]) / f64::from(seen[number]);
            assert!((found / part - 1.0).abs() < 0.1, "{number}: {found}");
        }
    }
}
