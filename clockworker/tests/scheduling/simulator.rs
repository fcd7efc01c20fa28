//! The simulator of `clockworker-schedulers` does what the executor does: the same jobs end in the same order, at the
//! same nanosecond.

use std::cell::RefCell;
use std::time::Duration;

use clockworker::schedulers::{ArrivalFifo, FairGroups, Las, Qlas, RunnableFifo, Serpt, WokenFirst};
use clockworker::{Executor, Handle};
use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::{Arrivals, Boxed, Job, Queue, Service, Simulation, Stream};

use crate::support::VirtualTime;

/// The queues: share, request, longest poll, and how long jobs are. Together they ask for more than there is.
const QUEUES: [Settings; 3] = [
    Settings { name: "front", share: 3, request_ns: 60_000, quantum_ns: 7_000, load: 0.5, mean_ns: 20_000.0 },
    Settings {
        name: "back",
        share: 1,
        request_ns: 150_000,
        quantum_ns: 35_000,
        load: 0.4,
        mean_ns: 90_000.0,
    },
    Settings { name: "side", share: 2, request_ns: 20_000, quantum_ns: 11_000, load: 0.3, mean_ns: 15_000.0 },
];

#[derive(Clone, Copy)]
struct Settings {
    name: &'static str,
    share: u32,
    request_ns: u64,
    quantum_ns: u64,
    load: f64,
    mean_ns: f64,
}

/// From this length on, the executor times every poll. Of shorter ones it times some, which the simulator does not.
const TIMED_NS: u64 = 2_000;

/// When each job ended, in order of their ends: the queue, when it came, when it ended.
type Ends = Vec<(usize, u64, u64)>;

/// Jobs in so many groups, or each in a group of its own.
fn jobs(queues: usize, groups: u32, seed: u64) -> Vec<Job> {
    let stream = |(queue, settings): (usize, &Settings)| {
        let service = Service::exponential(settings.mean_ns).unwrap();
        Stream { queue, groups, ..Stream::new(service, settings.load) }
    };
    let streams: Vec<Stream> = QUEUES.iter().take(queues).enumerate().map(stream).collect();
    let long_enough = |job: Job| {
        let last_poll = job.service_ns % QUEUES[job.queue].quantum_ns;
        Job { service_ns: job.service_ns + TIMED_NS.saturating_sub(last_poll), ..job }
    };
    Arrivals::new(&streams, 500, seed).unwrap().map(long_enough).collect()
}

fn simulated(queues: usize, jobs: &[Job], policy: Policy) -> Ends {
    let queue = |settings: &Settings| {
        Queue::new(settings.name, policy.boxed())
            .share(Share::new(settings.share).unwrap())
            .request_ns(settings.request_ns)
            .quantum_ns(settings.quantum_ns)
    };
    let mut ends = Vec::new();
    Simulation::new(QUEUES[..queues].iter().map(queue))
        .run(jobs.iter().copied(), |done| ends.push((done.job.queue, done.job.at_ns, done.finished_ns)))
        .unwrap();
    ends
}

/// What the tasks of the real executor share. They are made on its thread, but by makers that may be sent.
struct World {
    sim: VirtualTime,
    handle: Handle,
    /// Those still to come, the last first.
    to_come: Vec<Job>,
    ends: Ends,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

fn world<T>(with: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(|world| with(world.as_mut().expect("it was made before any task")))
}

fn now_ns() -> u64 {
    world(|world| world.sim.now().as_nanos() as u64)
}

/// Spawns the jobs that are due, as another thread would.
fn admit() {
    let now = now_ns();
    while let Some((job, handle)) = world(|world| {
        let job = world.to_come.pop_if(|job| job.at_ns <= now)?;
        Some((job, world.handle.clone()))
    }) {
        let name = QUEUES[job.queue].name;
        drop(match job.group {
            Some(key) => handle.spawn_in(name, key.into(), move || work(job)),
            None => handle.spawn_on(name, move || work(job)),
        });
    }
}

/// A job, as a task.
async fn work(job: Job) {
    let mut left = job.service_ns;
    loop {
        let poll = left.min(QUEUES[job.queue].quantum_ns);
        left -= poll;
        world(|world| world.sim.clock().advance(Duration::from_nanos(poll)));
        admit();
        if left == 0 {
            let now = now_ns();
            return world(|world| world.ends.push((job.queue, job.at_ns, now)));
        }
        clockworker::yield_now().await;
    }
}

fn executed(queues: usize, jobs: &[Job], policy: Policy) -> Ends {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    QUEUES[..queues].iter().for_each(|settings| policy.create(&ex, settings));
    let to_come = jobs.iter().rev().copied().collect();
    let made = World { sim: sim.clone(), handle: ex.handle(), to_come, ends: Vec::new() };
    WORLD.with_borrow_mut(|world| *world = Some(made));
    while let Some(next) = world(|world| world.to_come.last().copied()) {
        let idle_until = Duration::from_nanos(next.at_ns);
        if sim.now() < idle_until {
            sim.clock().set(idle_until);
        }
        admit();
        sim.drain(&ex);
    }
    WORLD.take().expect("it was made").ends
}

#[derive(Clone, Copy, Debug)]
enum Policy {
    WokenFirst,
    RunnableFifo,
    ArrivalFifo,
    Las,
    Qlas,
    Serpt,
    FairGroups,
}

const POLICIES: [Policy; 7] = [
    Policy::WokenFirst,
    Policy::RunnableFifo,
    Policy::ArrivalFifo,
    Policy::Las,
    Policy::Qlas,
    Policy::Serpt,
    Policy::FairGroups,
];

impl Policy {
    fn boxed(self) -> Boxed {
        match self {
            Policy::WokenFirst => Boxed::new(WokenFirst::new()),
            Policy::RunnableFifo => Boxed::new(RunnableFifo::new()),
            Policy::ArrivalFifo => Boxed::new(ArrivalFifo::new()),
            Policy::Las => Boxed::new(Las::new()),
            Policy::Qlas => Boxed::new(Qlas::new()),
            Policy::Serpt => Boxed::new(Serpt::new()),
            Policy::FairGroups => Boxed::new(FairGroups::new()),
        }
    }

    fn create(self, ex: &Executor, settings: &Settings) {
        let queue = ex
            .new_queue(settings.name)
            .share(settings.share)
            .request(Duration::from_nanos(settings.request_ns));
        match self {
            Policy::WokenFirst => queue.create().unwrap(),
            Policy::RunnableFifo => queue.scheduler(RunnableFifo::new()).create().unwrap(),
            Policy::ArrivalFifo => queue.scheduler(ArrivalFifo::new()).create().unwrap(),
            Policy::Las => queue.scheduler(Las::new()).create().unwrap(),
            Policy::Qlas => queue.scheduler(Qlas::new()).create().unwrap(),
            Policy::Serpt => queue.scheduler(Serpt::new()).create().unwrap(),
            Policy::FairGroups => queue.scheduler(FairGroups::new()).create().unwrap(),
        };
    }
}

#[test]
fn jobs_of_one_queue_end_at_the_same_nanosecond() {
    for (policy, seed) in POLICIES.into_iter().zip(10..) {
        for groups in [0, 6] {
            assert_same(1, groups, policy, seed);
        }
    }
}

#[test]
fn jobs_of_three_queues_end_at_the_same_nanosecond() {
    for policy in POLICIES {
        for seed in 0..8 {
            assert_same(3, [0, 6][seed as usize % 2], policy, seed);
        }
    }
}

fn assert_same(queues: usize, groups: u32, policy: Policy, seed: u64) {
    let jobs = jobs(queues, groups, seed);
    let (simulated, executed) = (simulated(queues, &jobs, policy), executed(queues, &jobs, policy));
    let differs = simulated.iter().zip(&executed).position(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "{policy:?}, {groups} groups, seed {seed}");
    assert_eq!((simulated.len(), executed.len()), (jobs.len(), jobs.len()));
}
