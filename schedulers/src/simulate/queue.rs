//! A queue of the simulated executor: its settings, and its tasks.

use std::rc::Rc;

use super::arrivals::Job;
use super::groups::Groups;
use super::policy::Boxed;
use crate::{Attributes, ClockUse, Gone, GroupId, Ready, Served, Share, Subject, Task, TaskId};

/// The request of a queue that says nothing else: the executor's.
const DEFAULT_REQUEST_NS: u64 = 500_000;

/// A queue: a name, a share, a request, a scheduler, and how its tasks cut their work.
///
/// ```
/// use clockworker_schedulers::simulate::{Boxed, Queue};
/// use clockworker_schedulers::{Qlas, Share};
///
/// let foreground = Queue::new("foreground", Boxed::new(Qlas::new()))
///     .share(Share::new(9).unwrap())
///     .request_ns(100_000)
///     .quantum_ns(20_000);
/// assert_eq!(foreground.name(), "foreground");
/// ```
#[derive(Debug)]
pub struct Queue {
    name: String,
    pub(super) share: Share,
    pub(super) request_ns: u64,
    pub(super) quantum_ns: u64,
    pub(super) endless: u32,
    pub(super) policy: Boxed,
}

impl Queue {
    /// A queue of share 1 and a request of 500 µs, whose tasks do all their work in one poll.
    pub fn new(name: impl Into<String>, policy: Boxed) -> Self {
        Self {
            name: name.into(),
            share: Share::default(),
            request_ns: DEFAULT_REQUEST_NS,
            quantum_ns: u64::MAX,
            endless: 0,
            policy,
        }
    }

    /// Its share of the thread.
    #[must_use]
    pub fn share(self, share: Share) -> Self {
        Self { share, ..self }
    }

    /// The service it asks for per turn, in nanoseconds; 0 is taken as 1.
    #[must_use]
    pub fn request_ns(self, request_ns: u64) -> Self {
        Self { request_ns, ..self }
    }

    /// The longest poll of its tasks, in nanoseconds; 0 is taken as 1. A task yields after each, until its work is done.
    #[must_use]
    pub fn quantum_ns(self, quantum_ns: u64) -> Self {
        Self { quantum_ns: quantum_ns.max(1), ..self }
    }

    /// Gives it so many tasks from the start that never finish: it always has work.
    #[must_use]
    pub fn endless(self, tasks: u32) -> Self {
        Self { endless: tasks, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A task of the simulated executor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) job: Job,
    /// None for a group of its own.
    group: Option<GroupId>,
    /// Work that is left; `ENDLESS` for a task that never finishes.
    left_ns: u64,
    /// Its next poll, among [`Tasks::poll_lengths`].
    poll: Option<usize>,
    generation: u32,
    ready: bool,
}

impl Live {
    /// As its scheduler knows it: without a group, its slot is that of its own, as in the executor.
    fn task(&self, slot: u32) -> Task {
        Task { id: TaskId::new(slot, self.generation), group: self.group.unwrap_or(GroupId::new(slot)) }
    }
}

/// Work without end.
const ENDLESS: u64 = u64::MAX;

/// The tasks of a queue, by slot, as the executor keeps them.
#[derive(Debug)]
pub(super) struct Tasks {
    pub(super) policy: Boxed,
    quantum_ns: u64,
    /// How long the polls are of jobs that have their own.
    poll_lengths: Rc<[u64]>,
    slots: Slots,
    generation: u32,
    groups: Groups,
    pub(super) ready: usize,
    /// Whether EEVDF counts the queue as runnable.
    pub(super) runnable: bool,
    pub(super) busy_ns: u64,
    pub(super) polls: u64,
    pub(super) slices: u64,
}

/// The tasks by slot, and the slots of open groups, of which no task is in.
#[derive(Debug, Default)]
struct Slots {
    taken: Vec<Option<Live>>,
    /// Those to be taken, the next one last.
    free: Vec<u32>,
}

impl Slots {
    /// Takes the slot that was freed last, or a new one.
    fn take(&mut self, live: Option<Live>) -> u32 {
        let slot = self.free.pop().unwrap_or(self.taken.len() as u32);
        match self.taken.get_mut(slot as usize) {
            Some(taken) => *taken = live,
            None => self.taken.push(live),
        }
        slot
    }

    fn free(&mut self, slot: u32) {
        self.taken[slot as usize] = None;
        self.free.push(slot);
    }

    /// The ready task of that id.
    fn ready(&mut self, id: TaskId) -> Option<&mut Live> {
        let live = self.taken.get_mut(id.slot())?.as_mut();
        live.filter(|live| live.ready && live.generation == id.generation())
    }

    /// The task of that id, which was chosen.
    fn chosen(&mut self, id: TaskId) -> &mut Live {
        self.taken[id.slot()].as_mut().expect("it has not ended")
    }
}

/// What a poll did.
pub(super) enum Ran {
    Yielded(Task),
    /// This job is done.
    Finished(Job),
}

impl Tasks {
    pub(super) fn new(queue: Queue, poll_lengths: Rc<[u64]>) -> Self {
        let Queue { quantum_ns, policy, .. } = queue;
        Self {
            policy,
            quantum_ns,
            poll_lengths,
            slots: Slots::default(),
            generation: 0,
            groups: Groups::default(),
            ready: 0,
            runnable: false,
            busy_ns: 0,
            polls: 0,
            slices: 0,
        }
    }

    /// Adds a task and hands it to the scheduler.
    pub(super) fn spawn(&mut self, job: Job) {
        self.add(job, job.service_ns.clamp(1, ENDLESS - 1));
    }

    /// Adds a task that never finishes.
    pub(super) fn spawn_endless(&mut self, queue: usize) {
        self.add(Job { at_ns: 0, queue, service_ns: ENDLESS, group: None, polls: None }, ENDLESS);
    }

    fn add(&mut self, job: Job, left_ns: u64) {
        self.generation = self.generation.wrapping_add(1);
        let group = job.group.map(|key| {
            let joined = self.groups.join(key, || self.slots.take(None));
            if joined.is_new {
                let group = Subject::NewGroup { group: joined.group, key: key.into() };
                self.policy.scheduler.said(group, &Attributes::new());
            }
            joined.group
        });
        let (poll, generation) = (job.polls, self.generation);
        let live = Live { job, group, left_ns, poll, generation, ready: true };
        let slot = self.slots.take(Some(live));
        self.ready += 1;
        self.policy.scheduler.push(live.task(slot), Ready::Spawned);
    }

    /// Hands the scheduler back the task that yielded, if one did just now, and asks it for the next. `None` where it breaks
    /// its contract: it has a task, and gives none or one that is not ready.
    pub(super) fn choose(&mut self, yielded: Option<Task>) -> Option<TaskId> {
        let scheduler = &mut self.policy.scheduler;
        let id = match yielded {
            Some(task) => scheduler.push_pop(task),
            None => scheduler.pop(),
        }?;
        self.slots.ready(id)?.ready = false;
        self.ready -= 1;
        Some(id)
    }

    /// How long the next poll of a task takes, without overhead.
    pub(super) fn poll_ns(&mut self, id: TaskId) -> u64 {
        let live = self.slots.chosen(id);
        match live.poll {
            None => live.left_ns.min(self.quantum_ns),
            // (A poll of 0 ns is one of 1 ns, or else the job might not end.)
            Some(poll) => self.poll_lengths.get(poll).map_or(live.left_ns, |&ns| ns.clamp(1, live.left_ns)),
        }
    }

    /// Tells the scheduler what the clock reads at the beginning of a slice, if it wants to know.
    pub(super) fn begin_slice(&mut self, now_ns: u64) {
        if self.policy.clock == ClockUse::WhenRead {
            self.policy.scheduler.served(Served::Queue { ns: 0 }, now_ns);
        }
    }

    /// Books a poll that ended at `now_ns`, and tells the scheduler.
    pub(super) fn settle(&mut self, id: TaskId, work_ns: u64, (service_ns, now_ns): (u64, u64)) -> Ran {
        self.polls += 1;
        let live = self.slots.chosen(id);
        if live.left_ns != ENDLESS {
            live.left_ns -= work_ns;
            live.poll = live.poll.map(|poll| poll + 1);
        }
        let is_over = live.left_ns == 0;
        live.ready = !is_over;
        let (job, task) = (live.job, live.task(id.slot() as u32));
        if let Some(served) = self.policy.clock.of_poll(task, service_ns) {
            self.policy.scheduler.served(served, now_ns);
        }
        if !is_over {
            self.ready += 1;
            return Ran::Yielded(task);
        }
        self.slots.free(id.slot() as u32);
        self.policy.scheduler.gone(Gone::Task(task));
        let closed = match job.group {
            Some(key) => self.groups.leave(key),
            None => Some(task.group),
        };
        if let Some(group) = closed {
            if job.group.is_some() {
                self.slots.free(group.index() as u32);
            }
            self.policy.scheduler.gone(Gone::Group(group));
        }
        Ran::Finished(job)
    }

    /// Puts a polled task back at the end of a slice, after the tasks that arrived meanwhile.
    pub(super) fn push_again(&mut self, task: Task) {
        self.policy.scheduler.push(task, Ready::Yielded);
    }
}
