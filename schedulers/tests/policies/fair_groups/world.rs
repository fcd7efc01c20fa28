//! Tenants that a `FairGroups` serves, driven as an executor would, and what each has received.

use std::collections::BTreeMap;

use clockworker_schedulers::{Attributes, FairGroups, GroupId, Ready, Scheduler, Share, Task, TaskId};

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
    pub(crate) weight: u32,
    /// Where it is open.
    pub(crate) index: Option<u32>,
    pub(crate) tasks: usize,
    pub(crate) received_ns: u64,
}

/// One policy and its tenants, by key.
pub(crate) struct World<S> {
    pub(crate) policy: S,
    slots: Vec<Slot>,
    pub(crate) tenants: BTreeMap<u64, Tenant>,
    /// Closed indices; the last is used first.
    pub(crate) free: Vec<u32>,
    /// By index, the weight of the group that has it or had it last.
    pub(crate) weights: Vec<u32>,
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
        self.tenants[&key].index.map_or(0, |index| self.policy.owes_ns(GroupId::new(index)))
    }
}

impl<S: Scheduler> World<S> {
    pub(crate) fn new(policy: S) -> Self {
        let (slots, free, weights) = (Vec::new(), Vec::new(), Vec::new());
        Self { policy, slots, tenants: BTreeMap::new(), free, weights, yielded: None, passed_ns: 0 }
    }

    /// Opens a tenant's group, if it is not open, by that weight.
    pub(crate) fn open(&mut self, key: u64, weight: u32) {
        let closed = Tenant { weight, index: None, tasks: 0, received_ns: 0 };
        let tenant = self.tenants.entry(key).or_insert(closed);
        if tenant.index.is_some() {
            return;
        }
        let index = self.free.pop().unwrap_or(self.weights.len() as u32);
        (tenant.index, tenant.weight) = (Some(index), weight);
        if index as usize == self.weights.len() {
            self.weights.push(weight);
        }
        self.weights[index as usize] = weight;
        self.policy.group_opened(GroupId::new(index), key, &attributes(weight));
    }

    /// Opens a tenant and spawns tasks of it.
    pub(crate) fn join(&mut self, key: u64, weight: u32, tasks: usize) {
        self.open(key, weight);
        (0..tasks).for_each(|_| self.spawn(key));
    }

    pub(crate) fn spawn(&mut self, key: u64) {
        let Some(tenant) = self.tenants.get_mut(&key) else { return };
        let Some(index) = tenant.index else { return };
        tenant.tasks += 1;
        let free = self.slots.iter().position(|slot| slot.state == State::Free);
        let generation = free.map_or(0, |slot| self.slots[slot].task.id.generation() + 1);
        let slot = free.unwrap_or(self.slots.len());
        let task = Task { id: TaskId::new(slot as u32, generation), group: GroupId::new(index) };
        let spawned = Slot { task, key, state: State::Ready };
        if slot == self.slots.len() {
            self.slots.push(spawned);
        }
        self.slots[slot] = spawned;
        self.policy.push(task, Ready::Spawned);
    }

    pub(crate) fn change(&mut self, key: u64, weight: u32) {
        let Some(tenant) = self.tenants.get_mut(&key) else { return };
        let Some(index) = tenant.index else { return };
        tenant.weight = weight;
        self.weights[index as usize] = weight;
        self.policy.group_changed(GroupId::new(index), &attributes(weight));
    }

    /// Wakes one sleeping task of a tenant. Whether there was one.
    pub(crate) fn wake(&mut self, key: u64) -> bool {
        let slot = self.slots.iter_mut().find(|slot| slot.key == key && slot.state == State::Asleep);
        let Some(slot) = slot else { return false };
        slot.state = State::Ready;
        self.policy.push(slot.task, Ready::Woken);
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
        self.policy.served(task, service_ns);
        self.passed_ns += service_ns;
        self.tenants.get_mut(&key).unwrap().received_ns += service_ns;
    }

    /// Polls whatever is next: whose task it was. `act` says by the tenant how long it takes and how it ends.
    pub(crate) fn poll(&mut self, act: impl FnOnce(u64) -> (u64, End)) -> Option<u64> {
        let popped = match self.yielded.take() {
            Some(task) => self.policy.push_pop(task),
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
        self.policy.finished(task);
        let tenant = self.tenants.get_mut(&key).unwrap();
        tenant.tasks -= 1;
        if tenant.tasks == 0 {
            tenant.index = None;
            self.free.push(task.group.index() as u32);
            self.policy.group_closed(task.group);
        }
    }

    pub(crate) fn received_ns(&self, key: u64) -> u64 {
        self.tenants.get(&key).map_or(0, |tenant| tenant.received_ns)
    }
}

/// SplitMix64, so that a seed means the same for ever.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
