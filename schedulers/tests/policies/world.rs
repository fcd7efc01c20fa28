//! Tenants that a policy serves, driven as an executor would, and what each has received.

use crate::script::Told;
use std::collections::BTreeMap;

use clockworker_schedulers::{
    Attributes, FairGroups, Gone, GroupId, Ready, Scheduler, Served, Share, Subject, Task, TaskId,
};
use fastrand::Rng;

/// How a poll ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Yields,
    Sleeps,
    Finishes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Asleep,
    Ready,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    task: Task,
    key: u64,
    state: State,
}

/// A tenant, which is a group while it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tenant {
    /// Its group, while it is open.
    group: Option<GroupId>,
    pub(crate) tasks: usize,
    pub(crate) received_ns: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) weight: u32,
    pub(crate) is_open: bool,
    /// What the policy knows it as.
    pub(crate) known_as: GroupId,
}

/// What the world does wrong on purpose, for a search to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Who closes is forgotten: each group that opens has an index and a key that never were.
    Forgets,
    /// All but the group of index 0 are charged for half of what they receive.
    HalfPrice,
}

/// One policy and its tenants, by key.
pub(crate) struct World<S> {
    pub(crate) policy: S,
    pub(crate) fault: Fault,
    slots: Vec<Slot>,
    pub(crate) tenants: BTreeMap<u64, Tenant>,
    /// By index, the group that has it or had it last.
    pub(crate) groups: Vec<Group>,
    /// Indices of closed groups; the last is used first.
    free: Vec<usize>,
    /// How often a group was opened, and closed.
    opened: u32,
    pub(crate) closed: u32,
    yielded: Option<Task>,
    pub(crate) passed_ns: u64,
}

pub(crate) fn attributes(weight: u32) -> Attributes {
    Attributes::new().with_weight(Share::new(weight).unwrap())
}

impl World<FairGroups> {
    pub(crate) fn fair() -> Self {
        Self::new(FairGroups::new())
    }

    pub(crate) fn owes_ns(&self, key: u64) -> u64 {
        self.tenants[&key].group.map_or(0, |group| self.policy.owes_ns(group))
    }
}

impl<S: Scheduler> World<S> {
    pub(crate) fn new(policy: S) -> Self {
        Self {
            policy,
            fault: Fault::None,
            slots: Vec::new(),
            tenants: BTreeMap::new(),
            groups: Vec::new(),
            free: Vec::new(),
            opened: 0,
            closed: 0,
            yielded: None,
            passed_ns: 0,
        }
    }

    /// Opens a tenant's group, if it is not open, by that weight, and spawns tasks of it.
    pub(crate) fn join(&mut self, key: u64, weight: u32, tasks: usize) {
        let closed = Tenant { group: None, tasks: 0, received_ns: 0 };
        if self.tenants.entry(key).or_insert(closed).group.is_none() {
            self.open(key, weight);
        }
        (0..tasks).for_each(|_| self.spawn(key));
    }

    fn open(&mut self, key: u64, weight: u32) {
        let index = self.free.pop().unwrap_or(self.groups.len());
        let (number, known_as) = match self.fault {
            Fault::Forgets => (self.opened.into(), self.opened),
            _ => (key, index as u32),
        };
        let group = Group { weight, is_open: true, known_as: GroupId::new(known_as) };
        self.groups.resize(self.groups.len().max(index + 1), group);
        self.groups[index] = group;
        self.tenants.get_mut(&key).unwrap().group = Some(GroupId::new(index as u32));
        self.opened += 1;
        self.policy.group_opened(group.known_as, number, &attributes(weight));
    }

    fn spawn(&mut self, key: u64) {
        let tenant = self.tenants.get_mut(&key).unwrap();
        tenant.tasks += 1;
        let free = self.slots.iter().position(|slot| slot.state == State::Free);
        let generation = free.map_or(0, |slot| self.slots[slot].task.id.generation() + 1);
        let slot = free.unwrap_or(self.slots.len());
        let task = Task { id: TaskId::new(slot as u32, generation), group: tenant.group.unwrap() };
        let spawned = Slot { task, key, state: State::Ready };
        if slot == self.slots.len() {
            self.slots.push(spawned);
        }
        self.slots[slot] = spawned;
        self.policy.push(self.known(task), Ready::Spawned);
    }

    /// A task as the policy knows it.
    fn known(&self, task: Task) -> Task {
        Task { group: self.groups[task.group.index()].known_as, ..task }
    }

    /// Changes the weight of a tenant that is open.
    pub(crate) fn change(&mut self, key: u64, weight: u32) {
        let Some(group) = self.tenants.get(&key).and_then(|tenant| tenant.group) else { return };
        let group = &mut self.groups[group.index()];
        group.weight = weight;
        self.policy.group_changed(group.known_as, &attributes(weight));
    }

    /// Wakes one sleeping task of a tenant. Whether there was one.
    pub(crate) fn wake(&mut self, key: u64) -> bool {
        let asleep = |slot: &&mut Slot| slot.key == key && slot.state == State::Asleep;
        let Some(slot) = self.slots.iter_mut().find(asleep) else { return false };
        slot.state = State::Ready;
        let task = slot.task;
        self.policy.push(self.known(task), Ready::Woken);
        true
    }

    /// Aborts the sleeping tasks of a tenant, whose futures take so long to drop, and closes it if none is left.
    pub(crate) fn abort(&mut self, key: u64, drop_ns: u64) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].key == key && self.slots[slot].state == State::Asleep {
                self.charge(slot, drop_ns);
                self.finish(slot);
            }
        }
    }

    fn charge(&mut self, slot: usize, service_ns: u64) {
        let Slot { task, key, .. } = self.slots[slot];
        let is_half_price = self.fault == Fault::HalfPrice && task.group.index() > 0;
        let told_ns = if is_half_price { service_ns / 2 } else { service_ns };
        self.policy.timed(self.known(task), told_ns);
        self.policy.time_passed(told_ns);
        self.passed_ns += service_ns;
        self.tenants.get_mut(&key).unwrap().received_ns += service_ns;
    }

    /// Polls whatever is next: whose task it was. `act` says by the tenant how long it takes and how it ends.
    pub(crate) fn poll(&mut self, act: impl FnOnce(u64) -> (u64, End)) -> Option<u64> {
        let popped = match self.yielded.take() {
            Some(task) => self.policy.push_pop(self.known(task)),
            None => self.policy.pop(),
        };
        let Some(id) = popped else {
            assert!(self.slots.iter().all(|slot| slot.state != State::Ready), "tasks are ready");
            self.policy.drained();
            return None;
        };
        let slot = id.slot();
        let Slot { task, key, state } = self.slots[slot];
        assert!(task.id == id && state == State::Ready, "{id:?} is not ready");
        self.slots[slot].state = State::Asleep;
        let (service_ns, end) = act(key);
        self.charge(slot, service_ns);
        match end {
            End::Sleeps => {}
            End::Finishes => self.finish(slot),
            End::Yields => {
                self.slots[slot].state = State::Ready;
                self.yielded = Some(task);
            }
        }
        Some(key)
    }

    /// Polls of tasks that all yield, until so much has passed.
    pub(crate) fn run_for(&mut self, ns: u64, poll_ns: impl Fn(u64) -> u64) {
        let end = self.passed_ns + ns;
        while self.passed_ns < end {
            self.poll(|key| (poll_ns(key), End::Yields)).expect("all tasks yield");
        }
    }

    fn finish(&mut self, slot: usize) {
        let Slot { task, key, .. } = self.slots[slot];
        self.slots[slot].state = State::Free;
        self.policy.finished(self.known(task));
        let tenant = self.tenants.get_mut(&key).unwrap();
        tenant.tasks -= 1;
        if tenant.tasks == 0 {
            tenant.group = None;
            self.closed += 1;
            let index = task.group.index();
            self.groups[index].is_open = false;
            self.free.push(index);
            self.policy.group_closed(self.groups[index].known_as);
        }
    }

    pub(crate) fn received_ns(&self, key: u64) -> u64 {
        self.tenants.get(&key).map_or(0, |tenant| tenant.received_ns)
    }

    /// One step of whatever six tenants and the outside world may do, of polls of one of those lengths. Tasks end if `may_end`.
    pub(crate) fn step(&mut self, random: &mut Rng, lengths: &[u64], may_end: bool) {
        let key = random.u64(..6);
        let weight = pick(random, &[1, 1, 2, 4]);
        match random.u32(..40) {
            0..3 => self.join(key, weight, random.usize(1..=2)),
            3 => self.change(key, weight),
            4 if may_end => self.abort(key, random.u64(..700)),
            5..12 => _ = self.wake(key),
            _ => {
                let end = match random.u32(..6) {
                    0..3 => End::Yields,
                    5 if may_end => End::Finishes,
                    _ => End::Sleeps,
                };
                let service_ns = pick(random, lengths);
                self.poll(|_| (service_ns, end));
            }
        }
    }
}

pub(crate) fn pick<T: Copy>(random: &mut Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// A policy and its definition. Both get every call, and must pop alike.
pub(crate) struct Beside<A, B> {
    pub(crate) policy: A,
    pub(crate) model: B,
    /// Whether the two can be compared: by what else they say, they are.
    agree: fn(&A, &B) -> bool,
    pub(crate) compared: u64,
}

impl<A, B> Beside<A, B> {
    pub(crate) fn new(policy: A, model: B, agree: fn(&A, &B) -> bool) -> Self {
        Self { policy, model, agree, compared: 0 }
    }

    fn compare(&mut self, popped: Option<TaskId>, expected: Option<TaskId>) -> Option<TaskId> {
        if (self.agree)(&self.policy, &self.model) {
            assert_eq!(popped, expected);
            self.compared += 1;
        }
        popped
    }
}

impl<A: Scheduler, B: Scheduler> Scheduler for Beside<A, B> {
    fn push(&mut self, task: Task, why: Ready) {
        self.policy.push(task, why);
        self.model.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        let (popped, expected) = (self.policy.pop(), self.model.pop());
        self.compare(popped, expected)
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        let (popped, expected) = (self.policy.push_pop(task), self.model.push_pop(task));
        self.compare(popped, expected)
    }

    fn served(&mut self, served: Served, now_ns: u64) {
        self.policy.served(served, now_ns);
        self.model.served(served, now_ns);
    }

    fn said(&mut self, of: Subject, attributes: &Attributes) {
        self.policy.said(of, attributes);
        self.model.said(of, attributes);
    }

    fn gone(&mut self, gone: Gone) {
        self.policy.gone(gone);
        self.model.gone(gone);
    }
}
