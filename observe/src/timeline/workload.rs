//! [`Workload`]: what tasks asked for, and when, of a timeline.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use crate::{Event, EventKind, PollOutcome, TaskRef, Timeline, TimelineQueue, nanos};
use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::{Boxed, Done, Job, Pause, Queue, Simulation, SimulationError, Totals};

/// What the tasks of a timeline asked for, and when: to be run again in virtual time, under other policies and shares.
///
/// A job is what a task did from when it was ready until it waited again or ended. It asks for the time that its polls took, in as many
/// polls. Between slices the executor and its host have the thread when they had it, and as long: a policy that is dearer or cheaper than the
/// one that ran is not seen to be.
///
/// # How far to believe it
///
/// Jobs come when they came. Where one comes because another has ended (a request after the last answer, a message to the next task), it
/// would have come later or earlier under another policy, and does not here: replay what comes from outside. Polls are as exact as the
/// timeline: [`Observation::every_poll`](crate::Observation::every_poll) has each measured by itself. The replay of the same
/// policy beside what was measured says how much of the rest is lost; `examples/replay.rs` shows both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    queues: Vec<TimelineQueue>,
    /// In the order in which they came.
    measured: Vec<Done>,
    /// How long their polls are.
    polls: Vec<u64>,
    pauses: Vec<Pause>,
}

impl Workload {
    /// What the timeline has. What it has the beginning or the end of only keeps the thread, and is no job.
    pub fn of(timeline: &Timeline) -> Self {
        let mut reading = Reading::default();
        timeline.events.iter().for_each(|event| reading.read(event));
        reading.end(timeline)
    }

    /// Its queues, to which jobs refer by place.
    pub fn queues(&self) -> &[TimelineQueue] {
        &self.queues
    }

    /// Has each queue of that name have that share in place of its own. Returns how many there are.
    pub fn set_share(&mut self, queue: &str, share: Share) -> usize {
        let named = self.queues.iter_mut().filter(|found| found.name == queue);
        named.map(|found| found.share = share.get()).count()
    }

    /// The jobs, in the order in which they came, and how they went.
    pub fn measured(&self) -> &[Done] {
        &self.measured
    }

    /// Runs the jobs in virtual time, each queue under the policy that `policy_of` gives; `report` hears of each when it is done.
    ///
    /// # Errors
    ///
    /// If a scheduler breaks its contract.
    pub fn replay(
        &self,
        mut policy_of: impl FnMut(&TimelineQueue) -> Boxed,
        report: impl FnMut(Done),
    ) -> Result<Totals, SimulationError> {
        let queues = self.queues.iter().map(|queue| {
            let share = Share::new(queue.share).unwrap_or_default();
            let request_ns = nanos(queue.request);
            Queue::new(&*queue.name, policy_of(queue)).share(share).request_ns(request_ns)
        });
        let jobs = self.measured.iter().map(|done| done.job);
        let simulation = Simulation::new(queues).polls(&*self.polls).pauses(self.pauses.iter().copied());
        simulation.run(jobs, report)
    }

    /// Writes it as CSV for `clockworker-simulate --trace`; the first line says how to call it.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_csv(&self, writer: impl Write) -> io::Result<()> {
        let queues = self.queues.iter().map(|TimelineQueue { name, share, request, .. }| {
            format!("{name}:{share}:{}ns", nanos(*request).max(1))
        });
        let host = |pause: &Pause| format!("{},{},(host),,,", pause.from_ns, pause.length_ns());
        let pauses = self.pauses.iter().map(|pause| (pause.from_ns, host(pause)));
        let jobs = self.measured.iter().map(|done| (done.job.at_ns, self.job_line(done)));
        let mut lines: Vec<(u64, String)> = pauses.chain(jobs).collect();
        lines.sort_by_key(|(at_ns, _)| *at_ns);
        let mut out = BufWriter::new(writer);
        let queues = queues.collect::<Vec<_>>().join(",");
        writeln!(out, "# clockworker-simulate --queues '{queues}' --trace …")?;
        writeln!(out, "arrival,service,queue,group,polls,response")?;
        lines.iter().try_for_each(|(_, line)| writeln!(out, "{line}"))?;
        out.flush()
    }

    fn job_line(&self, done: &Done) -> String {
        let Job { at_ns, queue, service_ns, group, polls } = done.job;
        let group = group.map_or_else(String::new, |group| group.to_string());
        let queue = &self.queues[queue].name;
        let mut left_ns = service_ns;
        let polls = self.polls[polls.unwrap_or(0)..].iter().take_while(|&&poll_ns| {
            let is_of_job = left_ns > 0;
            left_ns = left_ns.saturating_sub(poll_ns);
            is_of_job
        });
        let polls = polls.map(u64::to_string).collect::<Vec<_>>().join(" ");
        format!("{at_ns},{service_ns},{queue},{group},{polls},{}", done.response_ns())
    }
}

/// A job as far as it is known.
struct Known {
    queue: u32,
    /// Schedulers know the jobs of a task, and the tasks of a group, by it as one.
    owner: u32,
    from_ns: u64,
    polls: Vec<Pause>,
    is_over: bool,
}

/// A timeline as far as it was read.
#[derive(Default)]
struct Reading {
    /// The owners of tasks' jobs, and of groups' by queue.
    tasks: HashMap<TaskRef, u32>,
    groups: HashMap<(u32, u32), u32>,
    /// In the order in which they came.
    jobs: Vec<Known>,
    /// The job of each task that is not over, by its place.
    open: HashMap<TaskRef, usize>,
    /// When no job could run.
    pauses: Vec<Pause>,
    /// Since when the executor or its host has the thread, and whether nothing is to be done.
    away: Option<(u64, bool)>,
    /// Up to when polls of the slice under way are known.
    polled_ns: u64,
}

impl Reading {
    fn read(&mut self, event: &Event) {
        let at_ns = nanos(event.at);
        match event.kind {
            EventKind::Spawned { task, group, .. } => {
                let new = self.new_owner();
                let owner = group.map_or(new, |group| *self.groups.entry((task.queue, group)).or_insert(new));
                self.tasks.insert(task, owner);
                self.make_ready(task, at_ns);
            }
            EventKind::Ready { task, .. } => self.make_ready(task, at_ns),
            EventKind::Left { task } => _ = self.open.remove(&task),
            EventKind::Polled { task, took, outcome, .. } => {
                let until_ns = at_ns + nanos(took);
                // What it took to choose the task goes with its poll.
                let from_ns = std::mem::replace(&mut self.polled_ns, until_ns).min(at_ns);
                self.poll(task, Pause { from_ns, until_ns }, outcome);
            }
            EventKind::SliceBegan { .. } => {
                self.end_pause(at_ns, false);
                self.polled_ns = at_ns;
            }
            EventKind::SliceEnded { .. } => self.away = Some((at_ns, false)),
            EventKind::TurnEnded { idle } => {
                self.end_pause(at_ns, false);
                self.away = Some((at_ns, idle));
            }
            EventKind::TurnBegan => {
                // Also one of no length: the queue is picked anew.
                self.end_pause(at_ns, true);
                self.away = Some((at_ns, false));
            }
        }
    }

    /// A number that no owner has.
    fn new_owner(&self) -> u32 {
        (self.tasks.len() + self.groups.len()) as u32
    }

    /// Begins a job. One of the task that is open is cut off, as a task becomes ready when it waits, and is never over.
    fn make_ready(&mut self, task: TaskRef, at_ns: u64) {
        // A task that was spawned before the timeline began is its own.
        let new = self.new_owner();
        let owner = *self.tasks.entry(task).or_insert(new);
        self.open.insert(task, self.jobs.len());
        self.jobs.push(Known { queue: task.queue, owner, from_ns: at_ns, polls: Vec::new(), is_over: false });
        // The host had nothing to do until now: what it took from here on is its delay.
        if let Some((from_ns, idle)) = &mut self.away
            && std::mem::take(idle)
        {
            *from_ns = at_ns;
        }
    }

    /// The executor or its host has had the thread until now.
    fn end_pause(&mut self, now_ns: u64, with_empty: bool) {
        if let Some((from_ns, _)) = self.away.take()
            && (from_ns < now_ns || with_empty)
        {
            self.pauses.push(Pause { from_ns, until_ns: now_ns });
        }
    }

    fn poll(&mut self, task: TaskRef, poll: Pause, outcome: PollOutcome) {
        let Some(&nth) = self.open.get(&task) else {
            self.pauses.push(poll);
            return;
        };
        self.jobs[nth].polls.push(poll);
        if outcome != PollOutcome::Yielded {
            self.jobs[nth].is_over = true;
            self.open.remove(&task);
        }
    }

    fn end(mut self, timeline: &Timeline) -> Workload {
        let queues = timeline.queues.clone();
        let (mut measured, mut polls) = (Vec::new(), Vec::new());
        for Known { queue, owner, from_ns, polls: pieces, is_over } in self.jobs {
            let service_ns: u64 = pieces.iter().map(Pause::length_ns).sum();
            let queue = queues.iter().position(|known| known.index == queue);
            // One that is not over, or whose queue is gone, only keeps the thread.
            let Some((queue, last)) = queue.zip(pieces.last()).filter(|_| is_over && service_ns > 0) else {
                self.pauses.extend(pieces);
                continue;
            };
            let (group, first) = (Some(owner), Some(polls.len()));
            let job = Job { at_ns: from_ns, queue, service_ns, group, polls: first };
            measured.push(Done { job, finished_ns: last.until_ns });
            polls.extend(pieces.iter().map(Pause::length_ns).filter(|&ns| ns > 0));
        }
        self.pauses.sort_by_key(|pause| pause.from_ns);
        Workload { queues, measured, polls, pauses: self.pauses }
    }
}
