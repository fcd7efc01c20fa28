//! The event loop: the executor's turn, in virtual time.

use core::iter::Peekable;
use std::rc::Rc;

use super::arrivals::Job;
use super::error::SimulationError;
use super::queue::{Queue, Ran, Tasks};
use crate::{Effect, Gone, Left, QueueId, QueueTree};

/// One thread that runs jobs from queues, in virtual time, with the schedulers and the [`QueueTree`] of this crate.
///
/// What happens is what the executor does, in its order:
///
/// - EEVDF picks a queue, which gets a slice of what is left of its request. Polls of its tasks follow, each as long as
///   the queue's quantum, or what is left of the task.
/// - After each poll the time is charged, the tasks that came meanwhile are handed to their schedulers, and then the task
///   that yielded. Nothing is cut short: who comes during a poll waits for its end.
/// - A slice ends when the queue has no ready task, when its time is over and another queue is runnable, or when a queue
///   that is to be served first has become runnable.
///
/// Left out are the host (it takes no time) and what the executor's own work costs, unless it is given as
/// [`overhead_ns`](Simulation::overhead_ns).
///
/// ```
/// use clockworker_schedulers::RunnableFifo;
/// use clockworker_schedulers::simulate::{Boxed, Job, Queue, Simulation};
///
/// let job = |at_ns, service_ns| Job { at_ns, queue: 0, service_ns, group: None, polls: None };
/// let queue = Queue::new("all", Boxed::new(RunnableFifo::new())).quantum_ns(100);
/// let mut ends = Vec::new();
/// Simulation::new([queue])
///     .run([job(0, 250), job(10, 100)], |done| ends.push((done.job.service_ns, done.finished_ns)))
///     .unwrap();
/// // The second has its turn after the first poll of the first.
/// assert_eq!(ends, [(100, 200), (250, 350)]);
/// ```
#[derive(Debug)]
pub struct Simulation {
    queues: Vec<Queue>,
    overhead_ns: u64,
    pauses: Vec<Pause>,
    polls: Rc<[u64]>,
}

/// A time when the thread is elsewhere, in nanoseconds: with the executor itself or its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub until_ns: u64,
}

impl Pause {
    /// How long it is, in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }
}

/// A job that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Which.
    pub job: Job,
    /// When, in nanoseconds.
    pub finished_ns: u64,
}

impl Done {
    /// From its arrival to its end, in nanoseconds.
    pub fn response_ns(&self) -> u64 {
        self.finished_ns - self.job.at_ns
    }

    /// The part of it in which the job did not run, in nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.response_ns().saturating_sub(self.job.service_ns)
    }

    /// The response time in units of the service time.
    pub fn slowdown(&self) -> f64 {
        self.response_ns() as f64 / self.job.service_ns.max(1) as f64
    }
}

/// What a run was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// When the last job was done, in nanoseconds.
    pub ended_ns: u64,
    /// The same for each queue.
    pub queues: Vec<QueueTotals>,
}

/// What one queue received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTotals {
    /// CPU time, overhead included, in nanoseconds.
    pub busy_ns: u64,
    /// Polls of its tasks.
    pub polls: u64,
    /// Slices.
    pub slices: u64,
}

impl Simulation {
    /// Of these queues, to which jobs refer by place.
    pub fn new(queues: impl IntoIterator<Item = Queue>) -> Self {
        Self {
            queues: queues.into_iter().collect(),
            overhead_ns: 0,
            pauses: Vec::new(),
            polls: Rc::default(),
        }
    }

    /// Makes every poll so much longer, in nanoseconds, at the expense of its task.
    #[must_use]
    pub fn overhead_ns(self, overhead_ns: u64) -> Self {
        Self { overhead_ns, ..self }
    }

    /// How long polls are, in nanoseconds: of each job that refers to them, one after the other. What is left of it after the last in the
    /// list is one poll more.
    #[must_use]
    pub fn polls(self, polls: impl Into<Rc<[u64]>>) -> Self {
        Self { polls: polls.into(), ..self }
    }

    /// Has nothing run in these times, which come in order. A poll that is under way when one begins is not cut short: it puts it off.
    #[must_use]
    pub fn pauses(self, pauses: impl IntoIterator<Item = Pause>) -> Self {
        Self { pauses: pauses.into_iter().collect(), ..self }
    }

    /// Runs `jobs`, which come in order of time, until all are done; `report` hears of each when it is.
    ///
    /// # Errors
    ///
    /// If jobs are out of order or name a queue that is not there, or a scheduler breaks its contract.
    pub fn run(
        self,
        jobs: impl IntoIterator<Item = Job>,
        report: impl FnMut(Done),
    ) -> Result<Totals, SimulationError> {
        let mut tree = QueueTree::new();
        let ids = self.queues.iter().map(|queue| tree.add(queue.share, queue.request_ns)).collect();
        let endless: Vec<u32> = self.queues.iter().map(|queue| queue.endless).collect();
        let mut run = Run {
            queues: self.queues.into_iter().map(|queue| Tasks::new(queue, self.polls.clone())).collect(),
            ids,
            tree,
            overhead_ns: self.overhead_ns,
            pauses: self.pauses.into_iter().peekable(),
            jobs: jobs.into_iter().peekable(),
            report,
            now: 0,
            unfinished: 0,
            preempted: false,
            charged_until: 0,
            until: 0,
        };
        for (queue, tasks) in endless.into_iter().enumerate() {
            (0..tasks).for_each(|_| run.queues[queue].spawn_endless(queue));
            if tasks > 0 {
                run.after_ready(queue);
            }
        }
        run.finish()
    }
}

/// A simulation under way.
struct Run<J: Iterator<Item = Job>, R> {
    queues: Vec<Tasks>,
    /// The tree's names of them.
    ids: Vec<QueueId>,
    tree: QueueTree,
    overhead_ns: u64,
    /// Those to come.
    pauses: Peekable<std::vec::IntoIter<Pause>>,
    jobs: Peekable<J>,
    report: R,
    now: u64,
    /// Jobs that have come and are not done.
    unfinished: u64,
    preempted: bool,
    charged_until: u64,
    /// When the slice under way is to end.
    until: u64,
}

impl<J: Iterator<Item = Job>, R: FnMut(Done)> Run<J, R> {
    fn finish(mut self) -> Result<Totals, SimulationError> {
        while let Some(job) = self.jobs.peek() {
            if !self.tree.has_work(self.now) {
                let at_ns = job.at_ns;
                self.idle_until(at_ns);
            }
            self.turn()?;
        }
        while self.unfinished > 0 {
            self.turn()?;
        }
        let totals =
            |tasks: &Tasks| QueueTotals { busy_ns: tasks.busy_ns, polls: tasks.polls, slices: tasks.slices };
        Ok(Totals { ended_ns: self.now, queues: self.queues.iter().map(totals).collect() })
    }

    /// Admits who is due, and gives the queue that is picked a slice.
    fn turn(&mut self) -> Result<(), SimulationError> {
        self.pause();
        self.admit()?;
        let Some(grant) = self.tree.pick(self.now) else { return Ok(()) };
        // Queues are never removed, so their indices are their places.
        let queue = grant.queue.index();
        self.preempted = false;
        self.charged_until = self.now;
        self.until = grant.until;
        self.slice(queue)?;
        self.end_slice(queue);
        Ok(())
    }

    /// Has the pauses that are due, each as long as it is: also one that comes late, after a poll.
    fn pause(&mut self) {
        while let Some(pause) = self.pauses.next_if(|pause| pause.from_ns <= self.now) {
            self.now = self.now.saturating_add(pause.length_ns());
        }
    }

    /// Has nothing to do until then. Of a pause that began meanwhile the rest is left.
    fn idle_until(&mut self, then: u64) {
        if then <= self.now {
            return;
        }
        self.now = then;
        while let Some(pause) = self.pauses.next_if(|pause| pause.from_ns <= then) {
            self.now = self.now.max(pause.until_ns);
        }
    }

    /// Polls tasks of one queue until its slice ends.
    fn slice(&mut self, queue: usize) -> Result<(), SimulationError> {
        let mut yielded = None;
        self.queues[queue].begin_slice(self.now);
        loop {
            let tasks = &mut self.queues[queue];
            let id = tasks.choose(yielded.take()).ok_or(SimulationError::Policy { queue })?;
            let work_ns = tasks.poll_ns(id);
            let service_ns = work_ns.saturating_add(self.overhead_ns);
            self.now = self.now.checked_add(service_ns).ok_or(SimulationError::TooLong)?;
            let ran = tasks.settle(id, work_ns, (service_ns, self.now));
            self.admit()?;
            match ran {
                Ran::Yielded(task) => yielded = Some(task),
                Ran::Finished(job) => {
                    self.unfinished -= 1;
                    (self.report)(Done { job, finished_ns: self.now });
                }
            }
            let over = self.unfinished == 0 && self.jobs.peek().is_none();
            let paused = self.pauses.peek().is_some_and(|pause| pause.from_ns <= self.now);
            let tasks = &mut self.queues[queue];
            if self.preempted || self.now >= self.until || over || paused || tasks.ready == 0 {
                yielded.into_iter().for_each(|task| tasks.push_again(task));
                return Ok(());
            }
        }
    }

    fn end_slice(&mut self, queue: usize) {
        self.charge_up_to_now();
        let tasks = &mut self.queues[queue];
        tasks.slices += 1;
        let left = if tasks.ready == 0 { Left::Nothing } else { Left::Tasks };
        if left == Left::Nothing {
            tasks.runnable = false;
            tasks.policy.scheduler.gone(Gone::Backlog);
        }
        self.tree.end_slice(self.ids[queue], left, self.now);
    }

    /// Hands the jobs that have come by now to their schedulers.
    fn admit(&mut self) -> Result<(), SimulationError> {
        let now = self.now;
        while let Some(job) = self.jobs.next_if(|job| job.at_ns <= now) {
            if self.jobs.peek().is_some_and(|next| next.at_ns < job.at_ns) {
                return Err(SimulationError::OutOfOrder { at_ns: job.at_ns });
            }
            let tasks = self.queues.get_mut(job.queue);
            tasks.ok_or(SimulationError::NoSuchQueue { queue: job.queue })?.spawn(job);
            self.unfinished += 1;
            self.after_ready(job.queue);
        }
        Ok(())
    }

    /// If the queue was asleep, it joins the others.
    fn after_ready(&mut self, queue: usize) {
        if std::mem::replace(&mut self.queues[queue].runnable, true) {
            return;
        }
        self.charge_up_to_now();
        match self.tree.wake(self.ids[queue], self.now) {
            Effect::Preempt => self.preempted = true,
            // A charge in the middle of a slice never makes the grant longer: a request that it began is for the next turn.
            Effect::Until { until, .. } => self.until = self.until.min(until),
            Effect::None | Effect::Turn => {}
        }
    }

    fn charge_up_to_now(&mut self) {
        let Some(running) = self.tree.running() else { return };
        let service_ns = self.now - std::mem::replace(&mut self.charged_until, self.now);
        self.queues[running.index()].busy_ns += service_ns;
        self.tree.charge(running, service_ns, self.now);
    }
}
