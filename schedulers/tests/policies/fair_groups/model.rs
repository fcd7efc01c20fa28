//! `FairGroups` beside its definition, in exact arithmetic: everything is found by scanning, each poll is charged when it ends,
//! and nothing is ever forgotten that is owed.

use std::collections::{BTreeMap, VecDeque};

use clockworker_schedulers::{
    Attributes, FairGroups, Gone, GroupId, Ready, Scheduler, Served, Subject, Task, TaskId,
};
use fastrand::Rng;

use super::super::world::{Beside, World};

/// A group that becomes ready and owes less, and less than the quantum, stands at V.
const GRACE_NS: u64 = 1_024;

/// Bits after the binary point of the model. Weights are powers of two, so that all quotients are exact.
const BITS: u32 = 64;

/// Bits that `FairGroups` has.
const ITS_BITS: u32 = 40;

#[derive(Clone, Default)]
struct Group {
    v: u128,
    /// Where it waits: at v, or at V.
    stands_at: u128,
    weight: u128,
    key: Option<u64>,
    tasks: VecDeque<TaskId>,
    /// When it came to where it waits.
    came: u64,
}

/// The turn under way: whose, where it began, what was received, whether it is over.
#[derive(Clone, Copy)]
struct Turn {
    group: u32,
    start: u128,
    received_ns: u64,
    /// What it has received by the end.
    limit_ns: u64,
    over: bool,
}

#[derive(Default)]
struct Model {
    quantum_ns: u64,
    burst_ns: u64,
    groups: BTreeMap<u32, Group>,
    /// By key, v and weight of those that closed.
    closed: BTreeMap<u64, (u128, u128)>,
    now: u128,
    comings: u64,
    turn: Option<Turn>,
    /// Whether some number was not exact.
    is_inexact: bool,
}

impl Model {
    fn group(&mut self, group: GroupId) -> &mut Group {
        let new = Group { weight: 1, ..Group::default() };
        self.groups.entry(group.index() as u32).or_insert(new)
    }

    fn has_turn(&self, group: GroupId) -> bool {
        self.turn.is_some_and(|turn| turn.group == group.index() as u32)
    }

    /// `service` / `weight`, both in units of the model.
    fn divide(&mut self, service: u128, weight: u128) -> u128 {
        let quotient = service / weight;
        let step = 1 << (BITS - ITS_BITS);
        self.is_inexact |= quotient * weight != service || !quotient.is_multiple_of(step);
        quotient
    }

    /// V: of the turn under way, as it began.
    fn v(&self) -> u128 {
        self.now.max(self.turn.map_or(0, |turn| turn.start))
    }

    /// Goes behind all that wait where it is now: in front, if it is behind V.
    fn come(&mut self, group: GroupId) {
        self.comings += 1;
        let (came, v) = (self.comings, self.v());
        let group = self.group(group);
        group.came = came;
        group.stands_at = if group.v < v { 0 } else { group.v };
    }

    /// Keeps no more of what it has not used than the burst.
    fn rest(&mut self, group: GroupId) {
        let (v, weight) = (self.v(), self.group(group).weight);
        // Down to a step of what is modelled.
        let burst = ((u128::from(self.burst_ns) << ITS_BITS) / weight) << (BITS - ITS_BITS);
        let group = self.group(group);
        group.v = group.v.max(v.saturating_sub(burst));
    }

    fn stands_at_v(&self, owes_ns: u64) -> bool {
        owes_ns == 0 || owes_ns < GRACE_NS.min(self.quantum_ns)
    }

    fn become_ready(&mut self, group: GroupId) {
        self.rest(group);
        self.come(group);
        let v = self.v();
        if self.group(group).v >= v && self.stands_at_v(self.owes_ns(group)) {
            self.group(group).stands_at = v;
        }
    }

    fn set_weight(&mut self, group: GroupId, weight: u128) {
        let now = self.v();
        let Group { v, weight: was, .. } = *self.group(group);
        let owed = self.divide(v.saturating_sub(now) * was, weight);
        let group = self.group(group);
        (group.v, group.weight) = (now + owed, weight);
        group.stands_at = group.v;
    }

    fn leave_turn(&mut self, group: GroupId) {
        if self.has_turn(group) {
            self.turn = None;
        }
    }

    fn owes_ns(&self, group: GroupId) -> u64 {
        let group = &self.groups[&(group.index() as u32)];
        (group.v.saturating_sub(self.v()) * group.weight).div_ceil(1 << BITS) as u64
    }
}

impl Scheduler for Model {
    fn push(&mut self, task: Task, why: Ready) {
        let v = self.v();
        let group = self.group(task.group);
        let becomes_ready = group.tasks.is_empty();
        group.tasks.push_back(task.id);
        if becomes_ready && why == Ready::Spawned && group.key.is_none() && !self.has_turn(task.group) {
            self.group(task.group).v = v.max(self.group(task.group).v);
        }
        if becomes_ready && !self.has_turn(task.group) {
            self.become_ready(task.group);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        if let Some(Turn { group, received_ns, limit_ns, over, .. }) = self.turn {
            let id = GroupId::new(group);
            let has_tasks = !self.group(id).tasks.is_empty();
            if has_tasks && !over && received_ns < limit_ns {
                return self.group(id).tasks.pop_front();
            }
            self.turn = None;
            if has_tasks {
                self.come(id);
            }
        }
        let ready = self.groups.iter().filter(|(_, group)| !group.tasks.is_empty());
        let (&group, _) = ready.min_by_key(|(_, group)| (group.stands_at, group.came))?;
        let owes_ns = self.owes_ns(GroupId::new(group));
        let (start, limit_ns) = if self.stands_at_v(owes_ns) {
            (self.now, self.quantum_ns - owes_ns)
        } else {
            (self.groups[&group].v, self.quantum_ns)
        };
        self.turn = Some(Turn { group, start, received_ns: 0, limit_ns, over: false });
        self.groups.get_mut(&group)?.tasks.pop_front()
    }

    fn served(&mut self, served: Served, _now_ns: u64) {
        let Served::Task { task, ns: service_ns, .. } = served else { return };
        let service_ns = service_ns.max(1);
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.group == task.group.index() as u32) {
            turn.received_ns += service_ns;
            self.now = self.now.max(turn.start);
        } else {
            self.now = self.v();
            self.rest(task.group);
            self.comings += 1;
            let came = self.comings;
            self.group(task.group).came = came;
        }
        let weight = self.group(task.group).weight;
        let moved = self.divide(u128::from(service_ns) << BITS, weight);
        let v = self.v();
        let group = self.group(task.group);
        group.v += moved;
        group.stands_at = if group.v < v { 0 } else { group.v };
    }

    fn said(&mut self, of: Subject, attributes: &Attributes) {
        match of {
            Subject::NewGroup { group, key } => self.open(group, key, attributes),
            Subject::Group(group) => self.change(group, attributes),
            Subject::Task(_) => {}
        }
    }

    fn gone(&mut self, gone: Gone) {
        match gone {
            Gone::Task(_) => {}
            Gone::Group(group) => self.close(group),
            Gone::Backlog => self.settle(),
        }
    }
}

impl Model {
    fn open(&mut self, group: GroupId, key: u64, attributes: &Attributes) {
        let weight = attributes.weight.get().into();
        self.leave_turn(group);
        self.set_weight(group, weight);
        self.group(group).key = Some(key);
        if let Some((v, was)) = self.closed.remove(&key) {
            let now = self.v();
            let owed = v.saturating_sub(now) * was;
            let v = now + self.divide(owed, weight);
            let group = self.group(group);
            group.v = group.v.max(v);
            group.stands_at = group.v;
        }
    }

    fn change(&mut self, group: GroupId, attributes: &Attributes) {
        let weight = attributes.weight.get().into();
        if self.group(group).weight == weight {
            return;
        }
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.group == group.index() as u32) {
            turn.over = true;
        }
        self.set_weight(group, weight);
        self.comings += 1;
        let came = self.comings;
        self.group(group).came = came;
    }

    fn close(&mut self, group: GroupId) {
        self.leave_turn(group);
        let Group { v, weight, key, .. } = self.group(group).clone();
        self.group(group).key = None;
        if let Some(key) = key {
            self.closed.insert(key, (v, weight));
        }
    }

    fn settle(&mut self) {
        self.turn = None;
        self.now = self.groups.values().map(|group| group.v).max().unwrap_or(0).max(self.now);
        self.now += u128::from(self.burst_ns) << BITS; // all have their burst again
        self.closed.clear();
    }
}

/// Whether the model is exact: then all groups owe what it says.
fn agree(fair: &FairGroups, model: &Model) -> bool {
    if model.is_inexact {
        return false;
    }
    for &group in model.groups.keys() {
        let group = GroupId::new(group);
        assert_eq!(fair.owes_ns(group), model.owes_ns(group), "{group:?}");
    }
    true
}

#[test]
fn each_decision_is_that_of_the_definition() {
    const LENGTHS: [u64; 12] = [0, 1, 40, 100, 100, 500, 1_023, 1_024, 1_025, 1_499, 1_500, 3_000];
    for (quantum_ns, burst_ns) in [(0, 0), (30, 0), (1_500, 0), (0, 2_000), (1_500, 700), (1_500, 20_000)] {
        let mut compared = 0;
        for seed in 0..600 {
            let fair = FairGroups::new().with_quantum_ns(quantum_ns).with_burst_ns(burst_ns);
            let model = Model { quantum_ns, burst_ns, ..Model::default() };
            let mut world = World::new(Beside::new(fair, model, agree));
            let mut random = Rng::with_seed(seed);
            (0..400).for_each(|_| world.step(&mut random, &LENGTHS, true));
            compared += world.policy.compared;
        }
        assert!(compared > 60_000, "{quantum_ns}, {burst_ns}: {compared}");
    }
}
