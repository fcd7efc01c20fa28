//! The model that a policy is held against: which tasks there are and what each is doing.

use super::load::{End, Load, Part};
use super::twins::Twins;
use super::{Broken, Candidate, Crowd, Law, Laws, Moment, Report};
use crate::random::Random;
use crate::{GroupId, Ready, Scheduler, Task, TaskId};

#[derive(Clone, Copy, Debug)]
enum State {
    /// Finished, or never used.
    Free,
    Asleep,
    Ready(Wait),
    Running,
}

/// A task's wait for its poll.
#[derive(Clone, Copy, Debug)]
struct Wait {
    why: Ready,
    /// Number in the order of becoming ready.
    number: u64,
    /// Pops since.
    pops: u64,
    /// The service of all polls before.
    began_ns: u64,
    crowd: Crowd,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    state: State,
    task: Task,
    arrival: u64,
    part: Part,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    open: bool,
    tasks: usize,
    attained_ns: u64,
}

/// One policy under one load.
pub(super) struct World<'a, S> {
    laws: &'a Laws<'a, S>,
    load: Load,
    policy: Twins<S>,
    /// The slot of a task that yielded and is to be handed back with the next pop.
    yielded: Option<usize>,
    random: Random,
    slots: Vec<Slot>,
    groups: Vec<Group>,
    /// Tasks spawned and unfinished.
    live: usize,
    /// Tasks ready.
    ready: usize,
    step: u64,
    pops: u64,
    spawned: u64,
    /// Times that a task became ready.
    pushes: u64,
    groups_closed: u64,
    longest_wait: u64,
    /// The service of all polls.
    service_ns: u64,
    longest_poll_ns: u64,
}

impl<'a, S: Scheduler> World<'a, S> {
    pub(super) fn new(laws: &'a Laws<'a, S>, load: Load) -> Self {
        Self {
            laws,
            load,
            policy: Twins::new(&*laws.make),
            yielded: None,
            random: Random::new(laws.seed),
            slots: Vec::new(),
            groups: Vec::new(),
            live: 0,
            ready: 0,
            step: 0,
            pops: 0,
            spawned: 0,
            pushes: 0,
            groups_closed: 0,
            longest_wait: 0,
            service_ns: 0,
            longest_poll_ns: 0,
        }
    }

    pub(super) fn run(mut self, report: &mut Report) -> Result<(), Broken> {
        for &part in self.load.cast() {
            self.spawn(part);
        }
        while self.step < self.laws.steps {
            self.between_polls();
            self.poll_next()?;
            self.step += 1;
        }
        self.drain()?;
        report.pops += self.pops;
        report.spawned += self.spawned;
        report.groups_closed += self.groups_closed;
        report.longest_wait = report.longest_wait.max(self.longest_wait);
        Ok(())
    }

    /// Spawns, wakes, cancels, as the outside world does.
    fn between_polls(&mut self) {
        let room = self.load.tasks(self.laws.tasks).saturating_sub(self.live);
        for _ in 0..room {
            if self.random.one_in(self.load.spawns_one_in()) {
                self.spawn(self.load.extra());
            }
        }
        if self.random.one_in(2) {
            self.wake_someone();
        }
        if self.random.one_in(16) {
            self.cancel_someone();
        }
        if self.random.one_in(8) {
            self.close_an_empty_group();
        }
    }

    /// One round of the calls that `Scheduler` documents.
    fn poll_next(&mut self) -> Result<(), Broken> {
        let popped = match self.yielded.take() {
            Some(slot) => self.push_pop(slot)?,
            None => self.policy.pop(),
        };
        let Some(slot) = self.judge(popped)? else { return Ok(()) };
        let task = self.slots[slot].task;
        let part = self.slots[slot].part;
        let service_ns = part.service_ns(&mut self.random);
        let group = &mut self.groups[task.group.index()];
        group.attained_ns = group.attained_ns.saturating_add(service_ns);
        self.service_ns += service_ns;
        self.longest_poll_ns = self.longest_poll_ns.max(service_ns);
        self.policy.served(task, service_ns);
        if self.random.one_in(4) {
            self.wake_someone();
        }
        match part.end(&mut self.random) {
            End::Yielded if self.random.one_in(2) => self.yielded = Some(slot),
            End::Yielded => self.push(slot, Ready::Yielded),
            End::Asleep => self.slots[slot].state = State::Asleep,
            End::Finished => self.finish(slot),
        }
        // The most stubborn sleeper: awake again before anything else is popped.
        if matches!(part, Part::Sleeper) {
            self.push(slot, Ready::Woken);
        }
        Ok(())
    }

    /// Pops all that is left, so that nothing lost goes unseen.
    fn drain(&mut self) -> Result<(), Broken> {
        if let Some(slot) = self.yielded.take() {
            self.push(slot, Ready::Yielded);
        }
        // The first is woken again, and nothing comes after it for which it would be pushed too.
        let mut is_first = true;
        loop {
            let popped = self.policy.pop();
            let Some(slot) = self.judge(popped)? else { return Ok(()) };
            self.slots[slot].state = State::Asleep;
            if std::mem::take(&mut is_first) {
                self.push(slot, Ready::Woken);
            }
        }
    }

    /// Holds what was popped against the laws; gives its slot, or `None` where nothing was ready.
    fn judge(&mut self, popped: Option<TaskId>) -> Result<Option<usize>, Broken> {
        let Some(id) = popped else {
            return if self.ready == 0 { Ok(None) } else { Err(self.none_too_early()) };
        };
        let wait = self.wait_of(id).map_err(|law| self.broken(law, id))?;
        self.pops += 1;
        self.judge_order(id)?;
        self.slots[id.slot()].state = State::Running;
        self.longest_wait = self.longest_wait.max(wait.pops + 1);
        self.judge_waits(id, wait)?;
        Ok(Some(id.slot()))
    }

    /// The wait of a task that was popped, or the law that it broke.
    fn wait_of(&self, id: TaskId) -> Result<Wait, Law> {
        let slot = self.slots.get(id.slot()).ok_or(Law::NothingInvented)?;
        let current = slot.task.id.generation();
        match slot.state {
            _ if id.generation() > current => Err(Law::NothingInvented),
            _ if id.generation() < current => Err(Law::NothingStale),
            State::Free => Err(Law::NothingStale),
            State::Asleep | State::Running => Err(Law::NothingTwice),
            State::Ready(wait) => Ok(wait),
        }
    }

    fn judge_order(&self, id: TaskId) -> Result<(), Broken> {
        let Some(allows) = &self.laws.order else { return Ok(()) };
        let ready: Vec<Candidate> = self.slots.iter().filter_map(|slot| self.candidate(slot)).collect();
        let popped = ready.iter().find(|candidate| candidate.id == id);
        let allowed = popped.is_some_and(|&popped| {
            allows(&Moment { popped, ready: &ready, pops: self.pops, service_ns: self.service_ns })
        });
        if allowed { Ok(()) } else { Err(self.broken(Law::Order, id)) }
    }

    fn candidate(&self, slot: &Slot) -> Option<Candidate> {
        let State::Ready(wait) = slot.state else { return None };
        let Slot { task, arrival, .. } = *slot;
        let attained_ns = self.groups[task.group.index()].attained_ns;
        Some(Candidate {
            id: task.id,
            group: task.group,
            arrival,
            became_ready: wait.number,
            why: wait.why,
            attained_ns,
        })
    }

    /// Counts this pop for all that are still ready, and checks that none, nor the one popped, has waited too long.
    fn judge_waits(&mut self, popped: TaskId, wait: Wait) -> Result<(), Broken> {
        let now = self.crowd();
        self.ready -= 1;
        let exceeds =
            |wait: Wait| self.laws.bound.as_ref().is_some_and(|bound| wait.pops > bound(wait.crowd));
        let crowd = wait.crowd.max(now.since(wait.began_ns));
        let mut late = exceeds(Wait { pops: wait.pops + 1, crowd, ..wait }).then_some(popped);
        for slot in &mut self.slots {
            let State::Ready(wait) = &mut slot.state else { continue };
            wait.pops += 1;
            wait.crowd = wait.crowd.max(now.since(wait.began_ns));
            if exceeds(*wait) {
                late = late.or(Some(slot.task.id));
            }
        }
        match late {
            None => Ok(()),
            // What never comes out at all was not starved but lost.
            Some(id) if id == popped || self.comes_out(id) => Err(self.broken(Law::BoundedWait, id)),
            Some(id) => Err(self.broken(Law::NothingLost, id)),
        }
    }

    /// Whether the policy still has `id`: pops until it comes, for the last time on this policy.
    fn comes_out(&mut self, id: TaskId) -> bool {
        (0..=self.slots.len()).any(|_| self.policy.pop() == Some(id))
    }

    /// `pop` gave `None` though tasks are ready: a lie where they come out later, else they are lost.
    fn none_too_early(&mut self) -> Broken {
        let more = (0..=self.slots.len()).any(|_| self.policy.pop().is_some());
        let law = if more { Law::NoneIfEmpty } else { Law::NothingLost };
        let id = self.longest_waiting().unwrap_or(TaskId::new(0, 0));
        self.broken(law, id)
    }

    fn broken(&self, law: Law, task: TaskId) -> Broken {
        Broken { law, load: self.load, step: self.step, task, seed: self.laws.seed }
    }

    fn longest_waiting(&self) -> Option<TaskId> {
        let waits = self.slots.iter().filter_map(|slot| match slot.state {
            State::Ready(wait) => Some((wait.number, slot.task.id)),
            _ => None,
        });
        waits.min().map(|(_, id)| id)
    }

    fn crowd(&self) -> Crowd {
        let Self { service_ns, longest_poll_ns, .. } = *self;
        Crowd { ready: self.ready, tasks: self.live, groups: self.groups.len(), service_ns, longest_poll_ns }
    }

    fn spawn(&mut self, part: Part) {
        let group = self.choose_group();
        self.groups[group].open = true;
        self.groups[group].tasks += 1;
        let slot = self.free_slot(part, GroupId::new(group as u32));
        self.slots[slot].arrival = self.spawned;
        self.spawned += 1;
        self.live += 1;
        self.push(slot, Ready::Spawned);
    }

    /// A slot for a new task: a used one of which the generation has gone up, if there is one.
    fn free_slot(&mut self, part: Part, group: GroupId) -> usize {
        let free = self.slots.iter().position(|slot| matches!(slot.state, State::Free));
        let generation = free.map_or(0, |slot| self.slots[slot].task.id.generation() + 1);
        let slot = free.unwrap_or(self.slots.len());
        let task = Task { id: TaskId::new(slot as u32, generation), group };
        let fresh = Slot { state: State::Asleep, task, arrival: 0, part };
        match self.slots.get_mut(slot) {
            Some(used) => *used = fresh,
            None => self.slots.push(fresh),
        }
        slot
    }

    fn choose_group(&mut self) -> usize {
        let open = self.groups.iter().filter(|group| group.open).count();
        let one_in = self.load.joins_one_in();
        let joins = open > 0 && one_in > 0 && self.random.one_in(one_in);
        if joins && (open >= self.laws.groups || !self.random.one_in(3)) {
            let nth = self.random.below(open);
            let mut indices = (0..self.groups.len()).filter(|&index| self.groups[index].open);
            return indices.nth(nth).unwrap_or(0);
        }
        let closed = self.groups.iter().position(|group| !group.open);
        closed.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        })
    }

    fn push(&mut self, slot: usize, why: Ready) {
        self.make_ready(slot, why);
        self.policy.push(self.slots[slot].task, why);
    }

    /// Hands a task back that yielded, and pops.
    fn push_pop(&mut self, slot: usize) -> Result<Option<TaskId>, Broken> {
        self.make_ready(slot, Ready::Yielded);
        let (popped, expected) = self.policy.push_pop(self.slots[slot].task);
        if popped == expected { Ok(popped) } else { Err(self.broken(Law::Swap, self.slots[slot].task.id)) }
    }

    fn make_ready(&mut self, slot: usize, why: Ready) {
        self.ready += 1;
        let (began_ns, crowd) = (self.service_ns, self.crowd().since(self.service_ns));
        self.slots[slot].state = State::Ready(Wait { why, number: self.pushes, pops: 0, began_ns, crowd });
        self.pushes += 1;
    }

    fn some_sleeper(&mut self) -> Option<usize> {
        let asleep = |slot: &usize| matches!(self.slots[*slot].state, State::Asleep);
        let sleepers: Vec<usize> = (0..self.slots.len()).filter(asleep).collect();
        (!sleepers.is_empty()).then(|| sleepers[self.random.below(sleepers.len())])
    }

    fn wake_someone(&mut self) {
        if let Some(slot) = self.some_sleeper() {
            let why = if slot.is_multiple_of(3) { Ready::Deferred } else { Ready::Woken };
            self.push(slot, why);
        }
    }

    fn cancel_someone(&mut self) {
        if let Some(slot) = self.some_sleeper() {
            self.finish(slot);
        }
    }

    fn finish(&mut self, slot: usize) {
        let task = self.slots[slot].task;
        self.slots[slot].state = State::Free;
        self.live -= 1;
        self.policy.finished(task);
        self.groups[task.group.index()].tasks -= 1;
        // At times a handle outlives the tasks of its group.
        if self.groups[task.group.index()].tasks == 0 && !self.random.one_in(4) {
            self.close(task.group.index());
        }
    }

    fn close_an_empty_group(&mut self) {
        if let Some(index) = self.groups.iter().position(|group| group.open && group.tasks == 0) {
            self.close(index);
        }
    }

    fn close(&mut self, index: usize) {
        self.groups[index] = Group::default();
        self.groups_closed += 1;
        self.policy.group_closed(GroupId::new(index as u32));
    }
}
