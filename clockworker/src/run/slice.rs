//! One slice: polls tasks of one queue until its time is up, or another queue or the host comes first.
//!
//! This is the hot loop. It is compiled once per scheduler type, so that its only dynamic call is the one into the task. No
//! borrow is held while a task runs: records and scheduler are borrowed between polls, to settle the last task and choose the
//! next.

use clockworker_schedulers::{
    ClockUse, Gone, Left, Ready, RunnableFifo, Scheduler, Served, Subject, Task, TaskId,
};

use super::Core;
use super::probed::{Listener, NoProbe, Probed, ProbedTask};
use super::queue::RunQueue;
use super::timing::{SliceEnd, Timed, Timing};
use crate::queue::{GroupIndex, NO_GROUP, PolicyCalls, PolicyFault, Popped, Records, Seat, as_task};
use crate::task::{Cause, Finish, Ran, Runnable, Shared};

/// The most arrivals that are handed over between two polls. Some 5 µs.
const BATCH: usize = 64;

/// The clock is read after so many, which take longer than a poll may.
const MANY: usize = 16;

/// How many polls before its own a task's memory is prefetched: enough for a miss of the last-level cache (some 100 ns) to be
/// over, at 10 to 30 ns a poll.
const PREFETCH_AHEAD: usize = 4;

/// Slots from a task to the next in order: its group's record may lie between them.
const NEXT: usize = 2;

/// A task that the scheduler chose.
struct Chosen {
    runnable: Runnable,
    id: TaskId,
    group: GroupIndex,
    /// Whether the poll is to be timed for itself, whichever was drawn.
    is_timed: bool,
}

/// Why there is no next task to poll.
pub(crate) enum Halt {
    Fault(PolicyFault),
    /// The clock is to be read.
    Interrupted,
}

impl From<PolicyFault> for Halt {
    fn from(fault: PolicyFault) -> Self {
        Halt::Fault(fault)
    }
}

/// Whether this scheduler is told how long the polls of each task take.
pub(super) const fn times_tasks<S: Scheduler>() -> bool {
    matches!(S::CLOCK, ClockUse::PerTask)
}

/// Runs one slice of `queue`, whose scheduler has this seat, within the grant that `core` holds.
///
/// First it drops the futures of aborted tasks; then it polls tasks, until one is aborted.
pub(crate) fn run<S: Scheduler>(
    seat: &Seat<S>,
    (queue, core, calls): (&RunQueue, &Core, &PolicyCalls),
) -> Result<SliceEnd, Halt> {
    match core.shared.probe() {
        None => run_for(&NoProbe, seat, (queue, core, calls)),
        Some(probe) => run_for(&Probed::new(&*probe, core), seat, (queue, core, calls)),
    }
}

#[inline(always)] // a call costs the loop four instructions a poll
fn run_for<L: Listener, S: Scheduler>(
    listener: &L,
    seat: &Seat<S>,
    (queue, core, calls): (&RunQueue, &Core, &PolicyCalls),
) -> Result<SliceEnd, Halt> {
    let shared: &Shared = &core.shared;
    let arrivals = core.arrivals();
    if queue.has_aborted()
        && let Some(end) = drop_aborted(seat, (queue, core, calls))
    {
        return Ok(end);
    }
    let mut timing = Timing::start(core, queue, times_tasks::<S>());
    let mut next = first(seat, (queue, core, calls), &mut timing)?;
    while let Some(Chosen { runnable, id, group, is_timed }) = next {
        core.enter_task(group, id.slot());
        // The scheduler is told of it after the poll: the task is taken up now, so a scheduler that panics would lose it.
        if times_tasks::<S>() && is_timed {
            timing.time_next();
        }
        let is_timed = || timing.times_next(times_tasks::<S>());
        let poll = listener.begin((queue, group), &runnable, is_timed, !times_tasks::<S>());
        let mut ran = listener.poll(&poll, core, runnable, || queue.take_finished(id));
        if core.coop_budget.is_spent() {
            ran = after_cut(ran, queue, core, id);
        }
        let timed = timing.after_poll(times_tasks::<S>());
        let ran = listener.end(poll, core, ran, timed);
        let (mut seated, mut records) = (seat.borrow_mut(), queue.records.borrow_mut());
        let Some(mut policy) = seated.as_mut() else {
            drop((seated, records));
            settle_with_successor(queue, core, (id, group), ran);
            return Ok(SliceEnd::PolicyFault);
        };
        let mut yielded = settle(policy, &mut records, (queue, core, calls), (id, group), ran, timed);
        tell_time(policy, core, calls, timed.elapsed_ns);
        let has_mail = shared.inbox.has_mail();
        if has_mail || arrivals.any_news() {
            if has_mail || !arrivals.take_news_only_of(queue.arrivals()) {
                drop((seated, records));
                if has_mail {
                    core.receive_between_polls();
                }
                if yielded.is_none() && queue.left() == Left::Nothing {
                    break; // other queues are woken after the slice
                }
                core.wake_queues_in_slice(queue);
                (seated, records) = (seat.borrow_mut(), queue.records.borrow_mut());
                policy = match seated.as_mut() {
                    Some(policy) => policy,
                    // FIFO in its place has every ready task, this one included.
                    None => return Ok(SliceEnd::PolicyFault),
                };
            }
            if hand_over(policy, &records, queue, calls, core) >= MANY {
                tell_time(policy, core, calls, timing.read_between_polls());
                if let Some(task) = yielded
                    && arrives_again(&records, queue, task)
                {
                    yielded = None;
                }
            }
        }
        if let Some(end) = timing.end(times_tasks::<S>()) {
            hand_back(policy, calls, queue, yielded);
            return Ok(end);
        }
        next = choose(policy, &mut records, queue, calls, Some(Last { id, yielded }))?;
    }
    if let Some(policy) = &mut *seat.borrow_mut()
        && !queue.has_arrivals()
    {
        calls.guard(|| policy.gone(Gone::Backlog));
    }
    Ok(SliceEnd::Drained)
}

/// Hands the scheduler what came to its queue, up to a batch: how many. The next gap has the rest.
#[inline(never)] // the hot loop has no registers to spare
fn hand_over<S: Scheduler>(
    policy: &mut S,
    records: &Records,
    queue: &RunQueue,
    calls: &PolicyCalls,
    core: &Core,
) -> usize {
    let arrivals = queue.arrivals();
    arrivals.forget_places();
    for handed_over in 0..BATCH {
        let Some(arrival) = arrivals.next() else { return handed_over };
        let Some((key, why)) = arrival else { continue };
        let Some(task) = records.task(key) else {
            // It was aborted, and its future is still to be dropped.
            arrivals.forget_aborted();
            continue;
        };
        queue.ready.set(queue.ready.get() + 1);
        if why == Ready::Deferred {
            queue.yielded(1);
        }
        let call = calls.begin();
        if why == Ready::Spawned && records.have_attributes() {
            tell_attributes(policy, records, task);
        }
        policy.push(task, why);
        call.end();
    }
    if !arrivals.is_empty() {
        core.arrivals().note(arrivals);
    }
    BATCH
}

/// Puts a task that has yielded behind the arrivals that are still to be handed over. False if there are none, or if it was aborted or
/// has moved since its poll: then its record waits for the scheduler to give it out.
#[cold]
#[inline(never)]
fn arrives_again(records: &Records, queue: &RunQueue, task: Task) -> bool {
    let are_left = !queue.arrivals().is_empty() && records.live(task.id).is_some();
    if are_left {
        arrive_again(records, queue, task);
    }
    are_left
}

/// Puts a task that has yielded among the arrivals. Its scheduler is told that it was woken: only the task popped last is
/// pushed as one that has yielded.
#[cold]
fn arrive_again(records: &Records, queue: &RunQueue, task: Task) {
    queue.ready.set(queue.ready.get() - 1);
    records.live(task.id).into_iter().for_each(|live| live.arrive(Ready::Woken));
}

#[cold]
#[inline(never)]
fn tell_attributes<S: Scheduler>(policy: &mut S, records: &Records, task: Task) {
    if let Some(attributes) = records.attributes(task.id.slot() as u32) {
        policy.said(Subject::Task(task), &attributes);
    }
}

/// Tells the scheduler of the time that has passed since it was told last, if the clock was read since.
#[inline(always)]
fn tell_time<S: Scheduler>(policy: &mut S, core: &Core, calls: &PolicyCalls, passed_ns: u64) {
    if matches!(S::CLOCK, ClockUse::WhenRead) && passed_ns > 0 {
        calls.guard(|| policy.served(Served::Queue { ns: passed_ns }, core.meter.now()));
    }
}

/// Ends the slice: gives the scheduler the last task, if it yielded. Or tells it that nothing is left, which the end of a slice by
/// time must not hide.
#[inline(always)] // a call would keep more of the hot loop in memory: 15 instructions a poll
fn hand_back<S: Scheduler>(policy: &mut S, calls: &PolicyCalls, queue: &RunQueue, yielded: Option<Task>) {
    if let Some(task) = yielded {
        push(policy, calls, task);
    } else if queue.ready.get() == 0 && !queue.has_arrivals() {
        calls.guard(|| policy.gone(Gone::Backlog));
    }
}

/// Hands over what came to the queue, and chooses the task that the slice begins with.
#[inline(always)] // as `choose`
fn first<S: Scheduler>(
    seat: &Seat<S>,
    (queue, core, calls): (&RunQueue, &Core, &PolicyCalls),
    timing: &mut Timing<'_>,
) -> Result<Option<Chosen>, Halt> {
    let first = match &mut *seat.borrow_mut() {
        Some(policy) => {
            if matches!(S::CLOCK, ClockUse::WhenRead) {
                calls.guard(|| policy.served(Served::Queue { ns: 0 }, core.meter.now()));
            }
            let records = &mut queue.records.borrow_mut();
            if !queue.arrivals().is_empty() && hand_over(policy, records, queue, calls, core) >= MANY {
                tell_time(policy, core, calls, timing.read_between_polls());
            }
            choose(policy, records, queue, calls, None)?
        }
        None => None,
    };
    if core.has_mail() { unless_aborted(first, queue, core) } else { Ok(first) }
}

/// Renews tokio's budget after a poll that has spent it. A task that returned `Pending` then was cut short: it is polled
/// again if those before it had spent some of the budget and it was not aborted, and yields if it had all of it. (Outside of tokio's schedulers it
/// is woken at once, and has yielded already.)
#[cold]
#[inline(never)]
fn after_cut(ran: Ran, queue: &RunQueue, core: &Core, id: TaskId) -> Ran {
    let by_others = core.renew_coop_budget(queue);
    let Ran::Pending(runnable) = ran else { return ran };
    if runnable.is_aborted() {
        return Ran::Pending(runnable);
    }
    if !by_others {
        return Ran::Yielded(runnable);
    }
    let take_out = || queue.take_finished(id);
    let ran = match core.shared.probe() {
        None => runnable.run(take_out),
        Some(probe) => {
            let task = ProbedTask::new(queue, core.current_group(), &runnable);
            Probed::new(&*probe, core).poll_told(&task, core, runnable, take_out)
        }
    };
    match ran {
        Ran::Pending(runnable) if core.coop_budget.is_spent() => {
            core.renew_coop_budget(queue);
            Ran::Yielded(runnable)
        }
        ran => ran,
    }
}

/// Keeps `next` from being polled if it was aborted. While there is mail, aborts may be among it; if more of it is left than
/// fits between two polls, the slice has one poll.
#[cold]
fn unless_aborted(next: Option<Chosen>, queue: &RunQueue, core: &Core) -> Result<Option<Chosen>, Halt> {
    if core.admission.has_mail_left() {
        core.slice.interrupt();
    }
    match next {
        Some(Chosen { runnable, id, .. }) if runnable.is_aborted() => {
            runnable.discard();
            queue.take_aborted(id);
            Err(Halt::Interrupted)
        }
        next => Ok(next),
    }
}

/// Drops the futures of the queue's aborted tasks, each as if it were a poll, until none is left or the slice is over.
#[cold]
#[inline(never)]
fn drop_aborted<S: Scheduler>(
    seat: &Seat<S>,
    (queue, core, calls): (&RunQueue, &Core, &PolicyCalls),
) -> Option<SliceEnd> {
    let mut timing = Timing::start(core, queue, times_tasks::<S>());
    while let Some(aborted) = queue.next_aborted() {
        core.enter_task(aborted.group, aborted.task.id.slot());
        let (task, group) = (aborted.task, aborted.group);
        // No borrow is held: user code runs here.
        let mut removed = match core.shared.probe() {
            None => queue.cancel_aborted(aborted, Cause::Aborted),
            Some(probe) => core.cancel_probed(&*probe, queue, aborted),
        };
        core.leave_task();
        let service_ns = timing.after_drop();
        if let Some(policy) = &mut *seat.borrow_mut() {
            // Only the rest of its group has use for its service.
            if group != NO_GROUP {
                queue.records.borrow_mut().count_drop(group, service_ns);
                if times_tasks::<S>() {
                    let dropped = Served::Task { task, polls: 0, ns: service_ns };
                    calls.guard(|| policy.served(dropped, core.meter.now()));
                    removed.iter_mut().for_each(|removed| removed.is_known = true);
                }
            }
            if let Some(removed) = removed {
                calls.guard(|| removed.tell(policy));
            }
        }
        queue.sweep_tombstones();
        if core.has_incoming() {
            core.receive_between_polls();
            core.wake_queues_in_slice(queue);
        }
        if let Some(end) = timing.end(times_tasks::<S>()) {
            return Some(end);
        }
    }
    (core.slice.drops_only() && queue.left() == Left::Tasks).then_some(SliceEnd::Spent)
}

/// The task that was polled last.
struct Last {
    id: TaskId,
    /// The task, if it is ready again: it is still to be pushed.
    yielded: Option<Task>,
}

/// Pushes the last task if it yielded, asks the scheduler for the next, and checks what it gives.
///
/// Prefetches a task some polls ahead, if tasks are many and their order is not that of their slots, which is roughly that of
/// their memory and which the processor foresees.
#[inline(always)] // the result is then in registers: handing it over in memory cost a third of a poll
fn choose<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    queue: &RunQueue,
    calls: &PolicyCalls,
    last: Option<Last>,
) -> Result<Option<Chosen>, Halt> {
    let mut slot = last.as_ref().map_or(0, |last| last.id.slot());
    let mut yielded = last.and_then(|last| last.yielded);
    loop {
        let popped = match yielded.take() {
            Some(task) => push_pop(policy, calls, task),
            None => pop(policy, calls),
        };
        let Some(id) = popped else {
            return if queue.ready.get() == 0 { Ok(None) } else { Err(PolicyFault::Lost.into()) };
        };
        // Before anything is taken out, so that a scheduler that panics loses nothing.
        if records.are_many()
            && id.slot().wrapping_sub(slot) > NEXT
            && let Some(soon) = calls.guard(|| policy.peek(PREFETCH_AHEAD))
        {
            records.prefetch(soon);
        }
        slot = id.slot();
        match records.take_ready(id) {
            Popped::Task { runnable, group, is_timed } => {
                queue.ready.set(queue.ready.get() - 1);
                return Ok(Some(Chosen { runnable, id, group, is_timed }));
            }
            Popped::Aborted(removed) => {
                calls.guard(|| removed.tell(policy));
                if queue.tombstone_popped() {
                    return Err(Halt::Interrupted);
                }
            }
            Popped::Fault(fault) => return Err(fault.into()),
        }
    }
}

/// The scheduler's `pop`, in a function of its own where a profile is to show it (see profiling/README.md).
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn pop<S: Scheduler>(policy: &mut S, calls: &PolicyCalls) -> Option<TaskId> {
    let call = calls.begin();
    let popped = policy.pop();
    call.end();
    popped
}

/// See [`pop`].
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn push<S: Scheduler>(policy: &mut S, calls: &PolicyCalls, task: Task) {
    calls.guard(|| policy.push(task, Ready::Yielded));
}

/// See [`pop`].
#[cfg_attr(clockworker_profiling, inline(never))]
#[cfg_attr(not(clockworker_profiling), inline(always))]
fn push_pop<S: Scheduler>(policy: &mut S, calls: &PolicyCalls, task: Task) -> Option<TaskId> {
    let call = calls.begin();
    let popped = policy.push_pop(task);
    call.end();
    popped
}

/// Settles a polled task: first its record and the counters, then the scheduler. Returns the task if it is ready again, for
/// the caller to push after the tasks that were woken meanwhile.
///
/// The record and the counters come first, so that a scheduler that panics loses nothing, and no admission meets a task that
/// is counted nowhere.
#[inline(always)]
fn settle<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    (queue, core, calls): (&RunQueue, &Core, &PolicyCalls),
    (id, group): (TaskId, GroupIndex),
    ran: Ran,
    timed: Timed,
) -> Option<Task> {
    queue.counters.polls.add(1);
    match ran {
        Ran::Pending(runnable) => {
            runnable.park(core.arrivals().turn());
            let task = as_task(id, group);
            count_in_group::<S>(records, task, timed);
            calls.guard(|| served(policy, records, core, task, timed));
            None
        }
        Ran::Yielded(runnable) => {
            queue.yielded(1);
            runnable.put_back();
            let task = as_task(id, group);
            queue.ready.set(queue.ready.get() + 1);
            count_in_group::<S>(records, task, timed);
            calls.guard(|| served(policy, records, core, task, timed));
            Some(task)
        }
        Ran::Finished(finish) => {
            if times_tasks::<S>() {
                records.count_last_poll(id, timed.service_ns.unwrap_or(0));
            }
            let removed = records.remove(id, Some(finish));
            // Its group may have gone with it.
            core.leave_task();
            queue.count_finished(finish);
            if finish == Finish::Panicked {
                core.task_panicked();
            }
            calls.guard(|| {
                served(policy, records, core, removed.task, timed);
                removed.tell(policy);
            });
            None
        }
    }
}

/// Counts a poll in the task's group, where the scheduler is told of its time.
#[inline(always)]
fn count_in_group<S: Scheduler>(records: &mut Records, task: Task, timed: Timed) {
    if times_tasks::<S>() {
        records.count_poll(task, timed.service_ns.unwrap_or(0));
    }
}

#[inline(always)]
fn served<S: Scheduler>(policy: &mut S, records: &mut Records, core: &Core, task: Task, timed: Timed) {
    if times_tasks::<S>()
        && let Some(ns) = timed.service_ns
    {
        records.charge(task, timed.stands_for, ns);
        policy.served(Served::Task { task, polls: timed.stands_for, ns }, core.meter.now());
    }
}

/// Settles a task during whose poll its scheduler was taken out of service, by a call about a group that made it panic.
#[cold]
fn settle_with_successor(queue: &RunQueue, core: &Core, task: (TaskId, GroupIndex), ran: Ran) {
    // FIFO ignores what was served and which tasks finished, so any other will do.
    let mut unused = RunnableFifo::new();
    let calls = PolicyCalls::default();
    let mut records = queue.records.borrow_mut();
    let yielded = settle(&mut unused, &mut records, (queue, core, &calls), task, ran, Timed::NOT);
    if let Some(task) = yielded {
        arrive_again(&records, queue, task);
    }
}
