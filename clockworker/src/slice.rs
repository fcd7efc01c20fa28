//! One slice: poll tasks of one queue until its time is up, or something better has come.
//!
//! This is the hot loop. It is compiled once per scheduler type, so that no call in it is dynamic but the one into the
//! task. No borrow is held while a task runs: records and scheduler are borrowed between polls, to settle the last task
//! and choose the next.

use clockworker_schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};

use crate::core::{Core, SAMPLE_NS, stride};
use crate::lane::{GroupIndex, Lane, NO_GROUP, Popped, Records};
use crate::policy::{Asked, PolicyFault, Seat, admit_woken_in_slice};
use crate::task::{Cause, Finish, LiveTask, Ran};

/// Why a slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceEnd {
    /// The time granted is used up.
    Spent,
    /// A queue woke up that is to be served first.
    Preempted,
    /// No task of the queue is ready.
    Drained,
    /// The host must run: its time is due, or there is no cooperative budget to renew.
    HostBudget,
    /// The host must run: there were as many polls as may be without it.
    PollCap,
    /// The future given to `run_until` was woken.
    MainWoken,
    /// The scheduler gave out tasks that had been aborted: the time is to be looked at.
    Tombstones,
    /// The scheduler broke its contract.
    PolicyFault,
}

/// A slice has ended before the next reading was due. If its last polls took long, readings must come sooner: or they would
/// never come, where no slice has as many polls.
#[inline]
pub(crate) fn shorten_stride(core: &Core, elapsed_ns: u64) {
    let polls = core.polls_unread.take();
    if polls > 0 && elapsed_ns > SAMPLE_NS {
        core.stride.set(stride(polls, elapsed_ns).min(core.stride.get()));
    }
}

/// How many short polls the future given to `run_until` waits for when it is woken. (Polls that together take
/// `SAMPLE_NS` it does not wait for.) Otherwise one that awaits many join handles would end the slice at every poll.
///
/// One that wakes itself yields, and waits for so many polls whatever they take, as long as there are any to be done. It
/// is then as with tokio's `LocalSet`, which does 61.
pub(crate) const MAIN_PATIENCE: u32 = 64;

/// How many polls before its own a task's memory is fetched: enough for a miss of the last-level cache (some 100 ns) to
/// be over, at 10 to 30 ns a poll.
const PREFETCH_AHEAD: usize = 4;

/// A task that the scheduler chose.
struct Chosen {
    live: LiveTask,
    id: TaskId,
    group: GroupIndex,
}

/// Why there is no next task to poll.
pub(crate) enum Halt {
    Fault(PolicyFault),
    /// The scheduler gave out many tasks that had been aborted: the time is to be looked at.
    Tombstones,
}

impl From<PolicyFault> for Halt {
    fn from(fault: PolicyFault) -> Self {
        Halt::Fault(fault)
    }
}

/// Runs one slice of `lane`, whose scheduler has this seat, within the grant that `core` holds.
///
/// First the futures of aborted tasks are dropped; then tasks are polled, until one is aborted.
pub(crate) fn run<S: Scheduler>(
    seat: &Seat<S>,
    lane: &Lane,
    core: &Core,
    asked: &Asked,
) -> Result<SliceEnd, Halt> {
    let Some(arrivals) = core.shared.arrivals() else { unreachable!("slices are run on the owner thread") };
    if lane.has_aborted()
        && let Some(end) = drop_aborted(seat, (lane, core, asked))
    {
        return Ok(end);
    }
    let mut timing = Timing::start(core);
    let mut next = match &mut *seat.borrow_mut() {
        Some(policy) => choose(policy, &mut lane.records.borrow_mut(), lane, asked, None)?,
        None => None,
    };
    if core.is_flooded() {
        next = unless_aborted(next, lane)?;
    }
    while let Some(Chosen { live, id, group }) = next {
        core.enter_task(lane, group);
        let mut ran = live.run();
        if core.budget.is_spent() {
            ran = after_cut(ran, lane, core);
        }
        let service_ns = timing.after_poll(S::NEEDS_SERVICE);
        if timing.looking {
            core.budget.renew_in_time(lane.counters.polls.get() + 1);
        }
        let (mut seated, mut records) = (seat.borrow_mut(), lane.records.borrow_mut());
        let Some(mut policy) = seated.as_mut() else {
            drop((seated, records));
            settle_with_successor(lane, core, id, ran);
            return Ok(SliceEnd::PolicyFault);
        };
        let yielded = settle(policy, &mut records, (lane, core, asked), id, ran, service_ns);
        if S::WANTS_TIME && service_ns > 0 {
            asked.ask(|| policy.time_passed(service_ns));
        }
        if arrivals.any() || core.shared.inbox.has_mail() {
            let only_own = arrivals.only_queue() == Some(lane.key.index);
            if only_own && !core.is_flooded() && !core.shared.inbox.has_mail() {
                // No queue joins the others by that, so nothing is preempted. And where the policy does not want them yet,
                // several together cost less.
                if yielded.is_some() || arrivals.are_many() || asked.ask(|| policy.wants_woken()) {
                    admit_woken_in_slice(policy, &mut records, (lane, asked, arrivals));
                }
            } else {
                drop((seated, records));
                core.admit_arrivals();
                timing.look_again();
                (seated, records) = (seat.borrow_mut(), lane.records.borrow_mut());
                policy = match seated.as_mut() {
                    Some(policy) => policy,
                    // Its successor has every ready task, this one included.
                    None => return Ok(SliceEnd::PolicyFault),
                };
            }
        }
        if let Some(end) = timing.end() {
            if arrivals.only_queue() == Some(lane.key.index) {
                // Those that were kept back: what comes after the slice is of another turn.
                admit_woken_in_slice(policy, &mut records, (lane, asked, arrivals));
            }
            if let Some(task) = yielded {
                push(policy, asked, task);
            }
            return Ok(end);
        }
        next = choose(policy, &mut records, lane, asked, Some(Last { id, yielded }))?;
    }
    if let Some(policy) = &mut *seat.borrow_mut() {
        asked.ask(|| policy.drained());
    }
    Ok(SliceEnd::Drained)
}

/// Renews the budget after a poll that has spent it. A task that waits then was cut short: if those before it had spent some, it
/// is polled again, and if it had all of it, it gives way. (Outside of tokio's schedulers it is woken at once, and has given
/// way already.)
#[cold]
#[inline(never)]
fn after_cut(ran: Ran, lane: &Lane, core: &Core) -> Ran {
    let by_others = core.renew_budget(lane);
    let Ran::Pending(live) = ran else { return ran };
    if !by_others {
        return live.give_way();
    }
    match live.run() {
        Ran::Pending(live) if core.budget.is_spent() => {
            core.renew_budget(lane);
            live.give_way()
        }
        ran => ran,
    }
}

/// While what other threads sent waits for admission, aborts may be among it. A slice has one poll then, and if its task was
/// aborted, none.
#[cold]
fn unless_aborted(next: Option<Chosen>, lane: &Lane) -> Result<Option<Chosen>, Halt> {
    match next {
        Some(Chosen { live, id, group }) if live.is_aborted() => {
            lane.abort_popped(live, id, group);
            Err(Halt::Tombstones)
        }
        next => Ok(next),
    }
}

/// Drops the futures of the queue's aborted tasks, each as if it were a poll, until none is left or the slice is over.
#[cold]
#[inline(never)]
fn drop_aborted<S: Scheduler>(
    seat: &Seat<S>,
    (lane, core, asked): (&Lane, &Core, &Asked),
) -> Option<SliceEnd> {
    let mut timing = Timing::start(core);
    while let Some(aborted) = lane.next_aborted() {
        core.enter_task(lane, aborted.group);
        let (task, group) = (aborted.task, aborted.group);
        // No borrow is held: user code runs here.
        let left = lane.cancel_aborted(aborted, Cause::Aborted);
        core.leave_task();
        let service_ns = timing.after_drop();
        if let Some(policy) = &mut *seat.borrow_mut() {
            // To a task that is alone in its group nothing matters any more.
            if group != NO_GROUP {
                asked.ask(|| served(policy, task, service_ns));
            }
            if let Some(left) = left {
                asked.ask(|| left.tell(policy));
            }
        }
        lane.sweep_tombstones();
        if core.has_arrivals() {
            core.admit_arrivals();
            timing.look_again();
        }
        if let Some(end) = timing.end() {
            return Some(end);
        }
    }
    None
}

/// The task that was polled last.
struct Last {
    id: TaskId,
    /// If it is ready again, it is still to be pushed.
    yielded: Option<Task>,
}

/// Hands back the last task if it yielded, asks the scheduler for the next, and checks what it gives.
///
/// Fetches the memory of one of the next early, where tasks are many and their order is not that of their slots, which
/// is roughly that of their memory and is foreseen by the processor.
#[inline(always)] // the result is then in registers: handing it over in memory cost a third of a poll
fn choose<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    lane: &Lane,
    asked: &Asked,
    last: Option<Last>,
) -> Result<Option<Chosen>, Halt> {
    let mut slot = last.as_ref().map_or(0, |last| last.id.slot());
    let mut yielded = last.and_then(|last| last.yielded);
    loop {
        let popped = match yielded.take() {
            Some(task) => push_pop(policy, asked, task),
            None => pop(policy, asked),
        };
        let Some(id) = popped else {
            return if lane.ready.get() == 0 { Ok(None) } else { Err(PolicyFault::Lost.into()) };
        };
        // Before anything is taken out: a scheduler that panics loses nothing.
        if id.slot().wrapping_sub(slot) > 1
            && records.are_many()
            && let Some(soon) = asked.ask(|| policy.peek(PREFETCH_AHEAD))
        {
            records.prefetch(soon);
        }
        slot = id.slot();
        match records.take_ready(id) {
            Popped::Task { live, group } => {
                lane.ready.set(lane.ready.get() - 1);
                return Ok(Some(Chosen { live, id, group }));
            }
            Popped::Aborted(left) => {
                asked.ask(|| left.tell(policy));
                if lane.tombstone_popped() {
                    return Err(Halt::Tombstones);
                }
            }
            Popped::Fault(fault) => return Err(fault.into()),
        }
    }
}

/// The scheduler's work, in functions of their own where a profile is to show them (see profiling/README.md).
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn pop<S: Scheduler>(policy: &mut S, asked: &Asked) -> Option<TaskId> {
    asked.ask(|| policy.pop())
}

/// See [`pop`].
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn push<S: Scheduler>(policy: &mut S, asked: &Asked, task: Task) {
    asked.ask(|| policy.push(task, Ready::Yielded));
}

/// See [`pop`].
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn push_pop<S: Scheduler>(policy: &mut S, asked: &Asked, task: Task) -> Option<TaskId> {
    asked.ask(|| policy.push_pop(task))
}

/// Books what became of the polled task, then tells the scheduler. The task, if it is ready again: then it is for the
/// caller to push, after the tasks that arrived meanwhile.
///
/// The books come first, so that neither a scheduler that panics loses anything nor an arrival meets a task that is in
/// nobody's books.
#[inline(always)]
fn settle<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    (lane, core, asked): (&Lane, &Core, &Asked),
    id: TaskId,
    ran: Ran,
    service_ns: u64,
) -> Option<Task> {
    lane.counters.polls.add(1);
    match ran {
        Ran::Pending(live) => {
            live.polled_in(core.turn(), service_ns);
            let task = records.put_back(id, live, false)?;
            asked.ask(|| served(policy, task, service_ns));
            None
        }
        Ran::Yielded(live) => {
            let task = records.put_back(id, live, true)?;
            lane.ready.set(lane.ready.get() + 1);
            asked.ask(|| served(policy, task, service_ns));
            Some(task)
        }
        Ran::Finished(finish) => {
            let left = records.remove(id);
            // Its group may be gone with it.
            core.leave_task();
            lane.count(finish);
            if finish == Finish::Panicked {
                core.task_panicked();
            }
            asked.ask(|| {
                served(policy, left.task, service_ns);
                left.tell(policy);
            });
            None
        }
    }
}

#[inline(always)]
fn served<S: Scheduler>(policy: &mut S, task: Task, service_ns: u64) {
    if S::NEEDS_SERVICE {
        policy.served(task, service_ns);
    }
}

/// Settles a task during whose poll its scheduler was taken out of service, by a spawn that it did not bear.
#[cold]
fn settle_with_successor(lane: &Lane, core: &Core, id: TaskId, ran: Ran) {
    // FIFO hears nothing of what was served and who left, so any other will do.
    let mut nobody = RunnableFifo::new();
    let asked = Asked::default();
    let yielded = settle(&mut nobody, &mut lane.records.borrow_mut(), (lane, core, &asked), id, ran, 0);
    if let Some(task) = yielded {
        lane.push_again(task);
    }
}

/// When to read the clock, what the last reading was, and how many polls there may be.
struct Timing<'a> {
    core: &'a Core,
    started: u64,
    last: u64,
    /// Polls done in this slice.
    polls: u32,
    /// Polls that there may be before the host must run.
    cap: u32,
    /// Polls that the future being run waits for when it is woken, or time in place of them.
    main_waits_for: u32,
    main_waits_ns: u64,
    /// Polls until the next reading, where none is needed after each.
    countdown: u32,
    /// Polls between readings, chosen so that they are some `SAMPLE_NS` apart.
    stride: u32,
    /// Whether there is more to ask than after any poll: the clock was read, or tasks were admitted.
    looking: bool,
}

impl<'a> Timing<'a> {
    fn start(core: &'a Core) -> Self {
        let stride = core.stride.get();
        let now = core.meter.now();
        let (main_waits_for, main_waits_ns) = match core.main_waits_for.get() {
            0 => (MAIN_PATIENCE, SAMPLE_NS),
            yielded => (yielded, u64::MAX),
        };
        let cap = core.polls_left.get();
        Self {
            core,
            started: now,
            last: now,
            polls: 0,
            cap,
            main_waits_for,
            main_waits_ns,
            countdown: stride,
            stride,
            looking: false,
        }
    }

    /// Counts a poll, and reads the clock if somebody needs it; the time since the last reading.
    #[inline(always)] // a call would keep the whole of it in memory
    fn after_poll(&mut self, needed: bool) -> u64 {
        self.polls += 1;
        self.countdown -= 1;
        let exact = needed || self.core.contended();
        if !exact && self.countdown > 0 {
            return 0;
        }
        self.looking = true;
        let now = self.core.meter.read();
        let elapsed = now - std::mem::replace(&mut self.last, now);
        // Long polls each have their reading as it is: no need to divide.
        if !exact && (self.stride > 1 || elapsed < SAMPLE_NS) {
            self.stride = stride(self.stride, elapsed);
            self.core.stride.set(self.stride);
        }
        self.countdown = self.stride;
        elapsed
    }

    /// Counts a drop, which is as a poll, and reads the clock; the time since the last reading.
    fn after_drop(&mut self) -> u64 {
        self.polls += 1;
        self.looking = true;
        let now = self.core.meter.read();
        now - std::mem::replace(&mut self.last, now)
    }

    /// Tasks were admitted: one of a queue that is to be served first may be among them.
    #[inline]
    fn look_again(&mut self) {
        self.looking = true;
    }

    /// Whether the slice is over.
    #[inline(always)]
    fn end(&mut self) -> Option<SliceEnd> {
        let core = self.core;
        let looking = std::mem::take(&mut self.looking);
        // Nothing but an admission, or a poll in which queues began to contend, preempts.
        if looking && core.is_preempted() {
            return Some(SliceEnd::Preempted);
        }
        if core.main.is_woken()
            && (self.polls >= self.main_waits_for || self.last - self.started >= self.main_waits_ns)
        {
            return Some(SliceEnd::MainWoken);
        }
        if self.polls >= self.cap {
            return Some(SliceEnd::PollCap);
        }
        if looking { core.time_is_up(self.last, self.polls) } else { None }
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        self.core.polls_left.set(self.cap.saturating_sub(self.polls));
        self.core.polled(self.polls);
        self.core.polls_unread.set(self.stride - self.countdown);
        let main_waits_for = &self.core.main_waits_for;
        main_waits_for.set(main_waits_for.get().saturating_sub(self.polls));
    }
}
