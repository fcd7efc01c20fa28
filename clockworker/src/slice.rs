//! One slice: poll tasks of one queue until its time is up, or something better has come.
//!
//! This is the hot loop. It is compiled once per scheduler type, so that no call in it is dynamic but the one into the
//! task. No borrow is held while a task runs: records and scheduler are borrowed between polls, to settle the last task
//! and choose the next.

use std::cell::RefCell;

use clockworker_schedulers::{Ready, Scheduler, Task};

use crate::budget::Spent;
use crate::core::Core;
use crate::lane::{GroupIndex, Lane, Popped, Records};
use crate::policy::{Policy, PolicyFault};
use crate::task::{Finish, LiveTask, Ran};

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceEnd {
    /// The time granted is used up.
    Spent,
    /// A queue woke up that is to be served first.
    Preempted,
    /// No task of the queue is ready.
    Drained,
    /// The host must run: its time is due, or its cooperative budget is used up.
    HostBudget,
    /// The host must run: there were as many polls as may be without it.
    PollCap,
    /// The future given to `run_until` was woken.
    MainWoken,
    /// The scheduler broke its contract.
    PolicyFault,
}

/// Where no scheduler needs the time and no other queue waits, clock readings are about this far apart. Nanoseconds.
const SAMPLE_NS: u64 = 2_000;

/// And at most this many polls: the bound on how long the host waits when polls suddenly take long.
const MAX_STRIDE: u64 = 32;

/// How many short polls the future given to `run_until` waits for when it is woken. (Polls that together take
/// `SAMPLE_NS` it does not wait for.) Otherwise one that awaits many join handles would end the slice at every poll.
const MAIN_PATIENCE: u32 = 64;

/// How many polls before its own a task's memory is fetched: enough for a miss of the last-level cache (some 100 ns) to
/// be over, at 10 to 30 ns a poll.
const PREFETCH_AHEAD: usize = 4;

/// A task that the scheduler chose.
struct Chosen {
    live: LiveTask,
    task: Task,
    group: GroupIndex,
}

/// Runs one slice of `lane`, within the grant that `core` holds.
pub(crate) fn run<S: Scheduler>(
    policy: &RefCell<Policy<S>>,
    lane: &Lane,
    core: &Core,
) -> Result<SliceEnd, PolicyFault> {
    let fault = lane.fault.get();
    let mut timing = Timing::start(core);
    let mut next = choose(&mut policy.borrow_mut(), &mut lane.records.borrow_mut(), lane)?;
    while let Some(Chosen { live, task, group }) = next {
        core.enter_task(lane, group);
        let ran = live.run();
        lane.counters.polls.add(1);
        let service_ns = timing.after_poll(core, S::NEEDS_SERVICE);
        let mut borrows = (policy.borrow_mut(), lane.records.borrow_mut());
        let yielded = settle(&mut borrows.0, &mut borrows.1, (lane, core), task, ran, service_ns);
        let spent = core.budget.after_poll();
        if spent != Spent::No {
            borrows.1.rouse(task.id);
        }
        if core.has_arrivals() {
            drop(borrows);
            core.admit_arrivals();
            if lane.fault.get() != fault {
                // Its successor has every ready task, this one included.
                return Ok(SliceEnd::PolicyFault);
            }
            borrows = (policy.borrow_mut(), lane.records.borrow_mut());
        }
        if yielded {
            borrows.0.push(task, Ready::Yielded);
        }
        if let Some(end) = timing.end(core, spent) {
            return Ok(end);
        }
        next = choose(&mut borrows.0, &mut borrows.1, lane)?;
    }
    Ok(SliceEnd::Drained)
}

/// Asks the scheduler for a task, and checks what it gives.
#[inline(always)] // the result is then in registers: handing it over in memory cost a third of a poll
fn choose<S: Scheduler>(
    policy: &mut Policy<S>,
    records: &mut Records,
    lane: &Lane,
) -> Result<Option<Chosen>, PolicyFault> {
    loop {
        let Some(id) = policy.pop() else {
            return if lane.ready.get() == 0 { Ok(None) } else { Err(PolicyFault::Lost) };
        };
        // Before anything is taken out: a scheduler that panics loses nothing.
        if let Some(soon) = policy.peek(PREFETCH_AHEAD) {
            records.prefetch(soon);
        }
        match records.take_ready(id) {
            Popped::Task { live, task, group } => {
                lane.ready.set(lane.ready.get() - 1);
                return Ok(Some(Chosen { live, task, group }));
            }
            Popped::Aborted(left) => policy.left(&left),
            Popped::Fault(fault) => return Err(fault),
        }
    }
}

/// Books what became of the polled task, then tells the scheduler. Whether the task is ready again: then it is for the
/// caller to push, after the tasks that arrived meanwhile.
///
/// The books come first, so that neither a scheduler that panics loses anything nor an arrival meets a task that is in
/// nobody's books.
#[inline(always)]
fn settle<S: Scheduler>(
    policy: &mut Policy<S>,
    records: &mut Records,
    (lane, core): (&Lane, &Core),
    task: Task,
    ran: Ran,
    service_ns: u64,
) -> bool {
    match ran {
        Ran::Pending(live) => {
            records.put_back(task.id, live, false);
            policy.served(task, service_ns);
            false
        }
        Ran::Yielded(live) => {
            records.put_back(task.id, live, true);
            lane.ready.set(lane.ready.get() + 1);
            policy.served(task, service_ns);
            true
        }
        Ran::Finished(finish) => {
            let left = records.remove(task);
            lane.count(finish);
            if finish == Finish::Panicked {
                core.task_panicked();
            }
            policy.served(task, service_ns);
            policy.left(&left);
            false
        }
    }
}

/// When to read the clock, and what the last reading was.
struct Timing {
    started: u64,
    last: u64,
    polls: u32,
    /// Polls until the next reading, where none is needed after each.
    countdown: u64,
    /// Polls between readings, chosen so that they are some `SAMPLE_NS` apart.
    stride: u64,
}

impl Timing {
    fn start(core: &Core) -> Self {
        let stride = core.stride.get();
        let now = core.now();
        Self { started: now, last: now, polls: 0, countdown: stride, stride }
    }

    /// Reads the clock if somebody needs it; the time since the last reading.
    #[inline]
    fn after_poll(&mut self, core: &Core, needed: bool) -> u64 {
        self.polls += 1;
        self.countdown -= 1;
        let exact = needed || core.contended();
        if !exact && self.countdown > 0 {
            return 0;
        }
        let now = core.read_clock();
        let elapsed = now - std::mem::replace(&mut self.last, now);
        if !exact {
            self.stride = (SAMPLE_NS * self.stride / elapsed.max(1)).clamp(1, MAX_STRIDE);
            core.stride.set(self.stride);
        }
        self.countdown = self.stride;
        elapsed
    }

    /// Whether the slice is over.
    #[inline]
    fn end(&self, core: &Core, spent: Spent) -> Option<SliceEnd> {
        let capped = !core.count_poll();
        if core.is_preempted() {
            return Some(SliceEnd::Preempted);
        }
        if core.main.is_woken() && (self.last - self.started >= SAMPLE_NS || self.polls >= MAIN_PATIENCE) {
            return Some(SliceEnd::MainWoken);
        }
        if capped {
            return Some(SliceEnd::PollCap);
        }
        if spent == Spent::ForGood {
            return Some(SliceEnd::HostBudget);
        }
        core.time_is_up(self.last)
    }
}
