//! What became of the jobs: means, quantiles, by queue and by size.

use core::fmt;

use hdrhistogram::Histogram;

use super::classes::Classes;
use super::simulation::Done;

/// Digits that quantiles have.
const DIGITS: u8 = 3;

/// Slowdowns are counted in thousandths.
const SLOWDOWN_UNIT: f64 = 1_000.0;

/// A quantity over many jobs: its mean, and its quantiles to three digits.
#[derive(Clone, PartialEq)]
pub struct Spread {
    sum: f64,
    max: f64,
    /// The size of one unit of the histogram.
    unit: f64,
    histogram: Histogram<u64>,
}

impl Spread {
    fn in_units_of(unit: f64) -> Self {
        let mut histogram = Histogram::new(DIGITS).expect("three digits can be had");
        histogram.auto(true);
        Self { sum: 0.0, max: 0.0, unit, histogram }
    }

    fn add(&mut self, value: f64) {
        self.sum += value;
        self.max = self.max.max(value);
        self.histogram.record((value / self.unit).round() as u64).expect("it grows as it has to");
    }

    /// Adds all that another has.
    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram).expect("it grows as it has to");
    }

    /// How many jobs.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean; 0 of no jobs.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum / self.count() as f64 }
    }

    /// The largest; 0 of no jobs.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// What a part of the jobs does not exceed, to three digits; 0 of no jobs.
    pub fn quantile(&self, part: f64) -> f64 {
        self.histogram.value_at_quantile(part) as f64 * self.unit
    }
}

impl fmt::Debug for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spread")
            .field("count", &self.count())
            .field("mean", &self.mean())
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

/// Response times and slowdowns of some jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// From arrival to end, in nanoseconds.
    pub response: Spread,
    /// Response time / service time.
    pub slowdown: Spread,
}

impl Figures {
    fn new() -> Self {
        Self { response: Spread::in_units_of(1.0), slowdown: Spread::in_units_of(1.0 / SLOWDOWN_UNIT) }
    }

    fn add(&mut self, done: Done) {
        self.response.add(done.response_ns() as f64);
        self.slowdown.add(done.slowdown());
    }

    fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.slowdown.merge(&other.slowdown);
    }
}

/// What became of the jobs of one queue.
///
/// ```
/// use clockworker_schedulers::simulate::{Classes, Done, Job, Outcome};
///
/// let mut outcome = Outcome::new(Classes::at([1_000]));
/// for (service_ns, finished_ns) in [(500, 1_000), (2_000, 4_000)] {
///     outcome.add(Done { job: Job { at_ns: 0, queue: 0, service_ns, group: None, polls: None }, finished_ns });
/// }
/// assert_eq!(outcome.all().response.mean(), 2_500.0);
/// assert_eq!(outcome.all().slowdown.quantile(0.99), 2.0);
/// assert_eq!(outcome.class(1).response.count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    classes: Classes,
    by_class: Vec<Figures>,
}

impl Outcome {
    /// Of no jobs yet.
    pub fn new(classes: Classes) -> Self {
        let by_class = classes.titles().iter().map(|_| Figures::new()).collect();
        Self { classes, by_class }
    }

    /// One more is done.
    pub fn add(&mut self, done: Done) {
        self.by_class[self.classes.of_size(done.job.service_ns)].add(done);
    }

    /// Adds those of another run of the same classes. (Of others, nothing is added.)
    pub fn merge(&mut self, other: &Self) {
        if self.classes == other.classes {
            self.by_class.iter_mut().zip(&other.by_class).for_each(|(ours, theirs)| ours.merge(theirs));
        }
    }

    /// Of all sizes.
    pub fn all(&self) -> Figures {
        let mut all = Figures::new();
        self.by_class.iter().for_each(|figures| all.merge(figures));
        all
    }

    /// The classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Of one class.
    ///
    /// # Panics
    ///
    /// If there are not so many classes.
    pub fn class(&self, place: usize) -> &Figures {
        &self.by_class[place]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Job;
    use super::*;

    fn done(service_ns: u64, finished_ns: u64) -> Done {
        Done { job: Job { at_ns: 0, queue: 0, service_ns, group: None, polls: None }, finished_ns }
    }

    #[test]
    fn quantiles_have_three_digits() {
        let mut outcome = Outcome::new(Classes::at([]));
        (1..=1_000).for_each(|us| outcome.add(done(1_000, us * 1_000)));
        let all = outcome.all();
        assert_eq!((all.response.count(), all.response.mean()), (1_000, 500_500.0));
        assert!((all.response.quantile(0.99) / 990_000.0 - 1.0).abs() < 1e-3);
        assert!((all.slowdown.quantile(0.5) / 500.0 - 1.0).abs() < 1e-3);
        assert_eq!(all.slowdown.max(), 1_000.0);
    }

    #[test]
    fn merged_is_as_if_counted_together() {
        let [mut together, mut first, mut second] = [(); 3].map(|()| Outcome::new(Classes::at([1_000])));
        for job in 1..=100 {
            let done = done(job * 16, job * 64);
            together.add(done);
            if job % 2 == 0 { first.add(done) } else { second.add(done) }
        }
        first.merge(&second);
        assert_eq!(first, together);
        assert_eq!(Outcome::new(Classes::at([])).all().response.quantile(0.5), 0.0);
    }
}
