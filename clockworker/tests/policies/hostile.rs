//! Schedulers that break their contract: every task still completes, polled as often as it should be, the fault
//! is reported, and no other queue notices.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use clockworker::schedulers::{Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, PolicyFault, Queue, yield_now};
use clockworker_testing::hostile::{Call, Fault, Faulty, Hostile, Misdeed};

use crate::support::*;

/// Each fault once, and what can go on for ever.
fn faults() -> Vec<(Fault, bool)> {
    let for_ever = [Misdeed::ClaimEmpty, Misdeed::InventSlot].map(|misdeed| (Fault::Does(misdeed), true));
    let once = [Fault::None].iter().chain(Fault::ALL).map(|&fault| (fault, false));
    once.chain(for_ever).collect()
}

fn faulty((fault, for_ever): (Fault, bool), after: u32) -> Faulty {
    if for_ever { Faulty::for_ever(fault, after) } else { Faulty::once(fault, after) }
}

const YIELDS: u32 = 3;

/// Counts its polls, and gives its number.
async fn counted(number: usize, polls: Rc<Cell<u32>>) -> usize {
    let mut left = YIELDS;
    poll_fn(move |cx| {
        polls.set(polls.get() + 1);
        if left == 0 {
            return Poll::Ready(number);
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// What was reported is what was wrong.
#[track_caller]
fn assert_reported(reported: Option<PolicyFault>, fault: Fault, did_strike: bool, case: &str) {
    match reported {
        None => assert!(!did_strike || fault.reported().is_empty(), "{case}: not reported"),
        Some(reported) => {
            assert!(did_strike, "{case}: reported {reported:?} although nothing was wrong");
            assert!(fault.reported().contains(&reported), "{case}: reported {reported:?}");
        }
    }
}

/// Tasks that yield and are in groups, beside another queue: each is polled as often as it should be.
fn check<const PER_TASK: bool>(fault: (Fault, bool), after: u32) -> bool {
    const TASKS: usize = 12;
    let case = format!("{fault:?} after {after}, per task: {PER_TASK}");
    let plan = faulty(fault, after);
    let (fault, struck) = (fault.0, plan.struck());
    let ex = untimed();
    let hostile = ex.new_queue("hostile").scheduler(Hostile::<_, PER_TASK>::new(plan));
    let hostile = hostile.create().unwrap();
    let polls: Vec<Rc<Cell<u32>>> = (0..TASKS).map(|_| Rc::default()).collect();
    let groups: Vec<_> = (0..3).map(|key| hostile.group(key)).collect();
    // A policy is asked who comes soon only where there are many, however few of them are ready.
    let crowd = if matches!(fault, Fault::Panics(Call::Peek) | Fault::PeeksNonsense) { 1_100 } else { 0 };
    let idle: Vec<_> = (0..crowd).map(|_| hostile.spawn(pending::<()>())).collect();
    let tasks: Vec<_> = (0..TASKS)
        .map(|i| {
            let future = counted(i, Rc::clone(&polls[i]));
            match i % 4 {
                3 => hostile.new_task().tag(1).spawn(future),
                group => groups[group].spawn(future),
            }
        })
        .collect();
    (0..60).for_each(|i| groups[i % 3].set_weight(2 + i as u32).unwrap());
    drop(groups);
    let others: Vec<_> = (0..TASKS).map(|_| ex.spawn(yields(YIELDS))).collect();
    settle(&ex);
    for (i, task) in tasks.into_iter().enumerate() {
        assert!(task.is_finished(), "{case}: task {i} was lost");
        assert_eq!(output(task).unwrap_or_else(|error| panic!("{case}: {error}")), i);
    }
    assert!(others.into_iter().all(|task| output(task).is_ok()));
    assert!(polls.iter().all(|polls| polls.get() == YIELDS + 1), "{case}");
    idle.iter().for_each(JoinHandle::abort);
    settle(&ex);
    let stats = ex.stats();
    assert_finished(&stats, 2 * TASKS as u64, crowd, 0);
    assert_eq!((stats.live, stats.ready), (0, 0), "{case}");
    assert_eq!(stats.queues[0].policy_fault, None, "the other queue");
    assert_reported(stats.queues[1].policy_fault, fault, struck.get() > 0, &case);
    assert_usable(&ex, &hostile);
    // A panic in the scheduler's own drop stays inside.
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        hostile.close();
        drop(hostile);
        drop(ex);
    }));
    assert!(dropped.is_ok(), "{case}: a panic came out of a drop");
    struck.get() > 0
}

/// The queue goes on: spawns, wakes and aborts work.
#[track_caller]
pub(super) fn assert_usable(ex: &Executor, queue: &Queue) {
    let probe = Probe::new();
    let (woken, aborted) = (queue.spawn(probe.future()), queue.spawn(pending::<()>()));
    let grouped = queue.group(99).spawn(async {
        yield_now().await;
        clockworker::new_task().priority(1).spawn(async { 5 }).await.unwrap()
    });
    settle(ex);
    probe.finish();
    aborted.abort();
    settle(ex);
    assert_eq!((output(woken).unwrap(), output(grouped).unwrap()), (2, 5));
    assert!(output(aborted).unwrap_err().is_cancelled());
    assert_eq!((ex.stats().live, ex.stats().ready), (0, 0));
    assert_balanced(&ex.stats());
}

#[test]
fn every_task_completes_whatever_the_scheduler_does_and_whenever() {
    for fault in faults() {
        let mut struck = 0;
        for after in 0..60 {
            struck += u32::from(check::<true>(fault, after));
            struck += u32::from(check::<false>(fault, after));
        }
        let can_strike = fault.0 != Fault::None;
        assert_eq!(struck > 0, can_strike, "{fault:?} struck {struck} times");
    }
}

#[test]
fn a_scheduler_that_gives_out_an_id_of_an_earlier_task_is_at_fault() {
    /// Gives out the first id that it was given, whichever task is there.
    struct Remembers(Spy, Option<TaskId>);
    impl Scheduler for Remembers {
        fn push(&mut self, task: Task, why: Ready) {
            self.1.get_or_insert(task.id);
            self.0.push(task, why);
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.0.pop().and(self.1)
        }
    }
    let ex = untimed();
    let queue = ex.new_queue("q").scheduler(Remembers(Spy::fifo(), None)).create().unwrap();
    for fault in [None, Some(PolicyFault::Invented)] {
        let task = queue.spawn(async {});
        settle(&ex);
        output(task).unwrap();
        assert_eq!(queue.stats().policy_fault, fault);
    }
}

/// One in four is aborted while it is ready, one while it waits, one after it was woken, and one ends.
#[test]
fn aborts_and_wakes_meet_a_faulty_scheduler_and_no_task_is_lost() {
    for (fault, after) in faults().into_iter().flat_map(|fault| (0..20).map(move |after| (fault, after))) {
        let (ex, case) = (untimed(), format!("{fault:?} after {after}"));
        let hostile = Hostile::<Faulty>::new(faulty(fault, after));
        let queue = ex.new_queue("hostile").scheduler(hostile).create().unwrap();
        let probes: [_; 8] = std::array::from_fn(|_| Probe::new());
        let tasks = probes.each_ref().map(|probe| queue.spawn(probe.future()));
        let abort = |all: [usize; 2]| all.into_iter().for_each(|i| tasks[i].abort());
        abort([0, 4]);
        settle(&ex);
        abort([1, 5]);
        for i in [2, 3, 6, 7] {
            assert_eq!(probes[i].polls.get(), 1, "{case}");
            probes[i].finish();
        }
        abort([2, 6]);
        settle(&ex);
        for (i, task) in tasks.into_iter().enumerate() {
            assert!(task.is_finished(), "{case}: task {i}");
            assert_eq!(output(task).ok(), (i % 4 == 3).then_some(2), "{case}: task {i}");
            assert_eq!(probes[i].drops.get(), 1);
        }
        assert_finished(&ex.stats(), 2, 6, 0);
        let reported = queue.stats().policy_fault;
        assert!(
            reported.is_none_or(|reported| fault.0.reported().contains(&reported)),
            "{case}: {reported:?}"
        );
        assert_usable(&ex, &queue);
    }
}

#[test]
fn a_task_panics_while_its_scheduler_does_and_both_are_reported() {
    for call in [Call::Served, Call::Finished, Call::Pop, Call::Push] {
        let ex = untimed();
        let hostile = Hostile::<Faulty>::new(Faulty::once(Fault::Panics(call), 0));
        let queue = ex.new_queue("hostile").scheduler(hostile).create().unwrap();
        let task = queue.spawn(async { panic_as_meant("the task") });
        settle(&ex);
        assert_eq!(panic_of(output::<()>(task)), "the task");
        assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Panicked));
        assert_finished(&ex.stats(), 0, 0, 1);
        assert_usable(&ex, &queue);
    }
}

#[test]
fn faults_read_as_sentences() {
    for (fault, says) in [
        (PolicyFault::Panicked, "the scheduler panicked"),
        (PolicyFault::Lost, "the scheduler claimed to be empty while a task was ready"),
        (PolicyFault::Repeated, "the scheduler gave out a task that was not ready"),
        (PolicyFault::Invented, "the scheduler gave out an id that is no task's"),
    ] {
        assert_eq!(fault.to_string(), says);
    }
}

#[test]
fn the_first_fault_is_the_one_reported() {
    let ex = untimed();
    let hostile = Hostile::<Faulty>::new(Faulty::for_ever(Fault::Does(Misdeed::ClaimEmpty), 0));
    let queue = ex.new_queue("hostile").scheduler(hostile).create().unwrap();
    let mut task = queue.spawn(async {});
    tick(&ex);
    assert!(poll_once(&mut task).is_ready());
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Lost));
}
