//! A policy that is driven as an executor would, and the groups that it serves.

use crate::random::Random;
use crate::{Attributes, Gone, GroupId, Ready, Scheduler, Subject, Task, TaskId};

/// How a poll ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Yields,
    Sleeps,
    Finishes,
}

impl End {
    pub(super) fn drawn(random: &mut Random) -> Self {
        match random.below(8) {
            0..3 => Self::Yields,
            3..7 => Self::Sleeps,
            _ => Self::Finishes,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Asleep,
    Ready,
    Running,
}

/// A slot for a task.
#[derive(Clone, Copy, Debug)]
struct Slot {
    task: Task,
    /// The number of its group on this stage, which is the group's key.
    group: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Where it is open.
    id: Option<GroupId>,
    tasks: usize,
    /// Its tasks finish when they are polled.
    leaves: bool,
}

/// One policy, and what it serves.
pub(super) struct Stage<S> {
    policy: S,
    random: Random,
    slots: Vec<Slot>,
    groups: Vec<Group>,
    /// Indices of closed groups; the last is used first, as in an executor.
    free: Vec<u32>,
    indices: u32,
    /// A task that yielded and is to be handed back with the next pop.
    yielded: Option<Task>,
    pops: u64,
    now_ns: u64,
}

impl<S: Scheduler> Stage<S> {
    pub(super) fn new(policy: S, random: Random) -> Self {
        let (slots, groups, free) = (Vec::new(), Vec::new(), Vec::new());
        Self { policy, random, slots, groups, free, indices: 0, yielded: None, pops: 0, now_ns: 0 }
    }

    pub(super) fn pops(&self) -> u64 {
        self.pops
    }

    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Gives a group at least so many tasks, and opens it where it is closed.
    pub(super) fn fill(&mut self, group: usize, tasks: usize) {
        if group >= self.groups.len() {
            self.groups.resize(group + 1, Group::default());
        }
        self.groups[group].leaves = false;
        let id = self.groups[group].id.unwrap_or_else(|| self.open(group));
        for _ in self.groups[group].tasks..tasks {
            self.spawn(group, id);
        }
    }

    fn open(&mut self, group: usize) -> GroupId {
        let index = self.free.pop().unwrap_or(self.indices);
        self.indices = self.indices.max(index + 1);
        let id = GroupId::new(index);
        self.groups[group].id = Some(id);
        self.policy.said(Subject::NewGroup { group: id, key: group as u64 }, &Attributes::new());
        id
    }

    fn spawn(&mut self, group: usize, id: GroupId) {
        let free = self.slots.iter().position(|slot| slot.state == State::Free);
        let generation = free.map_or(0, |slot| self.slots[slot].task.id.generation() + 1);
        let slot = free.unwrap_or(self.slots.len());
        let task = Task { id: TaskId::new(slot as u32, generation), group: id };
        let spawned = Slot { task, group, state: State::Ready };
        match self.slots.get_mut(slot) {
            Some(used) => *used = spawned,
            None => self.slots.push(spawned),
        }
        self.groups[group].tasks += 1;
        self.policy.push(task, Ready::Spawned);
    }

    /// Has all tasks of a group finish, and polls until it is closed.
    pub(super) fn empty(&mut self, group: usize) {
        if self.groups.get(group).is_none_or(|group| group.id.is_none()) {
            return;
        }
        self.groups[group].leaves = true;
        for slot in 0..self.slots.len() {
            if self.slots[slot].group == group && self.slots[slot].state == State::Asleep {
                self.finish(slot);
            }
        }
        while self.groups[group].tasks > 0 {
            self.poll(|_, _| (1_000, End::Yields));
        }
    }

    /// Wakes the sleeping tasks of a group.
    pub(super) fn wake_all(&mut self, group: usize) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].group == group {
                self.wake(slot);
            }
        }
    }

    /// Wakes one sleeping task, if there is any.
    pub(super) fn wake_one(&mut self) {
        let asleep = |slot: &usize| self.slots[*slot].state == State::Asleep;
        let sleepers: Vec<usize> = (0..self.slots.len()).filter(asleep).collect();
        if !sleepers.is_empty() {
            let nth = self.random.below(sleepers.len());
            self.wake(sleepers[nth]);
        }
    }

    fn wake(&mut self, slot: usize) {
        if self.slots[slot].state == State::Asleep {
            self.slots[slot].state = State::Ready;
            self.policy.push(self.slots[slot].task, Ready::Woken);
        }
    }

    /// One poll, and the calls that [`Scheduler`] documents: of which group, and how long. `act` says so by the group.
    pub(super) fn poll(
        &mut self,
        act: impl FnOnce(usize, &mut Random) -> (u64, End),
    ) -> Option<(usize, u64)> {
        let popped = match self.yielded.take() {
            Some(task) => self.policy.push_pop(task),
            None => self.policy.pop(),
        };
        let Some(id) = popped else {
            self.policy.gone(Gone::Backlog);
            let ready = self.slots.iter().any(|slot| slot.state == State::Ready);
            assert!(!ready, "the policy says that nothing is ready, and something is");
            return None;
        };
        let slot = id.slot();
        let Slot { task, group, state } = self.slots[slot];
        assert!(task.id == id && state == State::Ready, "the policy gave {id:?}, which is not ready");
        self.slots[slot].state = State::Running;
        self.pops += 1;
        let (service_ns, end) = act(group, &mut self.random);
        self.now_ns += service_ns;
        if let Some(served) = S::CLOCK.of_poll(task, service_ns) {
            self.policy.served(served, self.now_ns);
        }
        self.end(slot, if self.groups[group].leaves { End::Finishes } else { end });
        Some((group, service_ns))
    }

    fn end(&mut self, slot: usize, end: End) {
        let task = self.slots[slot].task;
        match end {
            End::Sleeps => self.slots[slot].state = State::Asleep,
            End::Finishes => self.finish(slot),
            End::Yields => {
                self.slots[slot].state = State::Ready;
                if self.random.one_in(2) {
                    self.yielded = Some(task);
                } else {
                    self.policy.push(task, Ready::Yielded);
                }
            }
        }
    }

    fn finish(&mut self, slot: usize) {
        let Slot { task, group, .. } = self.slots[slot];
        self.slots[slot].state = State::Free;
        self.policy.gone(Gone::Task(task));
        let group = &mut self.groups[group];
        group.tasks -= 1;
        if group.tasks == 0 {
            *group = Group::default();
            self.free.push(task.group.index() as u32);
            self.policy.gone(Gone::Group(task.group));
        }
    }
}
