//! Every policy under the laws, with its documented order and its documented bound.

mod attributes;
mod las;
mod serpt;
mod turns_model;

use core::num::NonZeroU32;

use clockworker_schedulers::laws::{Candidate, Crowd, EqualService, Law, Laws, Moment, Report};
use clockworker_schedulers::{
    Attributes, FairGroups, FairTurns, Las, Qlas, Ready, RunnableFifo, Scheduler, Serpt, Served, Subject,
    Task, TaskId, WokenFirst,
};

use las::las_order;
use serpt::serpt_by_rank;
use turns_model::{fair, within};

const SEEDS: [u64; 3] = [1, 0xC10C_4B0A, u64::MAX];

/// Whether what was popped has the least `key` of all that was ready.
fn least<K: Ord>(moment: &Moment<'_>, key: impl Fn(&Candidate) -> K) -> bool {
    moment.ready.iter().map(&key).min() == Some(key(&moment.popped))
}

fn obeys<'a, S: Scheduler>(name: &str, laws: impl Fn() -> Laws<'a, S>) -> Report {
    let mut last = Report::default();
    for seed in SEEDS {
        last = laws().seed(seed).check().unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert!(last.pops > 10_000, "{name}: {last:?}");
    }
    last
}

/// A policy that hears of no end of a task or group: what comes after in its place has what it had.
struct Grudging<S>(S);

impl<S: Scheduler> Scheduler for Grudging<S> {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
    fn served(&mut self, served: Served, now_ns: u64) {
        self.0.served(served, now_ns);
    }
    fn said(&mut self, of: Subject, attributes: &Attributes) {
        if !matches!(of, Subject::Group(_)) {
            self.0.said(of, attributes);
        }
    }
}

#[test]
fn runnable_fifo() {
    obeys("RunnableFifo", || {
        Laws::new(RunnableFifo::new)
            .order(|moment| least(moment, |task| task.became_ready))
            .waits_at_most(|crowd| crowd.ready as u64)
    });
}

#[test]
fn woken_first() {
    obeys("WokenFirst", || Laws::new(WokenFirst::new).waits_at_most(|crowd| 32 * crowd.ready as u64));
}

/// One fair turn in so many, 0 for none.
fn turns(every: u32) -> FairTurns {
    NonZeroU32::new(every).map_or(FairTurns::NEVER, FairTurns::every)
}

fn las(every: u32, resolution_ns: u64) -> Laws<'static, Las> {
    let las = move || Las::new().without_half_life().with_resolution_ns(resolution_ns);
    Laws::new(move || las().with_fair_turns(turns(every)))
        .order(las_order(resolution_ns, every.into()))
        // At most all the ready tasks are ahead in its own group.
        .waits_at_most(move |crowd| within(crowd.groups * crowd.ready, every.into(), crowd))
}

/// The level of a group, from the definition: the number of thresholds base, 2·base, 4·base ... that it has passed.
fn level(attained_ns: u64) -> usize {
    (0..50).filter(|doublings| attained_ns >= 16_384 << doublings).count()
}

fn qlas(every: u32) -> Laws<'static, Qlas> {
    let fair = fair(every);
    Laws::new(move || Qlas::new().without_half_life().with_fair_turns(turns(every)))
        .order(move |moment| fair(moment) || least(moment, |task| level(task.attained_ns)))
        .waits_at_most(move |crowd| within(51 * crowd.ready, every.into(), crowd))
}

/// At most 51 levels, with all ready tasks ahead in one, and the first of them passed over once.
fn serpt(every: u32) -> Laws<'static, Serpt> {
    Laws::new(move || Serpt::new().with_fair_turns(turns(every)))
        .waits_at_most(move |crowd| within(51 * (crowd.ready + 1), every.into(), crowd))
}

/// One that learns fast, so that ranks change while tasks wait.
fn fast_serpt(every: u32) -> Serpt {
    let serpt = Serpt::new().without_half_life().with_base_ns(1_024);
    serpt.with_memory(NonZeroU32::MIN).with_fair_turns(turns(every))
}

#[test]
fn one_pop_in_32_is_a_fair_turn_and_the_others_are_in_order() {
    obeys("Las", || las(32, 1_024));
    obeys("Las to the nanosecond", || las(32, 1).steps(4_000));
    obeys("Las to the second", || las(32, 1 << 30).steps(4_000));
    obeys("Las to the nanosecond, every other", || las(2, 1).steps(4_000));
    obeys("Qlas", || qlas(32));
    obeys("Serpt", || serpt(32));
    serpt_by_rank(|| fast_serpt(32), fair(32));
}

#[test]
fn strict_orders_have_no_exceptions() {
    obeys("strict Las", || las(0, 1_024).may_starve().steps(4_000));
    obeys("strict Qlas", || qlas(0).may_starve().steps(4_000));
    serpt_by_rank(|| fast_serpt(0), |_| false);
}

#[test]
fn fair_turns_all_the_time_keep_every_other_law() {
    let groups = |crowd: Crowd| (crowd.groups * crowd.ready) as u64;
    obeys("Las, always fair", || las(1, 1_024).steps(4_000).waits_at_most(groups));
    let levels = |crowd: Crowd| 51 * crowd.ready as u64;
    obeys("Qlas, always fair", || qlas(1).steps(4_000).waits_at_most(levels));
    let passed_over = |crowd: Crowd| 51 * (crowd.ready + 1) as u64;
    obeys("Serpt, always fair", || serpt(1).steps(4_000).waits_at_most(passed_over));
}

/// A half-life of a millisecond, so that thousands pass while tasks wait.
#[test]
fn forgetting_keeps_every_law_but_the_order() {
    obeys("Las that forgets", || {
        Laws::new(|| Las::new().with_half_life_ns(0))
            .waits_at_most(|crowd| within(crowd.groups * crowd.ready, 32, crowd))
    });
    obeys("Qlas that forgets", || {
        Laws::new(|| Qlas::new().with_half_life_ns(0))
            .waits_at_most(|crowd| within(64 * crowd.ready, 32, crowd))
    });
    obeys("Serpt that forgets", || {
        Laws::new(|| Serpt::new().with_half_life_ns(0).with_memory(NonZeroU32::MIN))
            .waits_at_most(|crowd| within(64 * (crowd.ready + 1), 32, crowd))
    });
}

/// Every other nanosecond goes to fair turns, so the bounds are short enough for the loads to break them.
#[test]
fn waits_are_bounded_in_service() {
    let las = |every| Las::new().with_fair_turns(turns(every));
    let qlas = |every| Qlas::new().with_fair_turns(turns(every));
    let serpt = |every| Serpt::new().with_fair_turns(turns(every));
    let las_waits = |crowd: Crowd| within(crowd.groups * crowd.ready, 2, crowd);
    let levels_waits = |levels: usize| move |crowd: Crowd| within(levels * (crowd.ready + 1), 2, crowd);
    obeys("Las, every other", || Laws::new(|| las(2)).waits_at_most(las_waits));
    obeys("Qlas, every other", || {
        Laws::new(|| qlas(2)).waits_at_most(|crowd| within(51 * crowd.ready, 2, crowd))
    });
    obeys("Serpt, every other", || Laws::new(|| serpt(2)).waits_at_most(levels_waits(51)));
    // The one that starves has its group and its level to itself.
    let alone_in_its_group = |crowd: Crowd| within(crowd.groups, 2, crowd);
    let starved = [
        Laws::new(|| las(0)).steps(100_000).waits_at_most(alone_in_its_group).check(),
        Laws::new(|| qlas(0)).steps(100_000).waits_at_most(levels_waits(3)).check(),
        Laws::new(|| serpt(0)).steps(100_000).waits_at_most(levels_waits(3)).check(),
    ];
    assert_eq!(starved.map(|check| check.unwrap_err().law()), [Law::BoundedWait; 3]);
}

#[test]
fn fair_groups() {
    obeys("FairGroups", || Laws::new(FairGroups::new));
    obeys("FairGroups, compared after each poll", || Laws::new(|| FairGroups::new().with_quantum_ns(0)));
    obeys("FairGroups, hardly ever compared", || {
        Laws::new(|| FairGroups::new().with_quantum_ns(1_000_000)).steps(4_000)
    });
}

/// Two groups of weight 1 differ by the quantum, a poll and the burst of each at most, at once.
#[test]
fn fair_groups_serve_equally_from_any_history() {
    for (seed, others) in [(1, 0), (2, 3), (3, 12)] {
        for (quantum_ns, burst_ns) in [(0, 0), (16_384, 0), (1_000_000, 0), (0, 300_000), (16_384, 100_000)] {
            let make = || FairGroups::new().with_quantum_ns(quantum_ns).with_burst_ns(burst_ns);
            let bound_ns = 2 * (quantum_ns + 100_000 + burst_ns);
            let law = EqualService::new(make, bound_ns).history_ns(300_000_000);
            let report = law.seed(seed).others(others).check().unwrap_or_else(|unequal| panic!("{unequal}"));
            assert_eq!(report.settled_after_ns, 0);
            assert!(report.greatest_difference_ns >= 100_000, "the bound is not idle: {report:?}");
        }
    }
}

/// What is stated of the policies that forget: from two half-lives on, the service of two groups that always have work differs by a
/// 64th of a half-life and a poll for each half-life of the stretch at most, and by one of these more.
#[test]
fn what_groups_did_before_is_forgotten_within_two_half_lives() {
    const HALF_LIFE_NS: u64 = 20_000_000;
    const POLL_NS: u64 = 100_000;
    fn law<S: Scheduler>(make: impl Fn() -> S + 'static) -> EqualService<'static, S> {
        // The stretches last for up to 2 half-lives and 1,000 polls, of which 5 half-lives are made.
        let bound_ns = (2 + 5 + 1) * (HALF_LIFE_NS / 64 + POLL_NS);
        let law = EqualService::new(make, bound_ns).longest_poll_ns(POLL_NS);
        law.settles_within_ns(2 * HALF_LIFE_NS).history_ns(10 * HALF_LIFE_NS)
    }
    fn holds<S: Scheduler + 'static>(name: &str, make: fn() -> S) {
        for others in [0, 4] {
            let report = law(make).others(others).check();
            report.unwrap_or_else(|unequal| panic!("{name} beside {others}: {unequal}"));
        }
    }
    holds("Las", || Las::new().with_half_life_ns(HALF_LIFE_NS));
    holds("Qlas", || Qlas::new().with_half_life_ns(HALF_LIFE_NS));
    holds("Serpt", || Serpt::new().with_half_life_ns(HALF_LIFE_NS));
    assert!(law(|| Las::new().without_half_life()).check().is_err());
    assert!(law(|| Qlas::new().without_half_life()).check().is_err());
    assert!(law(|| Serpt::new().without_half_life()).check().is_err());
    // A half-life that is longer than the histories is none.
    assert!(law(|| Las::new().with_half_life_ns(100 * HALF_LIFE_NS)).check().is_err());
}

#[test]
fn service_that_outlives_its_group_is_caught() {
    let laws = Laws::new(|| Grudging(Las::new().without_half_life())).order(las_order(1_024, 32));
    assert_eq!(laws.check().unwrap_err().law(), Law::Order);
}
