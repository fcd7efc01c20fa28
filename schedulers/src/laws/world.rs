//! The model that a policy is held against: which tasks there are and what each is doing.
//!
//! It makes all the calls that the executor makes, in the executor's order: also those that are rare there, as where tasks are
//! aborted, all are taken out and pushed again, or another policy takes over.

use super::load::{End, Load, Part};
use super::twins::Twins;
use super::{Broken, Candidate, Crowd, Law, Laws, Moment, Report};
use crate::random::Random;
use crate::{Attributes, Gone, GroupId, Ready, Scheduler, Share, Subject, Task, TaskId};

/// Shorter polls are timed by lot: one in so many, which counts for all.
const SHORT_NS: u64 = 1_024;
const LOT: u32 = 4;

#[derive(Clone, Copy, Debug)]
enum State {
    /// Finished, or never used.
    Free,
    /// Not a task's: a group that was opened has this index.
    Group,
    Asleep,
    Ready(Wait),
    /// It was aborted while it was ready: it finishes when it is popped.
    Aborted,
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
    /// What was said of it, if anything.
    attributes: Option<Attributes>,
}

/// By index, which it shares with the tasks' slots: a task without a group is one of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// The key and the attributes that it was opened with, if it was.
    opened: Option<(u64, Attributes)>,
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
    /// How much of it the policy was told as time that passed.
    told_ns: u64,
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
            told_ns: 0,
            longest_poll_ns: 0,
        }
    }

    pub(super) fn run(mut self, report: &mut Report) -> Result<(), Broken> {
        for &part in self.load.cast() {
            self.spawn(part);
        }
        while self.step < self.laws.steps {
            if self.plays_all() && self.load.takes_all() && self.random.one_in(1_000) {
                let takes_over = self.random.one_in(3);
                self.take_all(takes_over)?;
            }
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

    /// Whether rare calls are made, too: the law of an order knows of no attributes, of no lot, and of no pop without a poll.
    fn plays_all(&self) -> bool {
        self.laws.order.is_none()
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
        if self.plays_all() && self.random.one_in(64) {
            self.abort_someone_ready();
        }
        if self.random.one_in(8) {
            self.close_an_empty_group();
        }
        if self.plays_all() && self.random.one_in(32) {
            self.change_a_group();
        }
    }

    /// One round of the calls that `Scheduler` documents.
    fn poll_next(&mut self) -> Result<(), Broken> {
        if self.yielded.is_none() && self.step.is_multiple_of(16) {
            self.policy.time_passed(0, self.service_ns); // a slice begins
        }
        let popped = match self.yielded.take() {
            Some(slot) => self.push_pop(slot)?,
            None => self.policy.pop(),
        };
        let Some(slot) = self.judge(popped)? else { return Ok(()) };
        if matches!(self.slots[slot].state, State::Aborted) {
            self.finish(slot);
            self.drained_if_empty();
            return Ok(());
        }
        self.slots[slot].state = State::Running;
        let part = self.slots[slot].part;
        let service_ns = part.service_ns(&mut self.random);
        self.longest_poll_ns = self.longest_poll_ns.max(service_ns);
        if service_ns >= SHORT_NS || !self.plays_all() {
            self.serve(slot, service_ns, 1);
        } else if self.random.one_in(LOT as usize) {
            self.serve(slot, service_ns, LOT);
        } else {
            self.service_ns += service_ns;
        }
        let end = part.end(&mut self.random);
        match end {
            End::Yielded => {}
            End::Asleep => self.slots[slot].state = State::Asleep,
            End::Finished => self.finish(slot),
        }
        if self.random.one_in(4) {
            self.wake_someone();
        }
        match end {
            End::Yielded if self.random.one_in(2) => self.yielded = Some(slot),
            End::Yielded => self.push(slot, Ready::Yielded),
            // The most stubborn sleeper: awake again before anything else is popped.
            End::Asleep if matches!((part, self.slots[slot].state), (Part::Sleeper, State::Asleep)) => {
                self.push(slot, Ready::Woken);
            }
            End::Asleep | End::Finished => {}
        }
        self.drained_if_empty();
        Ok(())
    }

    /// Tells the policy of a poll, which was timed and stands for so many; or of a drop, which is none.
    fn serve(&mut self, slot: usize, service_ns: u64, polls: u32) {
        let task = self.slots[slot].task;
        let told_ns = service_ns * u64::from(polls.max(1));
        let group = &mut self.groups[task.group.index()];
        group.attained_ns = group.attained_ns.saturating_add(told_ns);
        self.service_ns += service_ns;
        self.policy.served((task, polls, told_ns), self.service_ns - self.told_ns, self.service_ns);
        self.told_ns = self.service_ns;
    }

    fn drained_if_empty(&mut self) {
        if self.ready == 0 && self.yielded.is_none() {
            self.policy.gone(Gone::Backlog);
        }
    }

    /// Takes all tasks out of the policy, and pushes them again: into another one, if that takes over.
    fn take_all(&mut self, takes_over: bool) -> Result<(), Broken> {
        if let Some(slot) = self.yielded.take() {
            self.push(slot, Ready::Yielded);
        }
        let mut taken = Vec::new();
        while let Some(id) = self.policy.pop() {
            self.wait_of(id).map_err(|law| self.broken(law, id))?;
            if taken.contains(&id.slot()) {
                return Err(self.broken(Law::NothingTwice, id));
            }
            taken.push(id.slot());
        }
        if taken.len() < self.ready {
            return Err(self.none_too_early());
        }
        self.ready = 0;
        if takes_over {
            self.take_over();
        } else {
            let is_aborted = |slot: &usize| matches!(self.slots[*slot].state, State::Aborted);
            let (aborted, kept): (Vec<usize>, Vec<usize>) = taken.into_iter().partition(is_aborted);
            // Told when all are out.
            aborted.into_iter().for_each(|slot| self.finish(slot));
            taken = kept;
        }
        for slot in taken {
            if matches!(self.slots[slot].state, State::Aborted) {
                self.ready += 1;
                self.policy.push(self.slots[slot].task, Ready::Woken);
            } else {
                self.push(slot, Ready::Woken);
            }
        }
        Ok(())
    }

    /// Another policy, which is told of open groups and of what was said of tasks. What groups have had it does not know.
    fn take_over(&mut self) {
        self.policy = Twins::new(&*self.laws.make);
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.attained_ns = 0;
            if let Some((key, attributes)) = &group.opened {
                let group = GroupId::new(index as u32);
                self.policy.said(Subject::NewGroup { group, key: *key }, attributes);
            }
        }
        for slot in self.slots.iter().filter(|slot| !matches!(slot.state, State::Free | State::Group)) {
            if let Some(attributes) = &slot.attributes {
                self.policy.said(Subject::Task(slot.task), attributes);
            }
        }
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
            if matches!(self.slots[slot].state, State::Aborted) {
                self.finish(slot);
                continue;
            }
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
        if let Some(wait) = wait {
            self.judge_order(id)?;
            self.longest_wait = self.longest_wait.max(wait.pops + 1);
        }
        self.judge_waits(id, wait)?;
        Ok(Some(id.slot()))
    }

    /// The wait of a task that was popped, if it is not an aborted one; or the law that was broken.
    fn wait_of(&self, id: TaskId) -> Result<Option<Wait>, Law> {
        let slot = self.slots.get(id.slot()).ok_or(Law::NothingInvented)?;
        let current = slot.task.id.generation();
        match slot.state {
            _ if id.generation() > current => Err(Law::NothingInvented),
            _ if id.generation() < current => Err(Law::NothingStale),
            State::Free | State::Group => Err(Law::NothingStale),
            State::Asleep | State::Running => Err(Law::NothingTwice),
            State::Ready(wait) => Ok(Some(wait)),
            State::Aborted => Ok(None),
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
    fn judge_waits(&mut self, popped: TaskId, wait: Option<Wait>) -> Result<(), Broken> {
        let now = self.crowd();
        self.ready -= 1;
        let exceeds =
            |wait: Wait| self.laws.bound.as_ref().is_some_and(|bound| wait.pops > bound(wait.crowd));
        let is_late = |wait: Wait| {
            let crowd = wait.crowd.max(now.since(wait.began_ns));
            exceeds(Wait { pops: wait.pops + 1, crowd, ..wait })
        };
        let mut late = wait.is_some_and(is_late).then_some(popped);
        for slot in self.slots.iter_mut().filter(|slot| slot.task.id != popped) {
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
        let slot = self.free_slot(part, group);
        let group = self.slots[slot].task.group.index();
        self.groups[group].tasks += 1;
        self.slots[slot].arrival = self.spawned;
        self.spawned += 1;
        self.live += 1;
        if self.random.one_in(4) {
            let attributes = self.draw_attributes();
            self.slots[slot].attributes = Some(attributes);
            self.policy.said(Subject::Task(self.slots[slot].task), &attributes);
        }
        self.push(slot, Ready::Spawned);
    }

    /// A slot for a new task, in that group or its own: a used one of which the generation has gone up, if there is one.
    fn free_slot(&mut self, part: Part, group: Option<usize>) -> usize {
        let free = self.slots.iter().position(|slot| matches!(slot.state, State::Free));
        let generation = free.map_or(0, |slot| self.slots[slot].task.id.generation() + 1);
        let slot = free.unwrap_or(self.slots.len());
        let group = GroupId::new(group.unwrap_or(slot) as u32);
        let task = Task { id: TaskId::new(slot as u32, generation), group };
        let fresh = Slot { state: State::Asleep, task, arrival: 0, part, attributes: None };
        match self.slots.get_mut(slot) {
            Some(used) => *used = fresh,
            None => {
                self.slots.push(fresh);
                self.groups.push(Group::default());
            }
        }
        slot
    }

    /// The group of a new task, which may be opened for it; none for one of its own.
    fn choose_group(&mut self) -> Option<usize> {
        let opened: Vec<usize> =
            (0..self.groups.len()).filter(|&index| self.groups[index].opened.is_some()).collect();
        let one_in = self.load.joins_one_in();
        if one_in == 0 || !self.random.one_in(one_in) || self.random.one_in(8) {
            return None;
        }
        if !opened.is_empty() && (opened.len() >= self.laws.groups || !self.random.one_in(3)) {
            return Some(opened[self.random.below(opened.len())]);
        }
        let index = self.free_slot(Part::Mixed, None);
        self.slots[index].state = State::Group;
        let (key, attributes) = (self.random.next() % 64, self.draw_attributes());
        self.groups[index].opened = Some((key, attributes));
        let group = GroupId::new(index as u32);
        self.policy.said(Subject::NewGroup { group, key }, &attributes);
        Some(index)
    }

    fn draw_attributes(&mut self) -> Attributes {
        let attributes = Attributes::new().with_tag(self.random.next());
        if !self.plays_all() {
            return attributes;
        }
        let weight = [1, 1, 3, 10][self.random.below(4)];
        let attributes = attributes.with_weight(Share::new(weight).unwrap_or_default());
        match self.random.below(4) {
            0 => attributes.with_priority(self.random.below(5) as i8 - 2),
            1 => attributes.with_deadline_ns(self.service_ns + self.random.below(2_000_000) as u64),
            _ => attributes,
        }
    }

    fn change_a_group(&mut self) {
        let attributes = self.draw_attributes();
        let mut groups = self.groups.iter_mut().enumerate();
        if let Some((index, (_, said))) =
            groups.find_map(|(index, group)| Some((index, group.opened.as_mut()?)))
        {
            *said = attributes;
            self.policy.said(Subject::Group(GroupId::new(index as u32)), &attributes);
        }
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

    /// Aborts a task that is ready: its future is dropped now, and it finishes when it is popped.
    fn abort_someone_ready(&mut self) {
        // (Not one of the cast, which show what starves.)
        let may_go = |slot: &usize| {
            let Slot { state, part, .. } = self.slots[*slot];
            matches!((state, part), (State::Ready(_), Part::Mixed | Part::Short | Part::Fleeting))
        };
        let ready: Vec<usize> = (0..self.slots.len()).filter(may_go).collect();
        if ready.is_empty() {
            return;
        }
        let slot = ready[self.random.below(ready.len())];
        self.slots[slot].state = State::Aborted;
        let group = self.slots[slot].task.group.index();
        if self.groups[group].opened.is_some() {
            let service_ns = self.random.around(10_000);
            self.serve(slot, service_ns, 0);
        }
    }

    fn finish(&mut self, slot: usize) {
        let task = self.slots[slot].task;
        self.slots[slot].state = State::Free;
        self.live -= 1;
        self.policy.gone(Gone::Task(task));
        let group = &mut self.groups[task.group.index()];
        group.tasks -= 1;
        // At times a handle outlives the tasks of its group.
        if group.tasks == 0 && (group.opened.is_none() || !self.random.one_in(4)) {
            self.close(task.group.index());
        }
    }

    fn close_an_empty_group(&mut self) {
        let is_empty = |group: &Group| group.opened.is_some() && group.tasks == 0;
        if let Some(index) = self.groups.iter().position(is_empty) {
            self.close(index);
        }
    }

    fn close(&mut self, index: usize) {
        if self.groups[index].opened.is_some() {
            self.slots[index].state = State::Free;
        }
        self.groups[index] = Group::default();
        self.groups_closed += 1;
        self.policy.gone(Gone::Group(GroupId::new(index as u32)));
    }
}
