//! The simulator: small runs to the nanosecond, and large ones against the formulas.

use std::cell::RefCell;
use std::rc::Rc;

use clockworker_schedulers::simulate::theory::{Discipline, MG1};
use clockworker_schedulers::simulate::{
    Arrivals, Boxed, Done, Job, POLICIES, Pause, Queue, Service, Simulation, SimulationError, Stream, Totals,
};
use clockworker_schedulers::{
    ClockUse, Deadline, FairGroups, FairTurns, Gone, Las, Priority, Qlas, Ready, RunnableFifo, Scheduler,
    Served, Share, Task, TaskId,
};

const EXPONENTIAL: &str = "exponential:mean=20us";
const BIMODAL: &str = "bimodal:short=10us,long=200us,part=0.05";
const CONSTANT: &str = "constant:size=20us";

fn job(at_ns: u64, queue: usize, service_ns: u64) -> Job {
    Job { at_ns, queue, service_ns, group: None, polls: None }
}

/// The sizes of the jobs and when they ended, in the order of their ends.
fn ends(simulation: Simulation, jobs: &[Job]) -> Vec<(u64, u64)> {
    let mut ends = Vec::new();
    let report = |done: Done| ends.push((done.job.service_ns, done.finished_ns));
    simulation.run(jobs.iter().copied(), report).unwrap();
    ends
}

fn one_queue(policy: Boxed, quantum_ns: u64) -> Simulation {
    Simulation::new([Queue::new("all", policy).quantum_ns(quantum_ns)])
}

#[test]
fn each_policy_has_its_order() {
    let jobs = [job(0, 0, 300), job(10, 0, 200), job(20, 0, 100)];
    let fifo = || Boxed::new(RunnableFifo::new());
    assert_eq!(ends(one_queue(fifo(), u64::MAX), &jobs), [(300, 300), (200, 500), (100, 600)]);
    // 300 (0–100), then turns of 200, 100, 300, 200, 300.
    assert_eq!(ends(one_queue(fifo(), 100), &jobs), [(100, 300), (200, 500), (300, 600)]);
    // At 100 the others have received nothing: they have 100 each, and 100 is done; then turns of the equal.
    let las = Boxed::new(Las::new().with_resolution_ns(1));
    assert_eq!(ends(one_queue(las, 100), &jobs), [(100, 300), (200, 500), (300, 600)]);
    // Level 0 ends at 128, after two polls of 100: it goes on with what it has begun.
    let qlas = Boxed::new(Qlas::new().with_base_ns(128));
    assert_eq!(ends(one_queue(qlas, 100), &jobs), [(200, 400), (100, 500), (300, 600)]);
}

#[test]
fn an_idle_thread_waits_for_the_next_job() {
    let jobs = [job(5, 0, 10), job(100, 0, 10), job(105, 0, 10)];
    let simulation = one_queue(Boxed::new(RunnableFifo::new()), 4);
    let totals = simulation.run(jobs, |_| ()).unwrap();
    assert_eq!(totals.ended_ns, 120);
    // Polls of 4, 4 and 2; the third job comes during the second's second poll.
    assert_eq!((totals.queues[0].busy_ns, totals.queues[0].polls, totals.queues[0].slices), (30, 9, 2));
}

#[test]
fn overhead_is_paid_by_every_poll() {
    // S + o·⌈S/q⌉ = 95 + 3·10.
    let simulation = one_queue(Boxed::new(RunnableFifo::new()), 10).overhead_ns(3);
    assert_eq!(ends(simulation, &[job(0, 0, 95)]), [(95, 125)]);
    // It counts as service: after one poll of 1 ns and 99 more, the first has had more than the second.
    let simulation = one_queue(Boxed::new(Las::new().with_resolution_ns(1)), 1).overhead_ns(99);
    assert_eq!(ends(simulation, &[job(0, 0, 2), job(50, 0, 1)]), [(1, 200), (2, 300)]);
}

fn shares(shares: [u32; 2]) -> Totals {
    let queue = |share: u32| {
        Queue::new("busy", Boxed::new(RunnableFifo::new()))
            .share(Share::new(share).unwrap())
            .request_ns(1_000)
            .quantum_ns(100)
            .endless(2)
    };
    let timer = Queue::new("timer", Boxed::new(RunnableFifo::new()));
    let queues = [queue(shares[0]), queue(shares[1]), timer];
    Simulation::new(queues).run([job(4_000_000, 2, 1)], |_| ()).unwrap()
}

#[test]
fn busy_queues_have_their_shares() {
    let totals = shares([3, 1]);
    let [ours, theirs] = [0, 1].map(|queue| totals.queues[queue].busy_ns);
    assert_eq!(ours + theirs + 1, totals.ended_ns);
    // Never off by more than a request and a poll.
    let owed = (ours + theirs) / 4 * 3;
    assert!(ours.abs_diff(owed) <= 1_100, "{ours} of {owed}");
}

#[test]
fn a_small_request_is_served_after_the_poll_under_way() {
    let run = |request_ns| {
        let back = Queue::new("back", Boxed::new(RunnableFifo::new())).quantum_ns(100).endless(1);
        let front = Queue::new("front", Boxed::new(RunnableFifo::new())).request_ns(request_ns);
        ends(Simulation::new([back, front]), &[job(10_050, 1, 20)])
    };
    assert_eq!(run(1_000), [(20, 10_120)]);
    // A request larger than the other's 500 µs has a later deadline: it waits until that one, begun at 0, is served.
    assert_eq!(run(600_000), [(20, 500_020)]);
}

#[test]
fn nothing_runs_in_a_pause() {
    let pause = |from_ns, until_ns| Pause { from_ns, until_ns };
    let pauses = [pause(120, 170), pause(400, 410), pause(990, 1_100), pause(1_105, 1_106)];
    let jobs = [job(0, 0, 100), job(50, 0, 100), job(60, 0, 10), job(1_050, 0, 10)];
    let simulation = one_queue(Boxed::new(RunnableFifo::new()), 1_000).pauses(pauses);
    // The first one comes late, after a poll, and is as long as it is; the second meets nobody; the third has begun when the job comes.
    assert_eq!(ends(simulation, &jobs), [(100, 100), (100, 200), (10, 260), (10, 1_110)]);
}

#[test]
fn a_job_may_have_polls_of_its_own() {
    let [first, second] = [(0, 100), (2, 50)].map(|(polls, ns)| Job { polls: Some(polls), ..job(0, 0, ns) });
    // 60 and 40; 30 and the 20 that no list has.
    let simulation = one_queue(Boxed::new(RunnableFifo::new()), 10).polls([60, 40, 30]);
    assert_eq!(ends(simulation, &[first, job(0, 0, 20), second]), [(100, 140), (20, 150), (50, 170)]);
}

#[test]
fn tenants_are_one_competitor_each() {
    // Under LAS by group: tenant 1 has had 100 before its second job and the other tenant's come.
    let job = |at_ns, service_ns, group| Job { at_ns, queue: 0, service_ns, group: Some(group), polls: None };
    let jobs = [job(0, 100, 1), job(50, 101, 1), job(60, 99, 2)];
    let simulation = one_queue(Boxed::new(Las::new().with_resolution_ns(1)), 1_000);
    assert_eq!(ends(simulation, &jobs), [(100, 100), (99, 199), (101, 300)]);
}

/// FIFO that writes down the calls it gets.
struct Diary(RunnableFifo, Rc<RefCell<Vec<String>>>);

impl Diary {
    fn note(&self, call: &str, task: Option<TaskId>) {
        let slot = task.map_or_else(|| "-".to_owned(), |id| id.slot().to_string());
        self.1.borrow_mut().push(format!("{call} {slot}"));
    }
}

impl Scheduler for Diary {
    fn push(&mut self, task: Task, why: Ready) {
        self.note(&format!("{why:?}"), Some(task.id));
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let popped = self.0.pop();
        self.note("pop", popped);
        popped
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let popped = self.0.push_pop(task);
        self.note(&format!("{} for", task.id.slot()), popped);
        popped
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        if let Served::Queue { .. } = served {
            panic!("it is not wanted");
        }
    }

    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(task) => self.note("finished", Some(task.id)),
            Gone::Group(group) => self.1.borrow_mut().push(format!("closed {}", group.index())),
            Gone::Backlog => self.note("drained", None),
        }
    }
}

/// What a scheduler is told of these jobs, in polls of at most 100 ns.
fn diary(jobs: &[Job]) -> Vec<String> {
    let calls = Rc::default();
    let policy = Boxed::new(Diary(RunnableFifo::new(), Rc::clone(&calls)));
    // The other queue ends slices, after 200 ns.
    let queue = Queue::new("noted", policy).quantum_ns(100).request_ns(200);
    let other =
        Queue::new("other", Boxed::new(RunnableFifo::new())).quantum_ns(100).request_ns(200).endless(1);
    ends(Simulation::new([queue, other]), jobs);
    calls.take()
}

#[test]
fn a_task_that_yielded_is_handed_back_with_the_next_pop_or_at_the_end_of_the_slice() {
    let calls = diary(&[job(0, 0, 400), job(10, 0, 100)]);
    let first = ["Spawned 0", "pop 0", "Spawned 1", "0 for 1", "finished 1", "closed 1", "pop 0"];
    assert_eq!(calls[..7], first);
    assert_eq!(calls[7..], ["0 for 0", "Yielded 0", "pop 0", "finished 0", "closed 0", "drained -"]);
}

#[test]
fn a_group_closes_when_its_last_job_ends() {
    let of_tenant = |at_ns, service_ns| Job { group: Some(7), ..job(at_ns, 0, service_ns) };
    let calls = diary(&[of_tenant(0, 100), of_tenant(50, 100), of_tenant(90, 100), of_tenant(5_000, 100)]);
    let ended: Vec<&str> = calls
        .iter()
        .map(|call| &**call)
        .filter(|call| call.starts_with("finished") || call.starts_with("closed"))
        .collect();
    // Groups and tasks share their numbers, as in the executor, and have the one that was freed last. Those that come from elsewhere during a poll come
    // after what ends with it.
    let first = ["finished 1", "closed 0"];
    let second = ["finished 1", "finished 2", "closed 0"];
    let third = ["finished 2", "closed 0"];
    assert_eq!(ended, [&first[..], &second, &third].concat());
    // A tenant that comes back under its key has attained what it had: its next job waits for all of another's.
    let jobs = [of_tenant(0, 500), Job { group: Some(8), ..job(600, 0, 300) }, of_tenant(600, 100)];
    let las = one_queue(Boxed::new(Las::new().with_resolution_ns(1)), 100);
    assert_eq!(ends(las, &jobs), [(500, 500), (300, 900), (100, 1_000)]);
}

/// FIFO that writes down what the clock reads.
struct Clocked(RunnableFifo, Rc<RefCell<Vec<u64>>>);

impl Scheduler for Clocked {
    const CLOCK: ClockUse = ClockUse::WhenRead;

    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }

    fn served(&mut self, served: Served, now_ns: u64) {
        if let Served::Queue { .. } = served {
            self.1.borrow_mut().push(now_ns);
        }
    }
}

#[test]
fn a_scheduler_that_wants_the_clock_hears_it_at_the_beginning_of_a_slice_and_after_polls() {
    let readings = Rc::default();
    let policy = Boxed::new(Clocked(RunnableFifo::new(), Rc::clone(&readings)));
    ends(one_queue(policy, 100), &[job(7, 0, 250)]);
    assert_eq!(readings.take(), [7, 107, 207, 257]);
}

/// Gives back what it was given, but for every hundredth task.
#[derive(Default)]
struct Forgetful(Vec<TaskId>, u32);

impl Scheduler for Forgetful {
    fn push(&mut self, task: Task, _why: Ready) {
        self.1 += 1;
        if !self.1.is_multiple_of(100) {
            self.0.push(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
}

#[test]
fn what_cannot_be_simulated_is_an_error() {
    let fifo = || one_queue(Boxed::new(RunnableFifo::new()), 10);
    let error =
        |simulation: Simulation, jobs: &[Job]| simulation.run(jobs.iter().copied(), |_| ()).unwrap_err();
    let out_of_order = SimulationError::OutOfOrder { at_ns: 7 };
    assert_eq!(error(fifo(), &[job(7, 0, 1), job(6, 0, 1)]), out_of_order);
    assert_eq!(error(fifo(), &[job(0, 1, 1)]), SimulationError::NoSuchQueue { queue: 1 });
    let forgetful = one_queue(Boxed::new(Forgetful::default()), 10);
    assert_eq!(error(forgetful, &[job(0, 0, 2_000)]), SimulationError::Policy { queue: 0 });
    let whole = one_queue(Boxed::new(RunnableFifo::new()), u64::MAX);
    assert_eq!(error(whole, &[job(u64::MAX - 10, 0, 11)]), SimulationError::TooLong);
    assert_eq!(fifo().run([], |_| ()).unwrap().ended_ns, 0);
}

#[test]
fn every_policy_of_the_crate_has_a_name() {
    let source = include_str!("../src/policies/mod.rs");
    let exported = source.lines().filter_map(|line| line.strip_prefix("pub use ")?.strip_suffix(";"));
    let names = exported.flat_map(|path| path.split(|c: char| !c.is_alphanumeric()));
    let names = names.filter(|name| name.starts_with(char::is_uppercase));
    let types: Vec<String> = POLICIES.iter().map(|policy| format!("{:?}", policy.make())).collect();
    let mut count = 0;
    // Jobs have no attributes, so those that heed them would be RunnableFifo by other names.
    for name in names.filter(|name| !["Deadline", "Late", "Priority"].contains(name)) {
        assert!(types.iter().any(|of| of.contains(&format!("::{name}"))), "{name} is not in {types:?}");
        count += 1;
    }
    assert_eq!(count, POLICIES.len());
}

#[test]
fn policies_that_heed_attributes_are_fifo_where_there_are_none() {
    let service: Service = EXPONENTIAL.parse().unwrap();
    let ends_under = |policy| {
        let jobs: Vec<Job> = Arrivals::new(&[Stream::new(service.clone(), 0.9)], 2_000, 7).unwrap().collect();
        ends(one_queue(policy, 5_000), &jobs)
    };
    let fifo = ends_under(Boxed::new(RunnableFifo::new()));
    assert_eq!(ends_under(Boxed::new(Priority::new())), fifo);
    assert_eq!(ends_under(Boxed::new(Deadline::new())), fifo);
}

#[test]
fn every_policy_by_name_finishes_every_job_and_the_same_way_each_time() {
    let service: Service = EXPONENTIAL.parse().unwrap();
    for policy in POLICIES {
        let run = || {
            let jobs = Arrivals::new(&[Stream::new(service.clone(), 0.9)], 2_000, 7).unwrap();
            let mut ends = Vec::new();
            let totals =
                one_queue(policy.make(), 5_000).run(jobs, |done| ends.push((done.job, done.finished_ns)));
            (ends, totals.unwrap())
        };
        let (ends, totals) = run();
        assert_eq!(ends.len(), 2_000, "{policy:?}");
        let work: u64 = ends.iter().map(|(job, _)| job.service_ns).sum();
        assert_eq!(totals.queues[0].busy_ns, work, "{policy:?}");
        assert_eq!(run(), (ends, totals), "{policy:?}");
    }
}

/// How far the mean response time is from the formula's, as a part of it. The seed makes it the same each time.
fn off_by(service: &str, load: f64, policy: Boxed, quantum_ns: u64, discipline: &Discipline) -> f64 {
    let service: Service = service.parse().unwrap();
    let wanted = MG1::new(service.clone(), load).unwrap().mean_response_ns(discipline);
    let jobs = Arrivals::new(&[Stream::new(service, load)], JOBS, 5).unwrap();
    let mut sum = 0.0;
    one_queue(policy, quantum_ns).run(jobs, |done| sum += done.response_ns() as f64).unwrap();
    sum / JOBS as f64 / wanted - 1.0
}

/// Few, so that it takes a second in a debug build. (`clockworker-simulate --theory` has a thousand times as many.)
const JOBS: u64 = 40_000;

#[test]
fn means_are_those_of_the_formulas() {
    let fifo = || Boxed::new(RunnableFifo::new());
    // The formulas know neither fair turns nor forgetting.
    let las = || {
        let las = Las::new().with_resolution_ns(512).without_half_life();
        Boxed::new(las.with_fair_turns(FairTurns::NEVER))
    };
    let qlas = || Boxed::new(Qlas::new().without_half_life().with_fair_turns(FairTurns::NEVER));
    let fair = || Boxed::new(FairGroups::new().with_quantum_ns(0));
    let levels = || Discipline::levels_of(&Qlas::new());
    // Polls of exponential jobs may be of any length.
    for (service, policy, quantum_ns, discipline) in [
        (EXPONENTIAL, fifo(), u64::MAX, Discipline::Fcfs),
        (EXPONENTIAL, fifo(), 8_192, Discipline::Ps),
        (EXPONENTIAL, las(), 8_192, Discipline::Las),
        (EXPONENTIAL, qlas(), 8_192, levels()),
        (BIMODAL, fifo(), u64::MAX, Discipline::Fcfs),
        (BIMODAL, fifo(), 1_024, Discipline::Ps),
        (BIMODAL, fair(), 1_024, Discipline::Ps),
        (BIMODAL, las(), 1_024, Discipline::Las),
        (BIMODAL, qlas(), 1_024, levels()),
        (CONSTANT, fifo(), u64::MAX, Discipline::Fcfs),
        (CONSTANT, qlas(), 1_024, levels()),
    ] {
        let off = off_by(service, 0.5, policy, quantum_ns, &discipline);
        assert!(off.abs() < 0.02, "{service}: off by {off}, {discipline:?}");
    }
}
