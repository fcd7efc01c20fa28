//! The simulator of `clockworker-schedulers` does what the executor does: the same jobs end in the same order, at the
//! same nanosecond.

use std::cell::RefCell;
use std::time::Duration;

use clockworker::Handle;
use clockworker::schedulers::{FairGroups, Las, Qlas, RunnableFifo, Serpt, WokenFirst};
use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::{Arrivals, Boxed, Job, Queue, Service, Simulation, Stream};
use clockworker_testing::policy::Policy;

use crate::support::*;

#[derive(Clone, Copy)]
struct Settings {
    name: &'static str,
    share: u32,
    request_ns: u64,
    /// The longest poll.
    quantum_ns: u64,
    load: f64,
    /// How long jobs are.
    mean_ns: f64,
}

/// The queues, which together ask for more than there is.
const QUEUES: [Settings; 3] = [
    Settings { name: "front", share: 3, request_ns: 60_000, quantum_ns: 7_000, load: 0.5, mean_ns: 20e3 },
    Settings { name: "back", share: 1, request_ns: 150_000, quantum_ns: 35_000, load: 0.4, mean_ns: 90e3 },
    Settings { name: "side", share: 2, request_ns: 20_000, quantum_ns: 11_000, load: 0.3, mean_ns: 15e3 },
];

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

fn boxed(policy: Policy) -> Boxed {
    match policy {
        Policy::WokenFirst => Boxed::new(WokenFirst::new()),
        Policy::RunnableFifo => Boxed::new(RunnableFifo::new()),
        Policy::Las => Boxed::new(Las::new()),
        Policy::Qlas => Boxed::new(Qlas::new()),
        Policy::Serpt => Boxed::new(Serpt::new()),
        Policy::FairGroups => Boxed::new(FairGroups::new()),
    }
}

fn simulated(queues: usize, jobs: &[Job], policy: Policy) -> Ends {
    let queue = |settings: &Settings| {
        Queue::new(settings.name, boxed(policy))
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

thread_local! {
    /// Those still to come, the last first.
    static TO_COME: RefCell<Vec<Job>> = const { RefCell::new(Vec::new()) };
    static ENDS: RefCell<Ends> = const { RefCell::new(Vec::new()) };
}

fn now_ns() -> u64 {
    now().as_nanos() as u64
}

/// Spawns the jobs that are due, as another thread would.
fn admit(handle: &Handle) {
    let due = |job: &mut Job| job.at_ns <= now_ns();
    while let Some(job) = TO_COME.with_borrow_mut(|jobs| jobs.pop_if(due)) {
        let (name, inner) = (QUEUES[job.queue].name, handle.clone());
        drop(match job.group {
            Some(key) => handle.spawn_in(name, key.into(), move || perform(job, inner)),
            None => handle.spawn_on(name, move || perform(job, inner)),
        });
    }
}

/// A job, as a task.
async fn perform(job: Job, handle: Handle) {
    let mut left = job.service_ns;
    loop {
        let poll = left.min(QUEUES[job.queue].quantum_ns);
        left -= poll;
        work(Duration::from_nanos(poll));
        admit(&handle);
        if left == 0 {
            return ENDS.with_borrow_mut(|ends| ends.push((job.queue, job.at_ns, now_ns())));
        }
        clockworker::yield_now().await;
    }
}

fn executed(queues: usize, jobs: &[Job], policy: Policy) -> Ends {
    let ex = world();
    for settings in &QUEUES[..queues] {
        let request = Duration::from_nanos(settings.request_ns);
        policy.create(ex.new_queue(settings.name).share(settings.share).request(request)).unwrap();
    }
    TO_COME.set(jobs.iter().rev().copied().collect());
    while let Some(next) = TO_COME.with_borrow(|jobs| jobs.last().copied()) {
        let idle_until = Duration::from_nanos(next.at_ns);
        if now() < idle_until {
            time().clock().set(idle_until);
        }
        admit(&ex.handle());
        drain(&ex);
    }
    ENDS.take()
}

fn assert_same(queues: usize, groups: u32, policy: Policy, seed: u64) {
    let jobs = jobs(queues, groups, seed);
    let (simulated, executed) = (simulated(queues, &jobs, policy), executed(queues, &jobs, policy));
    let differs = simulated.iter().zip(&executed).position(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "{policy:?}, {groups} groups, seed {seed}");
    assert_eq!((simulated.len(), executed.len()), (jobs.len(), jobs.len()));
}

#[test]
fn jobs_of_one_queue_end_at_the_same_nanosecond() {
    for (&policy, seed) in Policy::ALL.iter().zip(10..) {
        [0, 6].into_iter().for_each(|groups| assert_same(1, groups, policy, seed));
    }
}

#[test]
fn jobs_of_three_queues_end_at_the_same_nanosecond() {
    for &policy in Policy::ALL {
        (0..8).for_each(|seed| assert_same(3, [0, 6][seed as usize % 2], policy, seed));
    }
}
