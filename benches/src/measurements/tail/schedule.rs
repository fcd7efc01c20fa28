//! Jobs, drawn before the run: when each arrives and how much work it is.

use clockworker_schedulers::simulate::{Job, Service};

use crate::random::{Purpose, random};

/// Jobs without a load: what they are, and when each arrives as a part of the time.
#[derive(Debug, PartialEq)]
pub struct Jobs {
    /// In order of arrival, in nanoseconds of work.
    sizes: Vec<u64>,
    /// From 0 to 1, ascending.
    times: Vec<f64>,
}

/// Jobs that are a part of the time in which they arrive.
#[derive(Debug, PartialEq)]
pub struct Schedule {
    /// In order of arrival, which is what their response times count from.
    pub jobs: Vec<Job>,
    pub length_ns: u64,
}

impl Jobs {
    /// Draws so many jobs, the same for the same seed and part: sizes of a distribution, and times anywhere.
    pub fn draw(service: &Service, count: usize, seed: u64, part: u64) -> Self {
        let mut random = random(seed, Purpose::Arrivals, part);
        let sizes = (0..count).map(|_| service.quantile(random.f64())).collect();
        let mut times: Vec<f64> = (0..count).map(|_| random.f64()).collect();
        times.sort_unstable_by(f64::total_cmp);
        Jobs { sizes, times }
    }

    /// In a window that is so long that their work is exactly the part `load` of it.
    ///
    /// Points anywhere in a window are a Poisson process of known count. If rate and window were fixed, the few large jobs of
    /// a window would move its load by 5 % either way, and windows of 90 % would be mixed with windows of 97 %.
    pub fn at_load(&self, load: f64) -> Schedule {
        let length = (self.sizes.iter().sum::<u64>() as f64 / load).ceil();
        let jobs = self.times.iter().zip(&self.sizes);
        let jobs = jobs.map(|(time, &size_ns)| job((time * length) as u64, size_ns)).collect();
        Schedule { jobs, length_ns: length as u64 }
    }
}

pub fn job(at_ns: u64, service_ns: u64) -> Job {
    Job { at_ns, queue: 0, service_ns, group: None, polls: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_exact_and_arrivals_are_in_order() {
        let service = Service::bounded_pareto(1.1, 10_000, 100_000_000).unwrap();
        let draw = |seed, part| Jobs::draw(&service, 10_000, seed, part);
        let jobs = draw(1, 0);
        assert!(jobs == draw(1, 0) && jobs != draw(2, 0) && jobs != draw(1, 1));
        for load in [0.5, 0.9, 0.95] {
            let schedule = jobs.at_load(load);
            let work_ns: u64 = schedule.jobs.iter().map(|job| job.service_ns).sum();
            let found = work_ns as f64 / schedule.length_ns as f64;
            assert!((found - load).abs() < 1e-6, "{found} for {load}");
            assert!(schedule.jobs.is_sorted_by_key(|job| job.at_ns));
            assert!(schedule.jobs.iter().all(|job| job.at_ns < schedule.length_ns));
        }
    }
}
