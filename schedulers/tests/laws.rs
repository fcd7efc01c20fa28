//! Every policy under the laws, with its documented order and its documented bound.

#[path = "laws/equal_service.rs"]
mod equal_service;
#[path = "laws/turns_model.rs"]
mod turns_model;

use core::cell::RefCell;
use core::num::NonZeroU32;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use clockworker_schedulers::laws::{Candidate, Crowd, EqualService, Law, Laws, Moment};
use clockworker_schedulers::{
    ArrivalFifo, FairGroups, FairTurns, GroupId, Las, Qlas, Ready, RunnableFifo, Scheduler, Serpt, Task,
    TaskId, WokenFirst,
};
use turns_model::{TurnsModel, fair, within};

const SEEDS: [u64; 3] = [1, 0xC10C_4B0A, u64::MAX];

/// Whether what was popped has the least `key` of all that was ready.
fn least<K: Ord>(moment: &Moment<'_>, key: impl Fn(&Candidate) -> K) -> bool {
    moment.ready.iter().map(&key).min() == Some(key(&moment.popped))
}

fn obeys<S: Scheduler>(name: &str, laws: impl Fn() -> Laws<'static, S>) {
    for seed in SEEDS {
        let report = laws().seed(seed).check().unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert!(report.pops > 10_000, "{name}: {report:?}");
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

#[test]
fn arrival_fifo() {
    obeys("ArrivalFifo", || {
        Laws::new(ArrivalFifo::new)
            .order(|moment| moment.pops.is_multiple_of(32) || least(moment, |task| task.arrival))
            .waits_at_most(|crowd| 2 * 32 * crowd.tasks as u64)
    });
}

/// The turn of a group that had one ready task when it was popped in order.
struct LasTurn {
    group: GroupId,
    /// What it had attained when the turn began.
    from_ns: u64,
    polls: u32,
}

/// Which task `Las` is to pop, from its documentation alone.
struct LasModel {
    resolution_ns: u64,
    turns: TurnsModel,
    /// Number of the last task to become ready.
    newest: u64,
    /// When each group was last popped from: after which task became ready, and the number of the pop.
    popped: HashMap<GroupId, (u64, u64)>,
    /// The group popped last, if no other task of it was ready.
    emptied: Option<GroupId>,
    /// The turn that no other group has ended by being popped in order.
    turn: Option<LasTurn>,
    /// The group that waits at the head of its bucket for the rest of its turn, for which of its tasks.
    waits: Option<(GroupId, u64)>,
    /// The group of the last fair turn.
    cursor: usize,
}

impl LasModel {
    fn new(resolution_ns: u64, every: i64) -> Self {
        Self {
            resolution_ns,
            turns: TurnsModel::new(every),
            newest: 0,
            popped: HashMap::new(),
            emptied: None,
            turn: None,
            waits: None,
            cursor: 0,
        }
    }

    /// What the bucket begins with: the seven leading bits, but no finer than the resolution.
    fn bucket(&self, attained_ns: u64) -> u64 {
        let width = (1_u64 << attained_ns.max(1).ilog2() >> 6).max(self.resolution_ns);
        attained_ns / width * width
    }

    /// Where a group is in its bucket: at the head for the rest of its turn; else at the tail since its last pop or the end of its
    /// turn, or since its foremost task became ready after that.
    fn place(&self, foremost: &Candidate) -> (bool, (u64, u64)) {
        let popped = self.popped.get(&foremost.group).copied().unwrap_or_default();
        let waits = self.waits == Some((foremost.group, foremost.became_ready));
        (!waits, popped.max((foremost.became_ready, 0)))
    }

    fn has_its_turn(&self, task: &Candidate) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.group == task.group
                && turn.polls < 16
                && task.attained_ns - turn.from_ns < self.resolution_ns
                && self.bucket(task.attained_ns) == self.bucket(turn.from_ns)
        })
    }

    fn expected(&mut self, moment: &Moment<'_>) -> Candidate {
        let mut foremost = BTreeMap::<usize, Candidate>::new();
        for task in moment.ready {
            let first = foremost.entry(task.group.index()).or_insert(*task);
            if task.became_ready < first.became_ready {
                *first = *task;
            }
        }
        if let Some(first) = self.emptied.and_then(|group| foremost.get(&group.index()))
            && first.why == Ready::Yielded
            && self.has_its_turn(first)
        {
            self.waits = Some((first.group, first.became_ready));
        }
        if self.turns.is_fair(moment) {
            let next = foremost.range(self.cursor + 1..).chain(&foremost).next();
            self.cursor = *next.unwrap().0;
            let first = *next.unwrap().1;
            self.turn.take_if(|turn| turn.group == first.group);
            self.waits.take_if(|(group, _)| *group == first.group);
            return first;
        }
        let first =
            *foremost.values().min_by_key(|task| (self.bucket(task.attained_ns), self.place(task))).unwrap();
        self.pop_in_order(&first, moment);
        first
    }

    fn pop_in_order(&mut self, first: &Candidate, moment: &Moment<'_>) {
        if let Some((group, _)) = self.waits.take()
            && group != first.group
        {
            self.popped.insert(group, (self.newest, moment.pops));
        }
        // A group that has attained nothing is a new one.
        let lasts = first.attained_ns > 0 && self.has_its_turn(first);
        match &mut self.turn {
            _ if !is_alone(first, moment) => self.turn = None,
            Some(turn) if lasts => turn.polls += 1,
            _ => self.turn = Some(LasTurn { group: first.group, from_ns: first.attained_ns, polls: 1 }),
        }
    }

    fn allows(&mut self, moment: &Moment<'_>) -> bool {
        if moment.pops == 1 {
            *self = Self::new(self.resolution_ns, self.turns.every()); // another load, a fresh policy
        }
        let newest = moment.ready.iter().map(|task| task.became_ready).max();
        self.newest = self.newest.max(newest.unwrap());
        let expected = self.expected(moment);
        self.popped.insert(expected.group, (self.newest, moment.pops));
        self.emptied = is_alone(&expected, moment).then_some(expected.group);
        moment.popped == expected
    }
}

/// Whether no other task of its group is ready.
fn is_alone(task: &Candidate, moment: &Moment<'_>) -> bool {
    moment.ready.iter().filter(|other| other.group == task.group).count() == 1
}

/// The law that each pop be the one that the model expects.
fn las_order(resolution_ns: u64, every: i64) -> impl Fn(&Moment<'_>) -> bool {
    let model = RefCell::new(LasModel::new(resolution_ns, every));
    move |moment| model.borrow_mut().allows(moment)
}

#[test]
fn las() {
    obeys("Las", || {
        Laws::new(|| Las::new().without_half_life())
            .order(las_order(1_024, 32))
            // At most all the ready tasks are ahead in its own group.
            .waits_at_most(|crowd| within(crowd.groups * crowd.ready, 32, crowd))
    });
    obeys("Las to the nanosecond", || {
        Laws::new(|| Las::new().without_half_life().with_resolution_ns(1))
            .steps(4_000)
            .waits_at_most(|crowd| within(crowd.groups * crowd.ready, 32, crowd))
            .order(las_order(1, 32))
    });
    obeys("Las to the second", || {
        Laws::new(|| Las::new().without_half_life().with_resolution_ns(1 << 30))
            .steps(4_000)
            .waits_at_most(|crowd| within(crowd.groups * crowd.ready, 32, crowd))
            .order(las_order(1 << 30, 32))
    });
}

/// The level of a group, from the definition: the number of thresholds base, 2·base, 4·base ... that it has passed.
fn level(attained_ns: u64) -> usize {
    (0..50).filter(|doublings| attained_ns >= 16_384 << doublings).count()
}

#[test]
fn qlas() {
    obeys("Qlas", || {
        let fair = fair();
        Laws::new(|| Qlas::new().without_half_life())
            .order(move |moment| fair(moment) || least(moment, |task| level(task.attained_ns)))
            .waits_at_most(|crowd| within(51 * crowd.ready, 32, crowd))
    });
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
    fn turns() -> FairTurns {
        FairTurns::every(NonZeroU32::new(2).unwrap())
    }
    let las = || Las::new().with_fair_turns(turns());
    let qlas = || Qlas::new().with_fair_turns(turns());
    let serpt = || Serpt::new().with_fair_turns(turns());
    let las_waits = |crowd: Crowd| within(crowd.groups * crowd.ready, 2, crowd);
    let levels_waits = |crowd: Crowd| within(3 * (crowd.ready + 1), 2, crowd);
    obeys("Las, every other", || Laws::new(las).waits_at_most(las_waits));
    obeys("Qlas, every other", || Laws::new(qlas).waits_at_most(|crowd| within(51 * crowd.ready, 2, crowd)));
    obeys("Serpt, every other", || {
        Laws::new(serpt).waits_at_most(|crowd| within(51 * (crowd.ready + 1), 2, crowd))
    });
    let never = || FairTurns::NEVER;
    // The one that starves has its group and its level to itself.
    let alone_in_its_group = |crowd: Crowd| within(crowd.groups, 2, crowd);
    let starved = [
        Laws::new(|| las().with_fair_turns(never())).steps(100_000).waits_at_most(alone_in_its_group).check(),
        Laws::new(|| qlas().with_fair_turns(never())).steps(100_000).waits_at_most(levels_waits).check(),
        Laws::new(|| serpt().with_fair_turns(never())).steps(100_000).waits_at_most(levels_waits).check(),
    ];
    assert_eq!(starved.map(|check| check.unwrap_err().law()), [Law::BoundedWait; 3]);
}

/// A `Serpt` that can be asked for ranks while it is under the laws.
#[derive(Clone)]
struct Watched(Rc<RefCell<Watch>>);

struct Watch {
    serpt: Serpt,
    /// How often a task became ready.
    pushes: u64,
    /// The same when a rank last changed.
    pushes_at_change: u64,
    /// How often one changed.
    changes: u64,
}

impl Watched {
    fn new(serpt: Serpt) -> Self {
        Self(Rc::new(RefCell::new(Watch { serpt, pushes: 0, pushes_at_change: 0, changes: 0 })))
    }

    /// The least rank goes first, of all that became ready since the ranks last changed.
    fn allows(&self, moment: &Moment<'_>) -> bool {
        let watch = self.0.borrow();
        let placed = moment.ready.iter().filter(|task| task.became_ready >= watch.pushes_at_change);
        let least = placed.map(|task| watch.rank(task.group)).min();
        least.is_none_or(|least| watch.rank(moment.popped.group) <= least)
    }
}

impl Watch {
    fn rank(&self, group: GroupId) -> u32 {
        self.serpt.rank_at(self.serpt.attained_ns(group))
    }

    /// The rank of each level, told by groups that have attained 0, 1, 2, 4 ns and so on.
    fn ranks(&self) -> Vec<u32> {
        (0..64).map(|level| self.serpt.rank_at(if level == 0 { 0 } else { 1 << (level - 1) })).collect()
    }

    fn learn(&mut self, teach: impl FnOnce(&mut Serpt)) {
        let before = self.ranks();
        teach(&mut self.serpt);
        if self.ranks() != before {
            (self.pushes_at_change, self.changes) = (self.pushes, self.changes + 1);
        }
    }
}

impl Scheduler for Watched {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.borrow_mut().pushes += 1;
        self.0.borrow_mut().serpt.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.borrow_mut().serpt.pop()
    }
    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.0.borrow_mut().pushes += 1;
        self.0.borrow_mut().serpt.push_pop(task)
    }
    fn served(&mut self, task: Task, service_ns: u64) {
        self.0.borrow_mut().learn(|serpt| serpt.served(task, service_ns));
    }
    fn group_closed(&mut self, group: GroupId) {
        self.0.borrow_mut().learn(|serpt| serpt.group_closed(group));
    }
}

/// `Serpt` under the law of its order. `make` makes one that learns fast, so that ranks change while tasks wait.
fn serpt_by_rank(make: fn() -> Serpt, fair: impl Fn(&Moment<'_>) -> bool) {
    // Two are made for each load, and the first is the one that is judged.
    let made = RefCell::new(Vec::new());
    let watched = || {
        made.borrow_mut().push(Watched::new(make()));
        made.borrow().last().unwrap().clone()
    };
    for seed in SEEDS {
        let judged = |moment: &Moment<'_>| made.borrow().iter().nth_back(1).unwrap().allows(moment);
        let laws = Laws::new(watched).seed(seed).steps(4_000).may_starve();
        let laws = laws.order(|moment| fair(moment) || judged(moment));
        laws.check().unwrap_or_else(|broken| panic!("Serpt by rank: {broken}"));
    }
    let changes: u64 = made.borrow().iter().map(|watched| watched.0.borrow().changes).sum();
    assert!(changes > 100, "ranks changed {changes} times only");
}

#[test]
fn serpt() {
    // At most 51 levels, with all ready tasks ahead in one, and the first of them passed over once.
    obeys("Serpt", || Laws::new(Serpt::new).waits_at_most(|crowd| within(51 * (crowd.ready + 1), 32, crowd)));
    let learns_fast = || Serpt::new().without_half_life().with_base_ns(1_024).with_memory(NonZeroU32::MIN);
    serpt_by_rank(learns_fast, fair());
}

#[test]
fn fair_groups() {
    obeys("FairGroups", || Laws::new(FairGroups::new));
    obeys("FairGroups, compared after each poll", || Laws::new(|| FairGroups::new().with_quantum_ns(0)));
    obeys("FairGroups, hardly ever compared", || {
        Laws::new(|| FairGroups::new().with_quantum_ns(1_000_000)).steps(4_000)
    });
}

/// Two groups of weight 1 differ by the quantum and a poll of each at most, at once.
#[test]
fn fair_groups_serve_equally_from_any_history() {
    for (seed, others) in [(1, 0), (2, 3), (3, 12)] {
        for quantum_ns in [0, 16_384, 1_000_000] {
            let make = || FairGroups::new().with_quantum_ns(quantum_ns);
            let law = EqualService::new(make, 2 * (quantum_ns + 100_000)).history_ns(300_000_000);
            let report = law.seed(seed).others(others).check().unwrap_or_else(|unequal| panic!("{unequal}"));
            assert_eq!(report.settled_after_ns, 0);
            assert!(report.greatest_difference_ns >= 100_000, "the bound is not idle: {report:?}");
        }
    }
}

#[test]
fn a_minute_alone_costs_and_gains_nothing() {
    let law = EqualService::new(FairGroups::new, 2 * (16_384 + 10_000_000)).longest_poll_ns(10_000_000);
    law.history_ns(60_000_000_000).check().unwrap_or_else(|unequal| panic!("{unequal}"));
}

#[test]
fn strict_orders_have_no_exceptions() {
    obeys("strict ArrivalFifo", || {
        Laws::new(|| ArrivalFifo::new().with_fair_turns(FairTurns::NEVER))
            .may_starve()
            .steps(4_000)
            .order(|moment| least(moment, |task| task.arrival))
    });
    obeys("strict Las", || {
        Laws::new(|| Las::new().without_half_life().with_fair_turns(FairTurns::NEVER))
            .may_starve()
            .steps(4_000)
            .order(las_order(1_024, 0))
    });
    obeys("strict Qlas", || {
        Laws::new(|| Qlas::new().without_half_life().with_fair_turns(FairTurns::NEVER))
            .may_starve()
            .steps(4_000)
            .order(|moment| least(moment, |task| level(task.attained_ns)))
    });
    serpt_by_rank(
        || {
            let serpt = Serpt::new().without_half_life().with_base_ns(1_024);
            serpt.with_memory(NonZeroU32::MIN).with_fair_turns(FairTurns::NEVER)
        },
        |_| false,
    );
}

#[test]
fn fair_turns_all_the_time_keep_every_other_law() {
    let always = NonZeroU32::MIN;
    obeys("ArrivalFifo, always fair", || {
        Laws::new(move || ArrivalFifo::new().with_fair_turns(FairTurns::every(always)))
            .steps(4_000)
            .waits_at_most(|crowd| 2 * crowd.tasks as u64)
    });
    obeys("Las, always fair", || {
        Laws::new(move || Las::new().without_half_life().with_fair_turns(FairTurns::every(always)))
            .steps(4_000)
            .order(las_order(1_024, 1))
            .waits_at_most(|crowd| (crowd.groups * crowd.ready) as u64)
    });
    obeys("Qlas, always fair", || {
        Laws::new(move || Qlas::new().with_fair_turns(FairTurns::every(always)))
            .steps(4_000)
            .waits_at_most(|crowd| 51 * crowd.ready as u64)
    });
    obeys("Serpt, always fair", || {
        Laws::new(move || Serpt::new().with_fair_turns(FairTurns::every(always)))
            .steps(4_000)
            .waits_at_most(|crowd| 51 * (crowd.ready + 1) as u64)
    });
}

/// The same policies with fair turns off break the bound, so the kit's loads do starve those that let them.
#[test]
fn strict_policies_starve_and_are_caught() {
    let laws = [
        Laws::new(|| ArrivalFifo::new().with_fair_turns(FairTurns::NEVER)).check().unwrap_err().law(),
        Laws::new(|| Las::new().with_fair_turns(FairTurns::NEVER)).check().unwrap_err().law(),
        Laws::new(|| Qlas::new().with_fair_turns(FairTurns::NEVER)).check().unwrap_err().law(),
        Laws::new(|| Serpt::new().with_fair_turns(FairTurns::NEVER)).check().unwrap_err().law(),
    ];
    assert_eq!(laws, [Law::BoundedWait; 4]);
}

/// LAS that forgets to forget: a group index that is used again has the service of its predecessor.
struct Grudging(Las);

impl Scheduler for Grudging {
    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
    }
    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }
    fn served(&mut self, task: Task, service_ns: u64) {
        self.0.served(task, service_ns);
    }
    fn group_closed(&mut self, _group: GroupId) {}
}

#[test]
fn service_that_outlives_its_group_is_caught() {
    let laws = Laws::new(|| Grudging(Las::new().without_half_life())).order(las_order(1_024, 32));
    assert_eq!(laws.check().unwrap_err().law(), Law::Order);
}
