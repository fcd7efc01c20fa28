//! What is run: the options, checked and made complete.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::{
    Arrivals, Classes, Done, Job, Outcome, POLICIES, Pause, Policy, Queue, Service, Stream,
};
use serde::Serialize;

use crate::options::Options;
use crate::per_queue::{Load, PerQueue};
use crate::queue_spec::QueueSpec;
use crate::stability::{Demand, are_stable};
use crate::target::Target;
use crate::trace::{MAX_GROUPS, Trace};

/// Runs that random jobs are divided among, so that there is a standard error.
const REPLICATIONS: u64 = 10;

/// Sizes by which the polls of a job are counted.
const SIZES: u64 = 10_000;

/// Service times, loads and polls of a queue that says nothing else.
const DEFAULT_SERVICE: &str = "exponential:mean=20us";
const DEFAULT_LOAD: f64 = 0.7;
const DEFAULT_QUANTUM_NS: u64 = 20_000;
/// As the executor has it.
const DEFAULT_REQUEST_NS: u64 = 500_000;

/// What is run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The queues, in the order in which jobs refer to them.
    pub(crate) queues: Vec<PlannedQueue>,
    /// The combinations to try.
    pub(crate) cases: Vec<Case>,
    /// Where jobs come from.
    pub(crate) source: Source,
    /// What each poll takes besides its work.
    pub(crate) overhead_ns: u64,
    /// What is to be met, with the place of its queue.
    pub(crate) targets: Vec<(usize, Target)>,
    /// Where every random choice starts.
    pub(crate) seed: u64,
}

/// A queue, but for what is to be tried.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlannedQueue {
    pub(crate) name: String,
    /// What comes to it, for people.
    pub(crate) load: String,
    /// What it asks for per turn.
    pub(crate) request_ns: u64,
    /// Its longest poll.
    pub(crate) quantum_ns: u64,
    /// Whether it always has work, and nothing else.
    #[serde(skip)]
    busy: bool,
    /// How its jobs are reported.
    #[serde(skip)]
    classes: Classes,
}

/// One combination: of each queue, its share and scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) shares: Vec<Share>,
    pub(crate) policies: Vec<Policy>,
}

/// Where jobs come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// At random: so many in all.
    Random {
        /// Of each queue that is not busy.
        streams: Vec<Stream>,
        /// In all.
        jobs: u64,
    },
    /// From a file.
    Trace(Trace),
}

impl Plan {
    /// What the options ask for.
    pub(crate) fn of(options: &Options) -> anyhow::Result<Self> {
        let specs = match &options.queues[..] {
            [] => vec![QueueSpec::only()],
            specs => specs.to_vec(),
        };
        check_names(options, &specs)?;
        let source = match &options.trace {
            Some(path) => Source::Trace(read_trace(path, options, &specs)?),
            None => random(options, &specs)?,
        };
        let queues = specs.iter().enumerate().map(|(place, spec)| planned(options, spec, place, &source));
        Ok(Self {
            queues: queues.collect::<Result<_, _>>()?,
            cases: cases(options, &specs)?,
            overhead_ns: options.overhead.0,
            targets: targets(options, &specs)?,
            seed: options.seed,
            source,
        })
    }

    /// How many runs each case is divided into.
    pub(crate) fn replications(&self) -> u64 {
        match self.source {
            Source::Random { .. } => REPLICATIONS,
            Source::Trace(_) => 1,
        }
    }

    /// The jobs of one run: the same for every case.
    pub(crate) fn jobs(&self, replication: u64) -> anyhow::Result<Box<dyn Iterator<Item = Job> + '_>> {
        Ok(match &self.source {
            Source::Random { streams, jobs } => {
                let seed = replication_seed(self.seed, replication);
                Box::new(Arrivals::new(streams, jobs / REPLICATIONS, seed)?)
            }
            Source::Trace(trace) => Box::new(trace.jobs.iter().copied()),
        })
    }

    fn trace(&self) -> Option<&Trace> {
        match &self.source {
            Source::Random { .. } => None,
            Source::Trace(trace) => Some(trace),
        }
    }

    /// How long polls are of the jobs that refer to them.
    pub(crate) fn polls(&self) -> &[u64] {
        self.trace().map_or(&[], |trace| &trace.polls)
    }

    /// How many polls a job of a trace had; 1 where it does not say.
    pub(crate) fn polls_of(&self, job: &Job) -> u64 {
        let lengths = job.polls.map_or(&[][..], |first| &self.polls()[first..]);
        let before =
            lengths.iter().scan(0, |done_ns, length| Some(std::mem::replace(done_ns, *done_ns + length)));
        (before.take_while(|done_ns| *done_ns < job.service_ns).count() as u64).max(1)
    }

    /// The times when nothing runs.
    pub(crate) fn pauses(&self) -> &[Pause] {
        self.trace().map_or(&[], |trace| &trace.pauses)
    }

    /// How the jobs went when they were recorded.
    pub(crate) fn measured(&self) -> &[Done] {
        self.trace().map_or(&[], |trace| &trace.measured)
    }

    /// By queue, whether its jobs ask for less than it is left in one case. Of those of a trace, which ends, nothing is known.
    pub(crate) fn are_stable(&self, case: &Case) -> Vec<bool> {
        let Source::Random { streams, .. } = &self.source else { return vec![true; self.queues.len()] };
        let demand =
            |(place, queue): (usize, &PlannedQueue)| match streams.iter().find(|of| of.queue == place) {
                Some(stream) => Demand::Part(stream.load * self.with_overhead(stream, queue.quantum_ns)),
                None if queue.busy => Demand::Endless,
                None => Demand::Part(0.0),
            };
        let demands = self.queues.iter().enumerate().map(demand);
        are_stable(&case.shares.iter().copied().zip(demands).collect::<Vec<_>>())
    }

    /// By how much what polls take besides their work makes jobs longer.
    fn with_overhead(&self, stream: &Stream, quantum_ns: u64) -> f64 {
        let polls = |at: u64| stream.service.quantile((at as f64 + 0.5) / SIZES as f64).div_ceil(quantum_ns);
        let mean_polls = (0..SIZES).map(polls).sum::<u64>() as f64 / SIZES as f64;
        1.0 + mean_polls * self.overhead_ns as f64 / stream.service.mean_ns()
    }

    /// An outcome for each queue, of no jobs yet.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        self.queues.iter().map(|queue| Outcome::new(queue.classes.clone())).collect()
    }

    /// The queues of one case, empty.
    pub(crate) fn make_queues(&self, case: &Case) -> Vec<Queue> {
        let make = |((queue, share), policy): ((&PlannedQueue, &Share), &Policy)| {
            Queue::new(&*queue.name, policy.make())
                .share(*share)
                .request_ns(queue.request_ns)
                .quantum_ns(queue.quantum_ns)
                .endless(u32::from(queue.busy))
        };
        self.queues.iter().zip(&case.shares).zip(&case.policies).map(make).collect()
    }
}

/// The seed of one run: no two runs of one seed share it, nor those of the next million seeds.
pub(crate) fn replication_seed(seed: u64, replication: u64) -> u64 {
    seed.wrapping_mul(1 << 20).wrapping_add(replication)
}

fn check_names(options: &Options, specs: &[QueueSpec]) -> anyhow::Result<()> {
    for (place, spec) in specs.iter().enumerate() {
        if specs[..place].iter().any(|before| before.name == spec.name) {
            bail!("there are two queues '{}'", spec.name);
        }
    }
    let services = options.service.iter().filter_map(|value| value.queue.as_deref());
    let loads = options.load.iter().filter_map(|value| value.queue.as_deref());
    let quanta = options.quantum.iter().filter_map(|value| value.queue.as_deref());
    let groups = options.groups.iter().filter_map(|value| value.queue.as_deref());
    let mut named = services.chain(loads).chain(quanta).chain(groups);
    match named.find(|name| specs.iter().all(|spec| spec.name != *name)) {
        Some(name) => Err(unknown_queue(name, specs)),
        None => Ok(()),
    }
}

fn unknown_queue(name: &str, specs: &[QueueSpec]) -> anyhow::Error {
    let names: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
    anyhow!("there is no queue '{name}'; there are {}", names.join(", "))
}

/// The streams of the queues that are not busy.
fn random(options: &Options, specs: &[QueueSpec]) -> anyhow::Result<Source> {
    let mut streams = Vec::new();
    for (queue, spec) in specs.iter().enumerate() {
        if let Load::Part(load) = load_of(options, spec) {
            let groups = PerQueue::of(&options.groups, &spec.name).unwrap_or(0);
            ensure!(groups <= MAX_GROUPS, "there may be at most {MAX_GROUPS} groups, not {groups}");
            streams.push(Stream { queue, load, groups, ..Stream::new(service_of(options, spec)?, load) });
        }
    }
    ensure!(!streams.is_empty(), "every queue is busy: no jobs come, so there is nothing to tell");
    // Every run has as many.
    Ok(Source::Random { streams, jobs: options.jobs / REPLICATIONS * REPLICATIONS })
}

fn load_of(options: &Options, spec: &QueueSpec) -> Load {
    PerQueue::of(&options.load, &spec.name).unwrap_or(Load::Part(DEFAULT_LOAD))
}

fn service_of(options: &Options, spec: &QueueSpec) -> anyhow::Result<Service> {
    let given = PerQueue::of(&options.service, &spec.name);
    Ok(given.map_or_else(|| DEFAULT_SERVICE.parse(), Ok)?)
}

fn read_trace(path: &Path, options: &Options, specs: &[QueueSpec]) -> anyhow::Result<Trace> {
    let part = |load: &PerQueue<Load>| match load.value {
        Load::Part(part) => Some(part),
        Load::Busy => None,
    };
    let of_a_queue = |load: &PerQueue<Load>| load.queue.is_some() && part(load).is_some();
    ensure!(
        !options.load.iter().any(of_a_queue),
        "the jobs of a trace have one load, not one for each queue"
    );
    let names: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
    let trace = File::open(path).map_err(anyhow::Error::from).and_then(|file| Trace::read(file, &names));
    let trace = trace.with_context(|| format!("trace '{}'", path.display()))?;
    Ok(match options.load.iter().rev().find_map(part) {
        Some(load) => trace.at_load(load),
        None => trace,
    })
}

fn planned(
    options: &Options,
    spec: &QueueSpec,
    place: usize,
    source: &Source,
) -> anyhow::Result<PlannedQueue> {
    let busy = PerQueue::of(&options.load, &spec.name) == Some(Load::Busy);
    let (load, classes) = match source {
        _ if busy => ("always busy".to_owned(), Classes::at([])),
        Source::Random { streams, .. } => match streams.iter().find(|stream| stream.queue == place) {
            Some(stream) => {
                (format!("load {}, {}", stream.load, stream.service), Classes::of(&stream.service))
            }
            None => ("nothing".to_owned(), Classes::at([])),
        },
        Source::Trace(trace) => described(trace, place),
    };
    let quantum_ns = PerQueue::of(&options.quantum, &spec.name).map_or(DEFAULT_QUANTUM_NS, |time| time.0);
    ensure!(quantum_ns > 0, "a quantum must be more than 0");
    let request_ns = spec.request.map_or(DEFAULT_REQUEST_NS, |time| time.0);
    ensure!(request_ns > 0, "a queue's request must be more than 0");
    Ok(PlannedQueue { name: spec.name.clone(), request_ns, quantum_ns, load, busy, classes })
}

/// What a trace sends to one queue.
fn described(trace: &Trace, place: usize) -> (String, Classes) {
    let of_queue = trace.jobs.iter().filter(|job| job.queue == place);
    match Service::sample(of_queue.map(|job| job.service_ns)) {
        Ok(service) => {
            let jobs = trace.jobs.iter().filter(|job| job.queue == place).count() as f64;
            let span = trace.jobs.last().map_or(0, |job| job.at_ns) as f64;
            let load = if span > 0.0 { jobs * service.mean_ns() / span } else { f64::INFINITY };
            (format!("load {load:.3}, {service}"), Classes::of(&service))
        }
        Err(_) => ("nothing".to_owned(), Classes::at([])),
    }
}

/// All shares to try, times all schedulers to try.
fn cases(options: &Options, specs: &[QueueSpec]) -> anyhow::Result<Vec<Case>> {
    let shares: Vec<Vec<Share>> = match &options.shares[..] {
        [] => vec![specs.iter().map(|spec| spec.share).collect()],
        given => given.iter().map(|shares| shares.0.clone()).collect(),
    };
    if let Some(wrong) = shares.iter().find(|shares| shares.len() != specs.len()) {
        bail!("there are {} shares for {} queues", wrong.len(), specs.len());
    }
    let tried: Vec<Policy> = match &options.schedulers[..] {
        _ if specs.iter().all(|spec| spec.scheduler.is_some()) => POLICIES[..1].to_vec(),
        [] => POLICIES.to_vec(),
        given => given.to_vec(),
    };
    let case = |shares: &Vec<Share>, tried: Policy| Case {
        shares: shares.clone(),
        policies: specs.iter().map(|spec| spec.scheduler.unwrap_or(tried)).collect(),
    };
    Ok(shares.iter().flat_map(|shares| tried.iter().map(move |tried| case(shares, *tried))).collect())
}

/// The targets, with the places of their queues.
fn targets(options: &Options, specs: &[QueueSpec]) -> anyhow::Result<Vec<(usize, Target)>> {
    let placed = |target: &Target| {
        let name = target.queue.as_deref();
        let place = name.map_or(Some(0), |name| specs.iter().position(|spec| spec.name == name));
        let place = place.ok_or_else(|| unknown_queue(name.unwrap_or_default(), specs))?;
        Ok((place, target.clone()))
    };
    options.target.iter().map(placed).collect()
}
