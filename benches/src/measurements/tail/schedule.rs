//! Jobs, drawn before the run: when each arrives and how much work it is.

use std::time::Duration;

use clap::ValueEnum;
use clockworker_schedulers::simulate::{Job, Service as Distribution};
use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Random};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// Exponential, of mean 60 µs
    Exponential,
    /// 99.5 % of 10 µs, 0.5 % of 10 ms
    Bimodal,
    /// Bounded Pareto: α = 1.1, from 10 µs to 100 ms
    Pareto,
}

impl Service {
    pub(super) fn title(self) -> &'static str {
        match self {
            Service::Exponential => "exponential sizes, mean 60 µs",
            Service::Bimodal => "two sizes, 99.5 % of 10 µs and 0.5 % of 10 ms",
            Service::Pareto => "bounded Pareto sizes, α = 1.1, 10 µs to 100 ms",
        }
    }

    /// The distribution itself. All have a mean of 60 to 66 µs.
    pub(super) fn distribution(self) -> Distribution {
        match self {
            Service::Exponential => Distribution::exponential(60_000.0),
            Service::Bimodal => Distribution::bimodal(10_000, 10_000_000, 0.005),
            Service::Pareto => Distribution::bounded_pareto(1.1, 10_000, 100_000_000),
        }
        .expect("these are distributions")
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::measurements) struct Schedule {
    /// In order of arrival, which is what their response times count from.
    pub(in crate::measurements) jobs: Vec<Job>,
    pub(in crate::measurements) length_ns: u64,
}

pub(in crate::measurements) fn job(at_ns: u64, service_ns: u64) -> Job {
    Job { at_ns, queue: 0, service_ns, group: None, polls: None }
}

impl Schedule {
    /// Draws a window of about `window`, the same for the same seed and part.
    ///
    /// Sizes come first. The window is then made so long that they are exactly the part `load` of it, and the arrivals
    /// are that many points anywhere in it, which is what a Poisson process of known count is. Without this the few jobs
    /// of 100 ms that a window happens to get would move its load by 5 % either way, and windows of 90 % would be mixed
    /// with windows of 97 %.
    pub(in crate::measurements) fn draw(
        service: Service,
        load: f64,
        window: Duration,
        seed: u64,
        part: u64,
    ) -> Self {
        let mut random = Random::new(seed, Purpose::Arrivals, part);
        let distribution = service.distribution();
        let count = (window.as_nanos() as f64 * load / distribution.mean_ns()).round().max(1.0) as usize;
        let sizes: Vec<u64> = (0..count).map(|_| distribution.quantile(random.unit())).collect();
        let length_ns = (sizes.iter().sum::<u64>() as f64 / load).ceil() as u64;
        let mut times: Vec<u64> = (0..count).map(|_| random.below(length_ns)).collect();
        times.sort_unstable();
        let jobs = times.into_iter().zip(sizes).map(|(at_ns, size_ns)| job(at_ns, size_ns)).collect();
        Schedule { jobs, length_ns }
    }

    pub(in crate::measurements) fn work_ns(&self) -> u64 {
        self.jobs.iter().map(|job| job.service_ns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(20);

    #[test]
    fn a_seed_and_a_part_repeat_the_schedule() {
        let draw = |seed, part| Schedule::draw(Service::Pareto, 0.9, WINDOW, seed, part);
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(2, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        let too_short_for_a_job = Schedule::draw(Service::Bimodal, 0.5, Duration::ZERO, 1, 0);
        assert_eq!(too_short_for_a_job.jobs.len(), 1);
    }

    #[test]
    fn the_load_is_exact_and_arrivals_are_in_order() {
        for load in [0.5, 0.7, 0.9, 0.95] {
            let schedule = Schedule::draw(Service::Pareto, load, WINDOW, 1, 0);
            let found = schedule.work_ns() as f64 / schedule.length_ns as f64;
            assert!((found - load).abs() < 1e-6, "{found} for {load}");
            assert!(schedule.jobs.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
            assert!(schedule.jobs.iter().all(|job| job.at_ns < schedule.length_ns));
        }
    }

    #[test]
    fn arrivals_are_as_irregular_as_a_poisson_process() {
        let schedule = Schedule::draw(Service::Exponential, 0.9, WINDOW, 1, 0);
        let gaps: Vec<f64> =
            schedule.jobs.windows(2).map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap / mean - 1.0).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn the_same_load_is_about_as_many_jobs_of_each() {
        for service in Service::value_variants() {
            let mean = service.distribution().mean_ns();
            assert!((59_900.0..66_500.0).contains(&mean), "{service:?}: {mean}");
        }
    }
}
