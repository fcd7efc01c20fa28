//! Random cases, each made of its own seed, and the worst of them.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use clap::Args;
use fastrand::Rng;
use indicatif::{ProgressBar, ProgressStyle};

use crate::figure::{Figure, at_most, told};

#[derive(Clone, Debug, Args)]
pub(crate) struct Cases {
    /// How many random cases; as many as RELIABILITY.md says unless told otherwise.
    #[arg(long, value_name = "N")]
    pub(crate) cases: Option<u64>,
    /// Few cases: at most some seconds.
    #[arg(long, conflicts_with = "cases")]
    pub(crate) quick: bool,
    /// The seed of the first case; the next has the next. With `--cases 1` it repeats a case.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl Cases {
    /// Plays the case of each seed, of which the two forms have so many, with a bar, up to the first error; how many there
    /// were.
    pub(crate) fn play(
        &self,
        long: u64,
        quick: u64,
        case: impl FnMut(u64) -> anyhow::Result<()>,
    ) -> anyhow::Result<u64> {
        let count = self.cases.unwrap_or(if self.quick { quick } else { long });
        bar(count).wrap_iter(self.seed..self.seed.saturating_add(count)).try_for_each(case)?;
        Ok(count)
    }
}

/// Does something with each item, on as many threads as there are processors, with a bar.
pub(crate) fn in_parallel<I: Send>(items: impl ExactSizeIterator<Item = I> + Send, work: impl Fn(I) + Sync) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let items = Mutex::new(bar(items.len() as u64).wrap_iter(items));
    let next = || items.lock().ok()?.next();
    let run = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(run))));
}

/// A progress bar of `steps` steps on standard error, gone when it is dropped; shows nothing where that is no terminal.
pub(crate) fn bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {pos}/{len} {elapsed} {wide_msg}");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The greatest of many numbers, and the seed that it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Worst {
    /// 0 if there was none.
    pub(crate) value: f64,
    pub(crate) seed: u64,
}

impl Worst {
    /// Takes a number in. What is not a number is worse than any.
    pub(crate) fn add(&mut self, value: f64, seed: u64) {
        if value > self.value || (value.is_nan() && !self.value.is_nan()) {
            *self = Worst { value, seed };
        }
    }

    /// It, held to a bound, and its seed.
    pub(crate) fn figures(self, promise: u8, what: &str, bound: f64) -> [Figure; 2] {
        [at_most(promise, what, self.value, bound), told(promise, format!("its seed, {what}"), self.seed)]
    }
}

/// A number from `least` to `most`, each order of magnitude as likely as any other.
///
/// Both are above 0.
pub(crate) fn log_uniform(rng: &mut Rng, least: u64, most: u64) -> u64 {
    let (least_ln, most_ln) = ((least as f64).ln(), (most as f64).ln());
    ((least_ln + rng.f64() * (most_ln - least_ln)).exp() as u64).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

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
