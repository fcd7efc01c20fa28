//! How much work a job is: the distributions that `tail` knows by name.

use clap::ValueEnum;
use clockworker_schedulers::simulate::Service as Distribution;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_load_is_about_as_many_jobs_of_each() {
        for service in Service::value_variants() {
            let mean = service.distribution().mean_ns();
            assert!((59_900.0..66_500.0).contains(&mean), "{service:?}: {mean}");
        }
    }
}
