//! One slice: poll tasks of one queue until its time is up, or something better has come.
//!
//! This is the hot loop. It is compiled once per scheduler type, so that no call in it is dynamic but the one into the
//! task. No borrow is held while a task runs: records and scheduler are borrowed between polls, to settle the last task
//! and choose the next.

use clockworker_schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};

use super::Core;
use super::queue::RunQueue;
use super::timing::{SliceEnd, Timing};
use crate::queue::{Asked, GroupIndex, NO_GROUP, PolicyFault, Popped, Records, Seat, admit_woken_in_slice};
use crate::task::{Arrivals, Cause, Finish, LiveTask, Ran};

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

/// Runs one slice of `queue`, whose scheduler has this seat, within the grant that `core` holds.
///
/// First the futures of aborted tasks are dropped; then tasks are polled, until one is aborted.
pub(crate) fn run<S: Scheduler>(
    seat: &Seat<S>,
    (queue, core, asked): (&RunQueue, &Core, &Asked),
) -> Result<SliceEnd, Halt> {
    let Some(arrivals) = core.shared.arrivals() else { unreachable!("slices are run on the owner thread") };
    if queue.has_aborted()
        && let Some(end) = drop_aborted(seat, (queue, core, asked))
    {
        return Ok(end);
    }
    let mut timing = Timing::start(core);
    let mut next = first(seat, queue, core, asked)?;
    while let Some(Chosen { live, id, group }) = next {
        core.enter_task(queue, group);
        let mut ran = live.run();
        if core.budget.is_spent() {
            ran = after_cut(ran, queue, core);
        }
        let service_ns = timing.after_poll(S::NEEDS_SERVICE, queue);
        let (mut seated, mut records) = (seat.borrow_mut(), queue.records.borrow_mut());
        let Some(mut policy) = seated.as_mut() else {
            drop((seated, records));
            settle_with_successor(queue, core, id, ran);
            return Ok(SliceEnd::PolicyFault);
        };
        let yielded = settle(policy, &mut records, (queue, core, asked), id, ran, service_ns);
        if S::WANTS_TIME && service_ns > 0 {
            asked.ask(|| policy.time_passed(service_ns));
        }
        if arrivals.any() || core.shared.inbox.has_mail() {
            let only_own = arrivals.only_queue() == Some(queue.key.index);
            if only_own && !core.is_flooded() && !core.shared.inbox.has_mail() {
                // No queue joins the others by that, so nothing is preempted. And where the policy does not want them yet,
                // several together cost less.
                if yielded.is_some() || arrivals.are_many() || asked.ask(|| policy.wants_woken()) {
                    admit_woken_in_slice(policy, &mut records, (&queue.ready, asked, arrivals));
                }
            } else {
                drop((seated, records));
                core.admit_arrivals();
                timing.look_again();
                (seated, records) = (seat.borrow_mut(), queue.records.borrow_mut());
                policy = match seated.as_mut() {
                    Some(policy) => policy,
                    // Its successor has every ready task, this one included.
                    None => return Ok(SliceEnd::PolicyFault),
                };
            }
        }
        if let Some(end) = timing.end() {
            hand_back(policy, &mut records, (queue, asked, arrivals), yielded);
            return Ok(end);
        }
        next = choose(policy, &mut records, queue, asked, Some(Last { id, yielded }))?;
    }
    if let Some(policy) = &mut *seat.borrow_mut() {
        asked.ask(|| policy.drained());
    }
    Ok(SliceEnd::Drained)
}

/// The slice ends: gives the scheduler the woken tasks that were kept back, as what comes after the slice is of another turn, then
/// the last task, if it yielded.
#[inline(always)] // a call would keep more of the hot loop in memory: 15 instructions a poll
fn hand_back<S: Scheduler>(
    policy: &mut S,
    records: &mut Records,
    (queue, asked, arrivals): (&RunQueue, &Asked, &Arrivals),
    yielded: Option<Task>,
) {
    if arrivals.only_queue() == Some(queue.key.index) {
        admit_woken_in_slice(policy, records, (&queue.ready, asked, arrivals));
    }
    if let Some(task) = yielded {
        push(policy, asked, task);
    }
}

/// The task that the slice begins with.
#[inline(always)] // as `choose`
fn first<S: Scheduler>(
    seat: &Seat<S>,
    queue: &RunQueue,
    core: &Core,
    asked: &Asked,
) -> Result<Option<Chosen>, Halt> {
    let first = match &mut *seat.borrow_mut() {
        Some(policy) => choose(policy, &mut queue.records.borrow_mut(), queue, asked, None)?,
        None => None,
    };
    if core.is_flooded() { unless_aborted(first, queue) } else { Ok(first) }
}

/// Renews the budget after a poll that has spent it. A task that waits then was cut short: if those before it had spent some, it
/// is polled again, and if it had all of it, it gives way. (Outside of tokio's schedulers it is woken at once, and has given
/// way already.)
#[cold]
#[inline(never)]
fn after_cut(ran: Ran, queue: &RunQueue, core: &Core) -> Ran {
    let by_others = core.renew_budget(queue);
    let Ran::Pending(live) = ran else { return ran };
    if !by_others {
        return live.give_way();
    }
    match live.run() {
        Ran::Pending(live) if core.budget.is_spent() => {
            core.renew_budget(queue);
            live.give_way()
        }
        ran => ran,
    }
}

/// While what other threads sent waits for admission, aborts may be among it. A slice has one poll then, and if its task was
/// aborted, none.
#[cold]
fn unless_aborted(next: Option<Chosen>, queue: &RunQueue) -> Result<Option<Chosen>, Halt> {
    match next {
        Some(Chosen { live, id, group }) if live.is_aborted() => {
            queue.abort_popped(live, id, group);
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
    (queue, core, asked): (&RunQueue, &Core, &Asked),
) -> Option<SliceEnd> {
    let mut timing = Timing::start(core);
    while let Some(aborted) = queue.next_aborted() {
        core.enter_task(queue, aborted.group);
        let (task, group) = (aborted.task, aborted.group);
        // No borrow is held: user code runs here.
        let left = queue.cancel_aborted(aborted, Cause::Aborted);
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
        queue.sweep_tombstones();
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
    queue: &RunQueue,
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
            return if queue.ready.get() == 0 { Ok(None) } else { Err(PolicyFault::Lost.into()) };
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
                queue.ready.set(queue.ready.get() - 1);
                return Ok(Some(Chosen { live, id, group }));
            }
            Popped::Aborted(left) => {
                asked.ask(|| left.tell(policy));
                if queue.tombstone_popped() {
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
    (queue, core, asked): (&RunQueue, &Core, &Asked),
    id: TaskId,
    ran: Ran,
    service_ns: u64,
) -> Option<Task> {
    queue.counters.polls.add(1);
    match ran {
        Ran::Pending(live) => {
            live.polled_in(core.turn(), service_ns);
            let task = records.put_back(id, live, false)?;
            asked.ask(|| served(policy, task, service_ns));
            None
        }
        Ran::Yielded(live) => {
            let task = records.put_back(id, live, true)?;
            queue.ready.set(queue.ready.get() + 1);
            asked.ask(|| served(policy, task, service_ns));
            Some(task)
        }
        Ran::Finished(finish) => {
            let left = records.remove(id);
            // Its group may be gone with it.
            core.leave_task();
            queue.count(finish);
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
fn settle_with_successor(queue: &RunQueue, core: &Core, id: TaskId, ran: Ran) {
    // FIFO hears nothing of what was served and who left, so any other will do.
    let mut nobody = RunnableFifo::new();
    let asked = Asked::default();
    let yielded = settle(&mut nobody, &mut queue.records.borrow_mut(), (queue, core, &asked), id, ran, 0);
    if let Some(task) = yielded {
        queue.push_again(task);
    }
}
