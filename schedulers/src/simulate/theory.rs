//! What queueing theory says of one queue: M/G/1 in closed form.
//!
//! Jobs come at rate λ, as a Poisson process; S is the size of one, and ρ = λE\[S\] the load. With m1(x) = E\[min(S, x)\],
//! m2(x) = E\[min(S, x)²\] and ρ(x) = λE\[S; S ≤ x\], a job of size x has the mean response time T(x):
//!
//! | Discipline | T(x) |
//! |---|---|
//! | first come, first served | x + λE\[S²\] / (2(1 − ρ)) |
//! | processor sharing | x / (1 − ρ) |
//! | least attained service | x / (1 − λm1(x)) + λm2(x) / (2(1 − λm1(x))²) |
//! | levels that end at a₁ < a₂ < …, FIFO inside; x in (aᵢ₋₁, aᵢ] | (x + λm2(aᵢ) / (2(1 − λm1(aᵢ)))) / (1 − λm1(aᵢ₋₁)) |
//! | shortest remaining time first | λm2(x) / (2(1 − ρ(x⁻))(1 − ρ(x))) + ∫ dt / (1 − ρ(t)) from 0 to x |
//!
//! Kleinrock, *Queueing Systems* II, 1976, has the first four; Schrage and Miller, *The queue M/G/1 with the shortest
//! remaining processing time discipline*, Operations Research 14, 1966, the last, which nobody can beat, and which has to
//! know sizes.

use core::fmt;

use super::Service;

/// An order of service that has a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Discipline {
    /// First come, first served, never interrupted: [`RunnableFifo`](crate::RunnableFifo) where tasks do not yield.
    Fcfs,
    /// Processor sharing: `RunnableFifo` in the limit of short polls.
    Ps,
    /// Least attained service, also called foreground-background: [`Las`](crate::Las) in the limit of short polls.
    Las,
    /// Levels of attained service, FIFO inside: [`Qlas`](crate::Qlas). The ends of the levels in nanoseconds, ascending; a
    /// last level without an end follows.
    Levels(Vec<f64>),
    /// Shortest remaining processing time: the bound.
    Srpt,
}

impl Discipline {
    /// The levels of a [`Qlas`](crate::Qlas): each ends at twice where the one before it does.
    ///
    /// ```
    /// use clockworker_schedulers::{Qlas, simulate::theory::Discipline};
    ///
    /// let Discipline::Levels(ends) = Discipline::levels_of(&Qlas::new()) else { unreachable!() };
    /// assert_eq!(ends[..3], [16_384.0, 32_768.0, 65_536.0]);
    /// ```
    pub fn levels_of(qlas: &crate::Qlas) -> Self {
        let base_bits = qlas.base_ns().ilog2();
        Self::Levels((base_bits..u64::BITS).map(|bits| (1_u64 << bits) as f64).collect())
    }
}

/// A queue M/G/1: sizes, and a load below 1.
///
/// ```
/// use clockworker_schedulers::simulate::Service;
/// use clockworker_schedulers::simulate::theory::{Discipline, MG1};
///
/// let service = Service::exponential(20_000.0).unwrap();
/// let queue = MG1::new(service, 0.9).unwrap();
/// let mean_ns = queue.mean_response_ns(&Discipline::Las);
/// assert!((mean_ns / 200_000.0 - 1.0).abs() < 1e-6); // ten times the mean size, as for all that do not know sizes
/// ```
#[derive(Clone, Debug)]
pub struct MG1 {
    service: Service,
    /// λ, in jobs per nanosecond.
    rate: f64,
    load: f64,
}

impl MG1 {
    /// Jobs of these sizes that ask for this part of the time.
    ///
    /// # Errors
    ///
    /// If the load is not between 0 and 1: there is no mean response time then.
    pub fn new(service: Service, load: f64) -> Result<Self, TheoryError> {
        if !(load > 0.0 && load < 1.0) {
            return Err(TheoryError { load });
        }
        Ok(Self { rate: load / service.mean_ns(), service, load })
    }

    /// E\[T\], in nanoseconds.
    pub fn mean_response_ns(&self, discipline: &Discipline) -> f64 {
        if *discipline == Discipline::Srpt {
            return self.mean_srpt();
        }
        self.service.expect(breaks(discipline), |x| self.response_ns(discipline, x))
    }

    /// The mean response time of jobs of more than `above` and at most `up_to` nanoseconds; `None` where there are none.
    pub fn mean_response_between(&self, discipline: &Discipline, above: f64, up_to: f64) -> Option<f64> {
        let part = self.service.above(above) - self.service.above(up_to);
        if part <= 0.0 || *discipline == Discipline::Srpt {
            return None;
        }
        let mut breaks = breaks(discipline).to_vec();
        breaks.extend([above, up_to]);
        let inside = |x: f64| x > above && x <= up_to;
        let sum =
            self.service.expect(&breaks, |x| if inside(x) { self.response_ns(discipline, x) } else { 0.0 });
        Some(sum / part)
    }

    /// T(x), in nanoseconds. For shortest remaining time the wait only, as its other part is an integral: see
    /// [`mean_response_ns`](MG1::mean_response_ns).
    fn response_ns(&self, discipline: &Discipline, x: f64) -> f64 {
        match discipline {
            Discipline::Fcfs => x + self.wait_below(f64::INFINITY),
            Discipline::Ps => x / (1.0 - self.load),
            Discipline::Las => (x + self.wait_below(x)) / self.idle_below(x),
            Discipline::Levels(ends) => {
                let level = ends.partition_point(|end| *end < x);
                let start = level.checked_sub(1).map_or(0.0, |before| ends[before]);
                let end = ends.get(level).copied().unwrap_or(f64::INFINITY);
                (x + self.wait_below(end)) / self.idle_below(start)
            }
            Discipline::Srpt => {
                let (before, with) = (self.idle_of_less_than(x), self.idle_of_up_to(x));
                self.rate * self.service.m2(x) / (2.0 * before * with)
            }
        }
    }

    /// The mean work found, were jobs cut off at `x`: λm2(x) / (2(1 − λm1(x))).
    fn wait_below(&self, x: f64) -> f64 {
        self.rate * self.service.m2(x) / (2.0 * self.idle_below(x))
    }

    /// 1 − λm1(x).
    fn idle_below(&self, x: f64) -> f64 {
        1.0 - self.rate * self.service.m1(x)
    }

    /// 1 − ρ(x).
    fn idle_of_up_to(&self, x: f64) -> f64 {
        1.0 - self.rate * self.service.mean_of_up_to(x)
    }

    /// 1 − ρ(x⁻).
    fn idle_of_less_than(&self, x: f64) -> f64 {
        self.idle_of_up_to(x.next_down())
    }

    /// The mean of the second part is ∫ P(S > t) / (1 − ρ(t)) dt.
    fn mean_srpt(&self) -> f64 {
        let wait = self.service.expect(&[], |x| self.response_ns(&Discipline::Srpt, x));
        wait + self.service.expect_integral(|t| 1.0 / self.idle_of_up_to(t))
    }
}

/// Where T(x) jumps.
fn breaks(discipline: &Discipline) -> &[f64] {
    match discipline {
        Discipline::Levels(ends) => ends,
        _ => &[],
    }
}

/// A load that has no steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct TheoryError {
    load: f64,
}

impl fmt::Display for TheoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "theory needs a load between 0 and 1, not {}", self.load)
    }
}

impl core::error::Error for TheoryError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// E[T] / E[S].
    fn ratio(service: &str, load: f64, discipline: &Discipline) -> f64 {
        let service: Service = service.parse().unwrap();
        let mean = service.mean_ns();
        MG1::new(service, load).unwrap().mean_response_ns(discipline) / mean
    }

    fn doubling(base_ns: f64, last: i32) -> Discipline {
        Discipline::Levels((0..=last).map(|k| base_ns * 2.0_f64.powi(k)).collect())
    }

    /// Known values, which were calculated elsewhere, to the digits that are known.
    #[test]
    fn the_reference_table() {
        const PARETO: &str = "pareto:alpha=1.1,min=10us,max=100ms";
        const BIMODAL: &str = "bimodal:short=10us,long=10ms,part=0.005";
        const EXPONENTIAL: &str = "exponential:mean=20us";
        let (fine, coarse) = (doubling(16_000.0, 8), doubling(20_000.0, 11));
        let rows = [
            (EXPONENTIAL, 0.5, &fine, [2.0, 2.0, 2.0, 2.0, 1.425]),
            (EXPONENTIAL, 0.9, &fine, [10.0, 10.0, 10.0, 10.0, 3.552]),
            (PARETO, 0.7, &coarse, [130.5, 3.33, 2.18, 2.18, 1.74]),
            (PARETO, 0.95, &coarse, [1055.0, 20.0, 6.53, 6.54, 3.56]),
            (BIMODAL, 0.7, &fine, [163.0, 3.33, 5.69, 2.73, 2.04]),
            (BIMODAL, 0.95, &fine, [1323.0, 20.0, 149.0, 14.6, 9.02]),
        ];
        for (service, load, levels, wanted) in rows {
            let disciplines =
                [&Discipline::Fcfs, &Discipline::Ps, &Discipline::Las, levels, &Discipline::Srpt];
            for (discipline, wanted) in disciplines.into_iter().zip(wanted) {
                let found = ratio(service, load, discipline);
                assert!(
                    (found / wanted - 1.0).abs() < 0.004,
                    "{found} for {wanted}: {service} {discipline:?}"
                );
            }
        }
    }

    #[test]
    fn levels_lie_between_fcfs_and_las() {
        let bimodal = "bimodal:short=10us,long=10ms,part=0.005";
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
        close(ratio(bimodal, 0.7, &Discipline::Levels(vec![])), ratio(bimodal, 0.7, &Discipline::Fcfs));
        let many = Discipline::Levels((1..200_000).map(|k| f64::from(k) * 100.0).collect());
        close(ratio(bimodal, 0.7, &many), ratio(bimodal, 0.7, &Discipline::Las));
    }

    #[test]
    fn classes_add_up_to_the_whole() {
        let service: Service = "pareto:alpha=1.1,min=10us,max=100ms".parse().unwrap();
        let queue = MG1::new(service.clone(), 0.8).unwrap();
        for discipline in [Discipline::Las, doubling(16_384.0, 12)] {
            let small = queue.mean_response_between(&discipline, 0.0, 50_000.0).unwrap();
            let large = queue.mean_response_between(&discipline, 50_000.0, 1e9).unwrap();
            let above = service.above(50_000.0);
            let whole = small * (1.0 - above) + large * above;
            assert!((whole / queue.mean_response_ns(&discipline) - 1.0).abs() < 1e-9);
            assert_eq!(queue.mean_response_between(&discipline, 0.0, 9_000.0), None);
        }
    }

    #[test]
    fn a_load_of_one_has_no_mean() {
        let service = Service::constant(1_000).unwrap();
        for load in [0.0, 1.0, f64::NAN] {
            assert!(MG1::new(service.clone(), load).is_err());
        }
        assert_eq!(
            MG1::new(service, 1.5).unwrap_err().to_string(),
            "theory needs a load between 0 and 1, not 1.5"
        );
    }
}
