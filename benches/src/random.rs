//! Random choices that a seed repeats.

use std::time::Duration;

use fastrand::Rng;

/// What a sequence of random numbers is for: each purpose has its own, so that none shifts another.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    Order = 1,
    Arrivals = 2,
    Work = 3,
}

/// The random numbers of a purpose. `part` tells those of a round or a cell from others.
pub fn random(seed: u64, purpose: Purpose, part: u64) -> Rng {
    // Each step mixes all bits, so that seeds and parts which are close together have nothing in common.
    let purpose = Rng::with_seed(seed).u64(..) ^ purpose as u64;
    Rng::with_seed(Rng::with_seed(purpose).u64(..) ^ part)
}

/// A duration from `shortest` to `longest`, to the nanosecond, both included.
pub fn between(random: &mut Rng, shortest: Duration, longest: Duration) -> Duration {
    Duration::from_nanos(random.u64(shortest.as_nanos() as u64..=longest.as_nanos() as u64))
}

/// The gap to the next event of a Poisson process with one event per `mean`.
pub fn gap(random: &mut Rng, mean: Duration) -> Duration {
    mean.mul_f64(-(1.0 - random.f64()).ln())
}
