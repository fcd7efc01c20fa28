//! How long jobs are: [`Service`].

mod moments;
mod spelling;

use core::fmt;

/// The longest job: 2⁵³ ns, 104 days, up to which every whole number of nanoseconds is an `f64`.
const LONGEST: f64 = 9_007_199_254_740_992.0;

/// The distribution of service times: how much CPU time a job needs in all.
///
/// It can be drawn from ([`quantile`](Service::quantile) of a random part), and knows its own moments in closed form
/// ([`mean_ns`](Service::mean_ns), [`m1`](Service::m1), [`m2`](Service::m2)), which the formulas of [`theory`] need.
///
/// It is written and read as `exponential:mean=20us`, `constant:size=20us`, `bimodal:short=10us,long=10ms,part=0.005`
/// and `pareto:alpha=1.1,min=10us,max=100ms`.
///
/// [`theory`]: super::theory
///
/// ```
/// use clockworker_schedulers::simulate::Service;
///
/// let service: Service = "bimodal:short=10us,long=10ms,part=0.005".parse().unwrap();
/// assert_eq!(service, Service::bimodal(10_000, 10_000_000, 0.005).unwrap());
/// assert_eq!(service.mean_ns(), 59_950.0);
/// assert_eq!((service.quantile(0.5), service.quantile(0.999)), (10_000, 10_000_000));
/// ```
#[derive(Clone, PartialEq)]
pub struct Service(Shape);

#[derive(Clone, PartialEq)]
enum Shape {
    Exponential { mean: f64 },
    Pareto { alpha: f64, least: f64, most: f64 },
    Atoms { origin: Origin, atoms: Atoms },
}

/// Sizes that each have a part of the jobs.
#[derive(Clone, PartialEq)]
struct Atoms {
    /// Ascending.
    sizes: Vec<f64>,
    /// The part of the jobs that are of this size or smaller; the last is 1.
    up_to: Vec<f64>,
    /// Of the size or smaller: Σ size·part and Σ size²·part.
    first: Vec<f64>,
    second: Vec<f64>,
}

/// What the atoms were made from, for writing it.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Constant,
    Bimodal { part: f64 },
    Sample { jobs: usize },
}

impl Service {
    /// Every job takes `size_ns`.
    ///
    /// # Errors
    ///
    /// If it is 0 or above 2⁵³ ns.
    pub fn constant(size_ns: u64) -> Result<Self, ServiceError> {
        let size = size_of("size", size_ns as f64)?;
        Ok(Self(Shape::Atoms { origin: Origin::Constant, atoms: Atoms::new([(size, 1.0)]) }))
    }

    /// Memoryless: what is left of a job does not depend on what it has received. Every policy that does not know sizes
    /// has the same mean response time then.
    ///
    /// # Errors
    ///
    /// If the mean is less than 1 ns or above 2⁵³ ns.
    pub fn exponential(mean_ns: f64) -> Result<Self, ServiceError> {
        Ok(Self(Shape::Exponential { mean: size_of("mean", mean_ns)? }))
    }

    /// Jobs of two kinds: a `part` of them are long.
    ///
    /// # Errors
    ///
    /// If a size is 0 or above 2⁵³ ns, the long are not longer, or the part is not between 0 and 1.
    pub fn bimodal(short_ns: u64, long_ns: u64, part: f64) -> Result<Self, ServiceError> {
        let (short, long) = (size_of("short", short_ns as f64)?, size_of("long", long_ns as f64)?);
        ascending("short", short, "long", long)?;
        if !(part > 0.0 && part < 1.0) {
            return Err(ServiceError::Part { given: part });
        }
        let atoms = Atoms::new([(short, 1.0 - part), (long, part)]);
        Ok(Self(Shape::Atoms { origin: Origin::Bimodal { part }, atoms }))
    }

    /// A heavy tail, cut off: the part of jobs above x falls as x^−`alpha` from `least_ns` on, and is 0 at `most_ns`.
    ///
    /// # Errors
    ///
    /// If a size is 0 or above 2⁵³ ns, the most is not more than the least, or `alpha` is not between 0 and 100.
    pub fn bounded_pareto(alpha: f64, least_ns: u64, most_ns: u64) -> Result<Self, ServiceError> {
        let (least, most) = (size_of("min", least_ns as f64)?, size_of("max", most_ns as f64)?);
        ascending("min", least, "max", most)?;
        if !(alpha > 0.0 && alpha <= 100.0) {
            return Err(ServiceError::Alpha { given: alpha });
        }
        Ok(Self(Shape::Pareto { alpha, least, most }))
    }

    /// The sizes that were seen, each as often as it was: a trace's distribution.
    ///
    /// # Errors
    ///
    /// If there are none, or one is 0 or above 2⁵³ ns.
    pub fn sample(sizes_ns: impl IntoIterator<Item = u64>) -> Result<Self, ServiceError> {
        let sizes: Result<Vec<f64>, _> = sizes_ns.into_iter().map(|ns| size_of("size", ns as f64)).collect();
        let mut sizes = sizes?;
        if sizes.is_empty() {
            return Err(ServiceError::Empty);
        }
        sizes.sort_by(f64::total_cmp);
        let (jobs, each) = (sizes.len(), 1.0 / sizes.len() as f64);
        let atoms = Atoms::new(sizes.into_iter().map(|size| (size, each)));
        Ok(Self(Shape::Atoms { origin: Origin::Sample { jobs }, atoms }))
    }

    /// The size that a `part` of the jobs do not exceed, in nanoseconds: at least 1.
    ///
    /// A part drawn evenly from 0 to 1 makes this a size drawn from the distribution. Parts outside are taken as 0 and
    /// the greatest number below 1.
    pub fn quantile(&self, part: f64) -> u64 {
        let part = part.clamp(0.0, 1.0 - f64::EPSILON / 2.0);
        let ns = match &self.0 {
            Shape::Exponential { mean } => -mean * (-part).ln_1p(),
            Shape::Pareto { alpha, least, most } => {
                least * (1.0 - part * pareto_inside(*alpha, *least, *most)).powf(-1.0 / alpha)
            }
            Shape::Atoms { atoms, .. } => atoms.quantile(part),
        };
        ns.round().clamp(1.0, LONGEST) as u64
    }
}

/// The part of an unbounded Pareto distribution that lies below `most`.
fn pareto_inside(alpha: f64, least: f64, most: f64) -> f64 {
    1.0 - (least / most).powf(alpha)
}

impl Atoms {
    /// From sizes in ascending order, some of them perhaps equal, with their parts.
    fn new(sizes: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut atoms = Self { sizes: vec![], up_to: vec![], first: vec![], second: vec![] };
        let (mut up_to, mut first, mut second) = (0.0, 0.0, 0.0);
        for (size, part) in sizes {
            up_to += part;
            first += size * part;
            second += size * size * part;
            if atoms.sizes.last() == Some(&size) {
                atoms.drop_last();
            }
            atoms.sizes.push(size);
            atoms.up_to.push(up_to);
            atoms.first.push(first);
            atoms.second.push(second);
        }
        // However the sum was rounded.
        atoms.up_to.last_mut().into_iter().for_each(|last| *last = 1.0);
        atoms
    }

    fn drop_last(&mut self) {
        for column in [&mut self.sizes, &mut self.up_to, &mut self.first, &mut self.second] {
            column.pop();
        }
    }

    fn quantile(&self, part: f64) -> f64 {
        let index = self.up_to.partition_point(|up_to| *up_to <= part);
        self.sizes.get(index).or(self.sizes.last()).copied().unwrap_or(1.0)
    }

    /// The part of the jobs that is of size `x` or smaller, and their two sums.
    fn below(&self, x: f64) -> (f64, f64, f64) {
        match self.sizes.partition_point(|size| *size <= x) {
            0 => (0.0, 0.0, 0.0),
            count => (self.up_to[count - 1], self.first[count - 1], self.second[count - 1]),
        }
    }
}

fn size_of(what: &'static str, ns: f64) -> Result<f64, ServiceError> {
    if (1.0..=LONGEST).contains(&ns) { Ok(ns) } else { Err(ServiceError::Size { what, given: ns }) }
}

fn ascending(less: &'static str, a: f64, more: &'static str, b: f64) -> Result<(), ServiceError> {
    if a < b { Ok(()) } else { Err(ServiceError::Order { less, more }) }
}

/// What is wrong with a distribution, or with how it was written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServiceError {
    /// A time below 1 ns or above 2⁵³ ns.
    Size {
        /// Which.
        what: &'static str,
        /// What it was, in nanoseconds.
        given: f64,
    },
    /// Two times that are not in order.
    Order {
        /// The one that must be less.
        less: &'static str,
        /// The one that must be more.
        more: &'static str,
    },
    /// A part of the jobs that is not between 0 and 1.
    Part {
        /// What it was.
        given: f64,
    },
    /// An exponent that is not between 0 and 100.
    Alpha {
        /// What it was.
        given: f64,
    },
    /// A sample without jobs.
    Empty,
    /// A text that is not how a distribution is written.
    Spelling {
        /// Why not.
        problem: String,
    },
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { what, given } => write!(f, "{what} must be from 1 ns to 104 days, not {given} ns"),
            Self::Order { less, more } => write!(f, "{less} must be less than {more}"),
            Self::Part { given } => write!(f, "part must be between 0 and 1, not {given}"),
            Self::Alpha { given } => write!(f, "alpha must be above 0 and at most 100, not {given}"),
            Self::Empty => f.write_str("there are no jobs to take sizes from"),
            Self::Spelling { problem } => f.write_str(problem),
        }
    }
}

impl core::error::Error for ServiceError {}
