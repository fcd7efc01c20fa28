//! What came of a program that was run to its end, and what that says by itself, without a reference.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

use clockworker::{ExecutorStats, Queue};

use super::event::{Actor, End, Entry, Event, WaitsFor};
use super::op::{TaskName, Thread};

/// What was seen of a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Everything, in order.
    pub(super) trace: Vec<Entry>,
    pub(super) accounts: Accounts,
}

impl Outcome {
    /// How many events there were.
    pub fn events(&self) -> usize {
        self.trace.len()
    }

    /// What it says by itself, if there were so many free threads. What those are asked for does not happen at once.
    pub fn audit(&self, threads: usize) -> Audit {
        let mut reader = Reader { is_timely: threads == 0, ..Reader::default() };
        self.trace.iter().for_each(|entry| reader.read(entry));
        reader.end(&self.accounts)
    }
}

/// Tasks spawned, completed, cancelled and panicked.
type Tasks = [u64; 4];

/// What the executor counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    /// Of an executor that was not dropped with tasks in it.
    executor: Option<Tasks>,
    /// The sum of all queues after the end.
    queues: Tasks,
    /// By queue.
    polls: Vec<u64>,
    /// By how much sums are not what they are the sum of.
    off: u64,
    /// Faults of schedulers that have none.
    faults: u64,
}

impl Accounts {
    /// From the statistics before the executor is dropped, at that time if its clock is manual. `is_over` says that no task is
    /// left.
    pub(super) fn before_drop(
        stats: &ExecutorStats,
        queues: &[Queue],
        now: Option<Duration>,
        is_over: bool,
    ) -> Self {
        let all = [stats.spawned, stats.completed, stats.cancelled, stats.panicked];
        let time = stats.busy + stats.main + stats.own + stats.host;
        let busy: Duration = queues.iter().map(|queue| queue.stats().busy).sum();
        let off = stats.spawned.abs_diff(all[1..].iter().sum::<u64>() + stats.live as u64)
            + now.map_or(0, |now| time.abs_diff(now).as_nanos() as u64)
            + stats.busy.abs_diff(busy).as_nanos() as u64;
        Accounts { executor: is_over.then_some(all), off, ..Accounts::default() }
    }

    /// From the queues' statistics after the end.
    pub(super) fn after_drop(&mut self, queues: &[Queue], hostile: Option<usize>) {
        for (at, stats) in queues.iter().map(Queue::stats).enumerate() {
            let tasks = [stats.spawned - stats.moved, stats.completed, stats.cancelled, stats.panicked];
            self.queues.iter_mut().zip(tasks).for_each(|(sum, count)| *sum += count);
            self.polls.push(stats.polls);
            self.off += stats.live as u64 + stats.ready as u64;
            self.faults += u64::from(stats.policy_fault.is_some() && hostile != Some(at));
        }
    }
}

/// What outcomes say without a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Tasks spawned.
    pub tasks: u64,
    /// Polls.
    pub polls: u64,
    /// Tasks that were moved, those not counted that moved themselves.
    pub moves: u64,
    /// Where tasks were when they were aborted, by what, and on which thread.
    pub aborts: BTreeSet<(Phase, Actor, Thread)>,
    /// How often each kind of event was seen.
    events: HashMap<Discriminant<Event>, u64>,
    /// What is not as it must be, and how often.
    complaints: BTreeMap<&'static str, u64>,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Spawned by another thread, and not yet seen by the owner.
    New,
    /// It waits for a wake.
    Parked,
    /// Woken, and not yet in its scheduler.
    Arriving,
    /// In its scheduler.
    Ready,
    /// Being polled.
    Running,
    /// Being polled, and woken meanwhile.
    RunningWoken,
}

impl Audit {
    /// Whether there is nothing to complain of.
    pub fn is_clean(&self) -> bool {
        self.complaints.is_empty()
    }

    /// How many kinds of events were seen, and how often the rarest.
    pub fn events(&self) -> (usize, u64) {
        (self.events.len(), self.events.values().copied().min().unwrap_or(0))
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Audit) {
        self.tasks += other.tasks;
        self.polls += other.polls;
        self.moves += other.moves;
        self.aborts.extend(&other.aborts);
        other.events.iter().for_each(|(kind, times)| *self.events.entry(*kind).or_default() += times);
        other.complaints.iter().for_each(|(what, times)| self.complain(what, *times));
    }

    fn complain(&mut self, what: &'static str, times: u64) {
        if times > 0 {
            *self.complaints.entry(what).or_default() += times;
        }
    }
}

/// What was seen of one task.
#[derive(Clone, Copy, Default)]
struct Seen {
    spawned: u64,
    spawned_on: Option<Thread>,
    queue: u16,
    /// It moves after its last poll.
    moves: bool,
    refused: u64,
    unmade: u64,
    future_drops: u64,
    outputs: u64,
    output_drops: u64,
    panicked: bool,
    ended: bool,
    running: bool,
    polled: bool,
    /// Spawned or woken since its last poll, when there had been so many polls.
    woken: Option<u64>,
    waits_for: Option<WaitsFor>,
    /// By what, when there had been so many polls of its queue, and so many tasks were dropped on their way in.
    aborted: Option<(Actor, u64, u64)>,
}

impl Seen {
    /// Where it is after so many polls.
    fn phase(&self, polls: u64) -> Phase {
        match self.woken {
            None if self.running => Phase::Running,
            Some(_) if self.running => Phase::RunningWoken,
            None => Phase::Parked,
            Some(at) if at < polls => Phase::Ready,
            Some(_) if self.polled => Phase::Arriving,
            Some(_) if self.spawned_on == Some(Thread::Other) => Phase::New,
            Some(_) => Phase::Ready,
        }
    }
}

/// Reads a trace.
#[derive(Default)]
struct Reader {
    is_timely: bool,
    audit: Audit,
    tasks: BTreeMap<TaskName, Seen>,
    /// Polls of tasks and of the future that is run; and of tasks by queue.
    polls: u64,
    polls_of: BTreeMap<u16, u64>,
    /// Tasks that were dropped on their way in. As such a drop may take long, polls come before what arrived after it.
    unmade: u64,
    /// Polls when the last of them was dropped.
    polls_at_unmade: Option<u64>,
}

impl Reader {
    fn task(&mut self, task: TaskName) -> &mut Seen {
        self.tasks.entry(task).or_default()
    }

    fn polls_of(&self, queue: u16) -> u64 {
        self.polls_of.get(&queue).copied().unwrap_or(0)
    }

    fn read(&mut self, entry: &Entry) {
        let is_owners = match entry.event {
            Event::Polled(..) | Event::Pending(..) | Event::Finished(_) | Event::FutureDropped(_) => true,
            // A closure that is to make a future goes where it is refused.
            Event::Refused(task) => self.task(task).spawned_on != Some(Thread::Other),
            _ => false,
        };
        self.audit.complain("futures touched on another thread", (is_owners && entry.elsewhere).into());
        *self.audit.events.entry(discriminant(&entry.event)).or_default() += 1;
        let polls = self.polls;
        match entry.event {
            Event::Spawned(task, queue, on) => {
                let seen = self.task(task);
                (seen.spawned, seen.spawned_on, seen.woken) = (seen.spawned + 1, Some(on), Some(polls));
                seen.queue = queue.unwrap_or(0);
            }
            Event::Main => self.polls += 1,
            Event::Polled(task, queue) => self.polled(task, queue),
            Event::Pending(task, waits_for) => {
                let seen = self.task(task);
                (seen.running, seen.waits_for) = (false, Some(waits_for));
            }
            Event::Moved(task, queue, is_ready) => self.moved(task, queue, is_ready),
            Event::Moves(task) => self.task(task).moves = true,
            Event::Woken(task) => drop(self.task(task).woken.get_or_insert(polls)),
            Event::Aborted(task, by, on) => self.aborted(task, by, on),
            Event::FutureDropped(task) => self.dropped(task),
            Event::Unmade(task) => {
                self.task(task).unmade += 1;
                self.dropped(task);
                self.unmade += 1;
                self.polls_at_unmade = Some(self.polls);
            }
            Event::Refused(task) => {
                self.task(task).refused += 1;
                self.dropped(task);
            }
            Event::Finished(task) => self.task(task).outputs += 1,
            Event::Panics(task) => self.task(task).panicked = true,
            Event::OutputDropped(task) => self.task(task).output_drops += 1,
            Event::Late(_) => self.audit.complain("waits that were over without a wake", 1),
            Event::Unanswered(_) => self.audit.complain("join handles without an answer", 1),
            Event::Rest => {
                let is_lost = |seen: &&Seen| seen.woken.is_some() && !seen.ended && seen.spawned > 0;
                let lost = self.tasks.values().filter(is_lost).count() as u64;
                self.audit.complain("wakes without a poll", lost);
            }
            Event::Joined(of, _, end) => {
                let seen = self.task(of);
                let due = match seen {
                    Seen { panicked: true, .. } => End::Panicked,
                    Seen { outputs: 0, .. } => End::Cancelled,
                    _ => End::Output(of),
                };
                self.audit.complain("join handles with a wrong answer", (end != due).into());
            }
            Event::Visit | Event::Created(..) | Event::Stopped(_) | Event::Ended => {}
        }
    }

    fn polled(&mut self, task: TaskName, queue: u16) {
        self.polls += 1;
        self.audit.polls += 1;
        *self.polls_of.entry(queue).or_default() += 1;
        let seen = *self.task(task);
        let may_be_polled = match seen.waits_for {
            None | Some(WaitsFor::Else) => true,
            Some(WaitsFor::Wake) => seen.woken.is_some(),
            Some(WaitsFor::End(of)) => seen.woken.is_some() || self.task(of).ended,
        };
        // A free thread's wake may come after a poll that others woke it for.
        let unwoken = self.is_timely && !may_be_polled;
        self.audit.complain("polls after the end", seen.ended.into());
        self.audit.complain("polls without a wake", unwoken.into());
        let seen = self.task(task);
        (seen.woken, seen.running, seen.polled) = (None, true, true);
        (seen.queue, seen.moves) = (queue, false);
    }

    fn moved(&mut self, task: TaskName, queue: u16, is_ready: bool) {
        let (polls, before) = (self.polls, self.polls_of(queue));
        self.audit.moves += u64::from(is_ready);
        let seen = self.task(task);
        seen.woken = seen.woken.or(is_ready.then_some(polls));
        seen.queue = queue;
        if let Some((_, polls, _)) = &mut seen.aborted {
            *polls = before;
        }
    }

    fn aborted(&mut self, task: TaskName, by: Actor, on: Thread) {
        let (polls, seen) = (self.polls, *self.task(task));
        if !seen.ended && seen.spawned > 0 && seen.aborted.is_none() {
            self.audit.aborts.insert((seen.phase(polls), by, on));
            // An admission that takes long is followed by a slice of one poll, also if the abort comes before it.
            let grace = u64::from(self.polls_at_unmade == Some(polls));
            // In which queue it will be dropped is not known of one that moves.
            let before = if seen.moves { u64::MAX } else { self.polls_of(seen.queue) + grace };
            self.task(task).aborted = Some((by, before, self.unmade));
        }
    }

    fn dropped(&mut self, task: TaskName) {
        let seen = self.task(task);
        (seen.future_drops, seen.ended) = (seen.future_drops + 1, true);
        let Seen { queue, aborted: Some((by, before, unmade)), .. } = *seen else { return };
        // A scheduler aborts while the next poll is being chosen.
        if self.is_timely && by != Actor::Scheduler && unmade == self.unmade {
            let late = self.polls_of(queue).saturating_sub(before);
            self.audit.complain("polls of a queue before the drop of its aborted task", late);
        }
    }

    fn end(mut self, counted: &Accounts) -> Audit {
        let (mut ended, mut unmade) = (Tasks::default(), 0);
        // One that waited for room in vain was not spawned.
        for seen in self.tasks.values().filter(|seen| seen.spawned > 0) {
            let audit = &mut self.audit;
            audit.tasks += seen.spawned;
            audit.complain("futures not dropped once", (seen.spawned != seen.future_drops).into());
            audit.complain("outputs not dropped once", (seen.outputs != seen.output_drops).into());
            let end = if seen.panicked {
                3
            } else if seen.outputs > 0 {
                1
            } else {
                2
            };
            ended[0] += seen.spawned - seen.refused;
            ended[end] += seen.spawned - seen.refused;
            unmade += seen.unmade;
        }
        // A task that is refused when it comes in from another thread is in its executor's accounts only.
        let on_the_way = ended[0].saturating_sub(counted.queues[0]).min(unmade);
        let [spawned, completed, cancelled, panicked] = counted.queues;
        let queues = [spawned + on_the_way, completed, cancelled + on_the_way, panicked];
        let gap = |counted: &Tasks| -> u64 { counted.iter().zip(&ended).map(|(a, b)| a.abs_diff(*b)).sum() };
        self.audit.complain("tasks that the queues miscounted", gap(&queues));
        self.audit.complain("tasks that the executor miscounted", counted.executor.as_ref().map_or(0, gap));
        let total = counted.polls.iter().sum::<u64>();
        self.audit.complain("polls miscounted", total.abs_diff(self.audit.polls));
        let mut of_queues = (0..).zip(&counted.polls);
        let miscounted = of_queues.any(|(queue, &polls)| polls != self.polls_of(queue));
        // To which queue a free thread has sent a task is not known.
        self.audit.complain("polls of another queue", (self.is_timely && miscounted).into());
        self.audit.complain("accounts that do not add up", counted.off);
        self.audit.complain("faults of schedulers that have none", counted.faults);
        self.audit
    }
}
