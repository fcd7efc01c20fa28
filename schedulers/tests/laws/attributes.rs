//! The policies that heed attributes under the laws: groups and tasks have some, and the clock is told.

use core::cell::{Cell, RefCell};
use core::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;

use clockworker_schedulers::laws::{Candidate, Law, Laws, Moment};
use clockworker_schedulers::{
    Attributes, ClockUse, Deadline, FairTurns, Gone, GroupId, Late, Priority, Ready, Scheduler, Served,
    Subject, Task, TaskId,
};

use super::{Grudging, SEEDS, least, obeys};

/// Every group has attributes, by its index.
fn of_group(group: GroupId) -> Attributes {
    let index = group.index() as u64;
    let attributes = Attributes::new().with_priority((index % 5) as i8 - 2);
    if index.is_multiple_of(3) { attributes } else { attributes.with_deadline_ns(1_000_000 * index) }
}

/// Every third task has some of its own, of which most say of a priority and a deadline. Those of later tasks are later, in the main.
fn of_task(id: TaskId) -> Option<Attributes> {
    let (slot, generation) = (id.slot() as u64, u64::from(id.generation()));
    if !(slot + generation).is_multiple_of(3) {
        return None;
    }
    let attributes = match slot % 5 {
        4 => Attributes::new(),
        _ => Attributes::new().with_priority((slot * 7 + generation) as u8 as i8),
    };
    let due_ns = 300_000 * generation + 70_000 * (slot % 8);
    Some(if slot == 1 { attributes } else { attributes.with_deadline_ns(due_ns) })
}

fn priority(task: &Candidate) -> i8 {
    of_task(task.id).and_then(|own| own.priority).or(of_group(task.group).priority).unwrap_or_default()
}

fn deadline_ns(task: &Candidate) -> Option<u64> {
    of_task(task.id).and_then(|own| own.deadline_ns).or(of_group(task.group).deadline_ns)
}

/// A policy that is told of attributes and of the clock, as an executor tells it.
struct Told<S> {
    policy: S,
    open: HashSet<GroupId>,
    /// What the clock reads: all the service so far.
    now_ns: Rc<Cell<u64>>,
    /// Whether it hears of the length of polls.
    hears_time: bool,
}

impl<S> Told<S> {
    fn new(policy: S) -> Self {
        Self { policy, open: HashSet::new(), now_ns: Rc::default(), hears_time: true }
    }

    /// For it, all polls are alike.
    fn deaf(policy: S) -> Self {
        Self { hears_time: false, ..Self::new(policy) }
    }
}

impl<S: Scheduler> Scheduler for Told<S> {
    const CLOCK: ClockUse = ClockUse::WhenRead;

    fn push(&mut self, task: Task, why: Ready) {
        if self.open.insert(task.group) {
            let group = Subject::NewGroup { group: task.group, key: 0 };
            self.policy.said(group, &of_group(task.group));
        }
        if let (Ready::Spawned, Some(own)) = (why, of_task(task.id)) {
            self.policy.said(Subject::Task(task), &own);
        }
        self.policy.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.policy.pop()
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.policy.push_pop(task)
    }

    fn served(&mut self, served: Served, now_ns: u64) {
        self.now_ns.set(now_ns);
        let served = if self.hears_time { served } else { Served::Queue { ns: 0 } };
        self.policy.served(served, now_ns);
    }

    fn gone(&mut self, gone: Gone) {
        if let Gone::Group(group) = gone {
            self.open.remove(&group);
        }
        self.policy.gone(gone);
    }
}

/// The law that the pop is the first in order; or, in each `every`th pop in a row that passes over another of `list_of`, the
/// first by `turn`.
fn with_turns<L: Ord, T: Ord>(
    every: u64,
    key: fn(&Candidate) -> (L, u64),
    list: fn(&Candidate) -> L,
    turn: fn(&Candidate) -> T,
) -> impl Fn(&Moment<'_>) -> bool {
    let passed = Cell::new(0);
    move |moment| {
        if moment.pops == 1 {
            passed.set(0); // another load, a fresh policy
        }
        let first = moment.ready.iter().min_by_key(|task| key(task)).map(list);
        let passes = moment.ready.iter().any(|task| first != Some(list(task)));
        passed.set(if passes { passed.get() + 1 } else { 0 });
        if every > 0 && passed.get() == every {
            passed.set(0);
            return least(moment, turn);
        }
        least(moment, key)
    }
}

fn by_level(every: u64) -> impl Fn(&Moment<'_>) -> bool {
    let level = |task: &Candidate| Reverse(priority(task));
    with_turns(every, |task| (Reverse(priority(task)), task.became_ready), level, |task| task.became_ready)
}

#[test]
fn priority_by_level_with_fair_turns() {
    let report = obeys("Priority", || {
        Laws::new(|| Told::deaf(Priority::new()))
            .order(by_level(32))
            .waits_at_most(|crowd| 32 * crowd.ready as u64)
    });
    assert!(report.longest_wait > 100, "the loads must make some wait: {report:?}");
    obeys("Priority, paid by time", || {
        Laws::new(|| Told::new(Priority::new())).waits_at_most(|crowd| 1_024 * 32 * crowd.ready as u64)
    });
}

#[test]
fn strict_priority_by_level_always() {
    let strict = || Told::new(Priority::new().with_fair_turns(FairTurns::NEVER));
    obeys("strict Priority", || Laws::new(strict).may_starve().steps(4_000).order(by_level(0)));
    assert_eq!(Laws::new(strict).check().unwrap_err().law(), Law::BoundedWait, "so fair turns are of use");
}

/// Deadline, or the end of time; then the order of becoming ready.
fn by_deadline(every: u64) -> impl Fn(&Moment<'_>) -> bool {
    with_turns(
        every,
        |task| ((deadline_ns(task).is_none(), deadline_ns(task)), task.became_ready),
        |task| (deadline_ns(task).is_none(), None),
        |task| (deadline_ns(task).is_some(), task.became_ready),
    )
}

#[test]
fn deadline_in_order_with_fair_turns() {
    let turns = || Told::deaf(Deadline::new());
    obeys("Deadline", || Laws::new(turns).may_starve().order(by_deadline(32)));
    let strict = || Told::new(Deadline::new().with_fair_turns(FairTurns::NEVER));
    obeys("strict Deadline", || Laws::new(strict).may_starve().steps(4_000).order(by_deadline(0)));
}

#[test]
fn deadline_with_late_ones_behind() {
    let made = RefCell::new(Vec::new());
    let policy = Deadline::new().with_late(Late::Behind).with_fair_turns(FairTurns::NEVER);
    for seed in SEEDS {
        let late_pops = Cell::new(0);
        let make = || {
            let told = Told::new(policy.clone());
            made.borrow_mut().push(Rc::clone(&told.now_ns));
            told
        };
        // Two are made for each load, and the first is the one that is judged.
        let order = |moment: &Moment<'_>| {
            let now_ns = made.borrow().iter().nth_back(1).map_or(0, |now_ns| now_ns.get());
            let list = |task: &Candidate| deadline_ns(task).map_or(2, |due| u8::from(due < now_ns));
            late_pops.set(late_pops.get() + u32::from(list(&moment.popped) == 1));
            least(moment, |task| (list(task), deadline_ns(task), task.became_ready))
        };
        let laws = Laws::new(make).seed(seed).may_starve().order(order);
        let report = laws.check().unwrap_or_else(|broken| panic!("late ones behind: {broken}"));
        let late = u64::from(late_pops.get());
        assert!(late > 1_000 && report.pops > late + 1_000, "{late} of {} pops were late", report.pops);
    }
    let rule = || Told::new(Deadline::new().with_late(Late::Behind));
    obeys("Deadline, late ones behind", || Laws::new(rule).may_starve());
}

#[test]
fn priorities_that_outlive_their_tasks_are_caught() {
    let grudging = || Told::deaf(Grudging(Priority::new().with_fair_turns(FairTurns::NEVER)));
    let laws = Laws::new(grudging).may_starve().order(by_level(0));
    assert_eq!(laws.check().unwrap_err().law(), Law::Order);
}
