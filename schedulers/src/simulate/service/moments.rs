//! What the formulas need of a distribution, in closed form.

use super::{Service, Shape, pareto_inside};

impl Service {
    /// E\[S\], in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.m1(f64::INFINITY)
    }

    /// E\[S²\], in ns².
    pub fn second_moment(&self) -> f64 {
        self.m2(f64::INFINITY)
    }

    /// P(S > x): the part of the jobs that need more than `x` nanoseconds.
    pub fn above(&self, x: f64) -> f64 {
        match &self.0 {
            _ if x < 0.0 => 1.0,
            Shape::Exponential { mean } => (-x / mean).exp(),
            Shape::Pareto { alpha, least, most } => {
                let cut = (least / most).powf(*alpha);
                let above = ((least / x.max(*least)).powf(*alpha) - cut) / (1.0 - cut);
                above.max(0.0)
            }
            Shape::Atoms { atoms, .. } => 1.0 - atoms.below(x).0,
        }
    }

    /// E\[min(S, x)\]: the service that a job receives on average before it has received `x` nanoseconds.
    pub fn m1(&self, x: f64) -> f64 {
        match &self.0 {
            Shape::Exponential { mean } => -mean * (-x / mean).exp_m1(),
            Shape::Pareto { .. } => self.pareto_moment(x, 1.0),
            Shape::Atoms { atoms, .. } => {
                let (up_to, first, _) = atoms.below(x);
                first + capped(x, 1, 1.0 - up_to)
            }
        }
    }

    /// E\[min(S, x)²\], in ns².
    pub fn m2(&self, x: f64) -> f64 {
        match &self.0 {
            Shape::Exponential { mean } => {
                let y = x / mean;
                let tail = if y.is_finite() { (-y).exp() * (1.0 + y) } else { 0.0 };
                2.0 * mean * mean * (1.0 - tail)
            }
            Shape::Pareto { .. } => self.pareto_moment(x, 2.0),
            Shape::Atoms { atoms, .. } => {
                let (up_to, _, second) = atoms.below(x);
                second + capped(x, 2, 1.0 - up_to)
            }
        }
    }

    /// E\[S; S ≤ x\]: the part of the mean that comes from jobs of at most `x` nanoseconds.
    pub fn mean_of_up_to(&self, x: f64) -> f64 {
        match &self.0 {
            Shape::Atoms { atoms, .. } => atoms.below(x).1,
            _ if x == f64::INFINITY => self.mean_ns(),
            _ => self.m1(x) - x * self.above(x),
        }
    }

    /// E\[min(S, x)ᵏ\] = ∫ k·tᵏ⁻¹·P(S > t) dt from 0 to x, for a bounded Pareto distribution.
    fn pareto_moment(&self, x: f64, k: f64) -> f64 {
        let Shape::Pareto { alpha, least, most } = self.0 else { return 0.0 };
        let x = x.min(most);
        if x <= least {
            return x.powf(k);
        }
        let cut = (least / most).powf(alpha);
        let falling = least.powf(alpha) * power_integral(k - 1.0 - alpha, least, x);
        let constant = cut * power_integral(k - 1.0, least, x);
        least.powf(k) + k * (falling - constant) / (1.0 - cut)
    }

    /// The sizes there are, in ascending order, if they are at most `most`.
    pub(in super::super) fn few_sizes(&self, most: usize) -> Option<Vec<u64>> {
        let Shape::Atoms { atoms, .. } = &self.0 else { return None };
        (atoms.sizes.len() <= most).then(|| atoms.sizes.iter().map(|size| *size as u64).collect())
    }

    /// E\[∫ g(t) dt from 0 to S\] = ∫ P(S > t)·g(t) dt, for a `g` that changes only where there are sizes.
    pub(in super::super) fn expect_integral(&self, g: impl Fn(f64) -> f64) -> f64 {
        let f = |t: f64| self.above(t) * g(t);
        match &self.0 {
            Shape::Atoms { atoms, .. } => {
                let ends: Vec<f64> = core::iter::once(0.0).chain(atoms.sizes.iter().copied()).collect();
                quadrature(&ends, f)
            }
            Shape::Exponential { mean } => quadrature(&panels((mean * 1e-9, mean * 60.0), 600, &[]), f),
            Shape::Pareto { least, most, .. } => {
                least * g(0.0) + quadrature(&panels((*least, *most), 400, &[]), f)
            }
        }
    }

    /// E\[f(S)\]; `breaks` are the sizes at which `f` jumps, in any order.
    ///
    /// For distributions with a density, by Gauss-Legendre quadrature of five points on panels that are narrow where sizes
    /// are small: exact to some 10 digits where `f` is smooth between the breaks.
    pub fn expect(&self, breaks: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        match &self.0 {
            Shape::Atoms { atoms, .. } => atoms.parts().map(|(size, part)| part * f(size)).sum(),
            Shape::Exponential { mean } => {
                let density = |x: f64| (-x / mean).exp() / mean;
                // Above 60 means there is 10⁻²⁶ of the jobs.
                let ends = panels((mean * 1e-9, mean * 60.0), 600, breaks);
                quadrature(&ends, |x| density(x) * f(x))
            }
            Shape::Pareto { alpha, least, most } => {
                let scale = alpha * least.powf(*alpha) / pareto_inside(*alpha, *least, *most);
                let ends = panels((*least, *most), 400, breaks);
                quadrature(&ends, |x| scale * x.powf(-alpha - 1.0) * f(x))
            }
        }
    }
}

/// A size of `x` to the power `k` for the part of jobs above it: nothing, if nothing is above it.
fn capped(x: f64, k: i32, part: f64) -> f64 {
    if part > 0.0 { x.powi(k) * part } else { 0.0 }
}

impl super::Atoms {
    /// Sizes and their parts.
    fn parts(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let before = core::iter::once(0.0).chain(self.up_to.iter().copied());
        let parts = self.up_to.iter().zip(before).map(|(up_to, before)| up_to - before);
        self.sizes.iter().copied().zip(parts)
    }
}

/// ∫ tᵖ dt from `a` to `b`.
fn power_integral(p: f64, a: f64, b: f64) -> f64 {
    let q = p + 1.0;
    if q.abs() < 1e-12 { (b / a).ln() } else { (b.powf(q) - a.powf(q)) / q }
}

/// The ends of panels over a range, in geometric progression, and at the breaks.
fn panels((low, high): (f64, f64), count: usize, breaks: &[f64]) -> Vec<f64> {
    let step = (high / low).powf(1.0 / count as f64);
    let mut ends: Vec<f64> = (0..count).map(|index| low * step.powi(index as i32)).collect();
    ends.push(high);
    ends.extend(breaks.iter().filter(|at| (low..high).contains(*at)));
    ends.sort_by(f64::total_cmp);
    ends
}

/// Nodes and weights of Gauss-Legendre quadrature of five points on −1 to 1.
const NODES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// The integral of `f` over adjacent panels.
fn quadrature(ends: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let panel = |pair: &[f64]| {
        let (middle, half) = ((pair[0] + pair[1]) / 2.0, (pair[1] - pair[0]) / 2.0);
        half * NODES.iter().map(|(node, weight)| weight * f(middle + half * node)).sum::<f64>()
    };
    ends.windows(2).map(panel).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of every kind.
    fn services() -> [Service; 5] {
        [
            Service::constant(20_000).unwrap(),
            Service::exponential(20_000.0).unwrap(),
            Service::bimodal(10_000, 10_000_000, 0.005).unwrap(),
            Service::bounded_pareto(1.1, 10_000, 100_000_000).unwrap(),
            Service::sample([5_000, 1_000, 5_000, 90_000]).unwrap(),
        ]
    }

    fn assert_close(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-7, "{found} for {wanted}");
    }

    #[test]
    fn closed_forms_are_the_integrals() {
        for service in services() {
            assert_close(service.expect(&[], |_| 1.0), 1.0);
            for x in [3_000.0, 20_000.0, 70_000.0, 1e6, 2e8] {
                assert_close(service.expect(&[x], |s| s.min(x)), service.m1(x));
                assert_close(service.expect(&[x], |s| s.min(x).powi(2)), service.m2(x));
                let above = service.expect(&[x], |s| f64::from(u8::from(s > x)));
                assert!((above - service.above(x)).abs() < 1e-9, "{above}");
                let up_to = service.expect(&[x], |s| if s <= x { s } else { 0.0 });
                assert!((up_to - service.mean_of_up_to(x)).abs() < 1e-3, "{up_to}");
            }
            assert_close(service.expect(&[], |s| s), service.mean_ns());
            assert_close(service.expect(&[], |s| s * s), service.second_moment());
        }
    }

    #[test]
    fn known_moments() {
        let exponential = Service::exponential(20_000.0).unwrap();
        assert_eq!((exponential.mean_ns(), exponential.second_moment()), (20_000.0, 8e8));
        let bimodal = Service::bimodal(10_000, 10_000_000, 0.005).unwrap();
        assert_close(bimodal.mean_ns(), 59_950.0);
        let sample = Service::sample([5_000, 1_000, 5_000, 90_000]).unwrap();
        assert_eq!((sample.mean_ns(), sample.above(5_000.0)), (25_250.0, 0.25));
        // An exponent at which an integral is a logarithm: E[S] = L·ln(H/L)/(1 − L/H).
        let pareto = Service::bounded_pareto(1.0, 1_000, 8_000).unwrap();
        assert_close(pareto.mean_ns(), 1_000.0 * 8.0_f64.ln() / (1.0 - 0.125));
    }

    #[test]
    fn quantiles_have_the_moments_of_the_distribution() {
        for service in services() {
            let parts = 1_000_000;
            let sizes = (0..parts).map(|index| service.quantile((f64::from(index) + 0.5) / f64::from(parts)));
            let mean = sizes.map(|size| size as f64).sum::<f64>() / f64::from(parts);
            // The last of a million parts of a heavy tail is taken at its middle.
            assert!((mean / service.mean_ns() - 1.0).abs() < 1e-3, "{mean} for {service}");
        }
    }
}
