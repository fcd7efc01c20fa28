//! When jobs come: [`Job`], and [`Arrivals`] at random.

use core::fmt;

use super::Service;
use super::strata::Strata;
use crate::random::Random;

/// A task to be: when it comes, where, and how much work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it is spawned, in nanoseconds.
    pub at_ns: u64,
    /// The queue, by its place in the simulation.
    pub queue: usize,
    /// The CPU time it needs, in nanoseconds; 0 is taken as 1.
    pub service_ns: u64,
    /// The key of the group that it belongs to; `None` for one of its own. A group opens with its first job, and closes when no job
    /// of it is left in the queue.
    pub group: Option<u32>,
    /// How long its polls are: where they begin in [`Simulation::polls`](super::Simulation::polls). `None` for as long as the quantum of its
    /// queue lets them be.
    pub polls: Option<usize>,
}

/// Jobs that come to one queue at random.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The queue, by its place in the simulation.
    pub queue: usize,
    /// How long they are.
    pub service: Service,
    /// What they ask of the thread: the product of their rate and their mean size. May be 1 or more.
    pub load: f64,
    /// How many groups they belong to, each equally likely; 0 for one of its own for each.
    pub groups: u32,
}

impl Stream {
    /// To the first queue, each in a group of its own.
    pub fn new(service: Service, load: f64) -> Self {
        Self { queue: 0, service, load, groups: 0 }
    }

    /// Jobs per nanosecond.
    pub fn rate(&self) -> f64 {
        self.load / self.service.mean_ns()
    }
}

/// Poisson arrivals, in order of time: the same for the same seed.
///
/// Sizes and gaps are each drawn one from each of as many equally likely slices as there are jobs, in random order
/// (Latin hypercube sampling). So a run of any length offers the load it is to offer, and holds as many long jobs as it
/// should.
///
/// ```
/// use clockworker_schedulers::simulate::{Arrivals, Service, Stream};
///
/// let service = Service::exponential(20_000.0).unwrap();
/// let jobs: Vec<_> = Arrivals::new(&[Stream::new(service, 0.5)], 1_000, 1).unwrap().collect();
/// assert_eq!(jobs.len(), 1_000);
/// let work: u64 = jobs.iter().map(|job| job.service_ns).sum();
/// assert!((19_990_000..20_010_000).contains(&work)); // 1,000 × 20 µs
/// ```
#[derive(Clone, Debug)]
pub struct Arrivals {
    sources: Vec<Source>,
}

/// One stream under way.
#[derive(Clone, Debug)]
struct Source {
    queue: usize,
    service: Service,
    mean_gap_ns: f64,
    groups: u32,
    sizes: Strata,
    gaps: Strata,
    random: Random,
    /// When the last job came.
    at: f64,
    next: Option<Job>,
}

impl Arrivals {
    /// `jobs` in all, or as near to it as makes every stream last equally long.
    ///
    /// # Errors
    ///
    /// If there is no stream, or the load of one is not a number above 0.
    pub fn new(streams: &[Stream], jobs: u64, seed: u64) -> Result<Self, ArrivalsError> {
        if streams.is_empty() {
            return Err(ArrivalsError { load: None });
        }
        if let Some(wrong) = streams.iter().find(|stream| !(stream.load > 0.0 && stream.load.is_finite())) {
            return Err(ArrivalsError { load: Some(wrong.load) });
        }
        let rate: f64 = streams.iter().map(Stream::rate).sum();
        let mut seeds = Random::new(seed);
        let source = |stream: &Stream| {
            let count = (jobs as f64 * (stream.rate() / rate)).round().max(1.0) as u64;
            Source::new(stream, count, &mut seeds)
        };
        Ok(Self { sources: streams.iter().map(source).collect() })
    }
}

impl Source {
    fn new(stream: &Stream, count: u64, seeds: &mut Random) -> Self {
        let mut source = Self {
            queue: stream.queue,
            service: stream.service.clone(),
            mean_gap_ns: 1.0 / stream.rate(),
            groups: stream.groups,
            sizes: Strata::new(count, seeds.next()),
            gaps: Strata::new(count, seeds.next()),
            random: Random::new(seeds.next()),
            at: 0.0,
            next: None,
        };
        source.next = source.draw();
        source
    }

    fn draw(&mut self) -> Option<Job> {
        let (size, gap) = (self.sizes.next()?, self.gaps.next()?);
        self.at -= self.mean_gap_ns * (-gap).ln_1p();
        let group = (self.groups > 0).then(|| (self.random.part() * f64::from(self.groups)) as u32);
        let Self { queue, .. } = *self;
        let (at_ns, service_ns) = (self.at.round() as u64, self.service.quantile(size));
        Some(Job { at_ns, queue, service_ns, group, polls: None })
    }
}

impl Iterator for Arrivals {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        let due = |source: &&mut Source| source.next.map_or(u64::MAX, |job| job.at_ns);
        let source = self.sources.iter_mut().min_by_key(due)?;
        let job = source.next?;
        source.next = source.draw();
        Some(job)
    }
}

/// Streams that make no arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalsError {
    load: Option<f64>,
}

impl fmt::Display for ArrivalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.load {
            Some(load) => write!(f, "a load must be above 0, not {load}"),
            None => f.write_str("there is no stream of jobs"),
        }
    }
}

impl core::error::Error for ArrivalsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(queue: usize, load: f64, mean_ns: f64) -> Stream {
        Stream { queue, ..Stream::new(Service::exponential(mean_ns).unwrap(), load) }
    }

    #[test]
    fn streams_come_merged_in_order_and_end_together() {
        let streams = [stream(0, 0.3, 20_000.0), stream(1, 0.6, 400_000.0)];
        let jobs: Vec<Job> = Arrivals::new(&streams, 11_000, 5).unwrap().collect();
        assert!(jobs.is_sorted_by_key(|job| job.at_ns));
        let of = |queue| jobs.iter().filter(move |job| job.queue == queue);
        assert_eq!((of(0).count(), of(1).count()), (10_000, 1_000));
        for (queue, load) in [(0, 0.3), (1, 0.6)] {
            let work: u64 = of(queue).map(|job| job.service_ns).sum();
            let offered = work as f64 / of(queue).next_back().unwrap().at_ns as f64;
            assert!((offered / load - 1.0).abs() < 0.01, "{offered}");
        }
    }

    #[test]
    fn a_seed_repeats_the_jobs_and_another_does_not() {
        let draw = |seed| Arrivals::new(&[stream(0, 0.5, 1e4)], 100, seed).unwrap().collect::<Vec<_>>();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn groups_are_equally_likely() {
        let streams = [Stream { groups: 4, ..stream(0, 0.5, 1e4) }];
        let mut seen = [0; 4];
        for job in Arrivals::new(&streams, 10_000, 1).unwrap() {
            seen[job.group.unwrap() as usize] += 1;
        }
        assert!(seen.iter().all(|count| (2_300..2_700).contains(count)), "{seen:?}");
    }

    #[test]
    fn a_load_must_be_positive() {
        assert_eq!(Arrivals::new(&[], 1, 1).unwrap_err().to_string(), "there is no stream of jobs");
        for load in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::new(&[stream(0, load, 1e4)], 1, 1).is_err());
        }
    }
}
