//! Schedulers that break their contract: every task completes all the same, polled as often as it should be, the fault
//! is reported, and no other queue notices.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use clockworker::schedulers::{GroupId, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, PolicyFault, Queue, yield_now};

use crate::support::{
    Probe, assert_balanced, assert_finished, output, panic_as_meant, panic_of, poll_once, settle, tick,
    untimed, yields,
};

/// What a scheduler does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Forgets a task that is pushed.
    LosesPushed,
    /// Forgets a task that it should have given out.
    LosesPopped,
    /// Says it is empty although it is not, once.
    ClaimsEmpty,
    /// Says it is empty for ever.
    ClaimsEmptyForEver,
    /// Gives out the task that it gave out last.
    Repeats,
    /// Gives out a slot that nobody has.
    InventsSlot,
    /// Gives out the greatest id there is.
    InventsMax,
    /// Gives out the slot of a task under another generation.
    InventsGeneration,
    /// Gives out nothing but inventions.
    InventsForEver,
    PanicsInPush,
    PanicsInPop,
    PanicsInServed,
    PanicsInFinished,
    PanicsInGroupClosed,
    PanicsInPeek,
    PanicsInPushPop,
    /// Forgets the task that is handed back.
    LosesSwapped,
    /// Lets the task that is handed back go on, and keeps it as well.
    KeepsSwapped,
    PanicsInDrop,
    /// Once it has panicked in `pop`, also in its drop.
    PanicsInPopAndDrop,
    /// Hints at tasks that do not exist.
    PeeksNonsense,
}

use Fault as F;

const FAULTS: [Fault; 22] = [
    F::None,
    F::LosesPushed,
    F::LosesPopped,
    F::ClaimsEmpty,
    F::ClaimsEmptyForEver,
    F::Repeats,
    F::InventsSlot,
    F::InventsMax,
    F::InventsGeneration,
    F::InventsForEver,
    F::PanicsInPush,
    F::PanicsInPop,
    F::PanicsInServed,
    F::PanicsInFinished,
    F::PanicsInGroupClosed,
    F::PanicsInPeek,
    F::PanicsInPushPop,
    F::LosesSwapped,
    F::KeepsSwapped,
    F::PanicsInDrop,
    F::PanicsInPopAndDrop,
    F::PeeksNonsense,
];

impl Fault {
    /// What the executor makes of it.
    fn reported(self) -> &'static [PolicyFault] {
        match self {
            F::None | F::PanicsInDrop | F::PeeksNonsense => &[],
            F::LosesPushed | F::LosesPopped | F::LosesSwapped | F::ClaimsEmpty | F::ClaimsEmptyForEver => {
                &[PolicyFault::Lost]
            }
            // The task it gave out twice may have finished, and is no task's then.
            F::Repeats | F::KeepsSwapped => &[PolicyFault::Repeated, PolicyFault::Invented],
            F::InventsSlot | F::InventsMax | F::InventsGeneration | F::InventsForEver => {
                &[PolicyFault::Invented]
            }
            _ => &[PolicyFault::Panicked],
        }
    }
}

/// FIFO, until its moment comes: at the `after`-th call of the method in question.
pub(super) struct Hostile<const NEEDS_SERVICE: bool> {
    ready: VecDeque<TaskId>,
    last: Option<TaskId>,
    fault: Fault,
    after: Cell<u32>,
    /// Set when it did wrong.
    struck: Rc<Cell<bool>>,
}

impl<const NEEDS_SERVICE: bool> Hostile<NEEDS_SERVICE> {
    pub(super) fn new(fault: Fault, after: u32, struck: &Rc<Cell<bool>>) -> Self {
        Self { ready: VecDeque::new(), last: None, fault, after: Cell::new(after), struck: Rc::clone(struck) }
    }

    /// Whether to do wrong now.
    fn strikes(&self, fault: Fault) -> bool {
        if self.fault != fault {
            return false;
        }
        let left = self.after.get();
        let now =
            left == 0 && (!self.struck.get() || matches!(fault, F::ClaimsEmptyForEver | F::InventsForEver));
        self.after.set(left.saturating_sub(1));
        if now {
            self.struck.set(true);
        }
        now
    }

    fn panic_if(&self, fault: Fault) {
        if self.strikes(fault) {
            panic_as_meant("the scheduler");
        }
    }
}

impl<const NEEDS_SERVICE: bool> Scheduler for Hostile<NEEDS_SERVICE> {
    const NEEDS_SERVICE: bool = NEEDS_SERVICE;

    fn push(&mut self, task: Task, _why: Ready) {
        self.panic_if(F::PanicsInPush);
        if !self.strikes(F::LosesPushed) {
            self.ready.push_back(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.panic_if(F::PanicsInPop);
        self.panic_if(F::PanicsInPopAndDrop);
        if !self.ready.is_empty() {
            if self.strikes(F::ClaimsEmpty) || self.strikes(F::ClaimsEmptyForEver) {
                return None;
            }
            if self.strikes(F::InventsSlot) || self.strikes(F::InventsForEver) {
                return Some(TaskId::new(1_000_000, 1));
            }
            if self.strikes(F::InventsMax) {
                return Some(TaskId::new(u32::MAX, u32::MAX));
            }
            if let Some(id) = self.ready.front()
                && self.strikes(F::InventsGeneration)
            {
                return Some(TaskId::new(id.slot() as u32, id.generation().wrapping_sub(1)));
            }
            if self.strikes(F::LosesPopped) {
                self.ready.pop_front();
            }
        }
        if let Some(last) = self.last
            && self.strikes(F::Repeats)
        {
            return Some(last);
        }
        self.last = self.ready.pop_front();
        self.last
    }

    fn push_pop(&mut self, task: Task) -> Option<TaskId> {
        self.panic_if(F::PanicsInPushPop);
        if self.strikes(F::LosesSwapped) {
            return self.pop();
        }
        self.push(task, Ready::Yielded);
        if self.strikes(F::KeepsSwapped) { Some(task.id) } else { self.pop() }
    }

    fn peek(&self, ahead: usize) -> Option<TaskId> {
        self.panic_if(F::PanicsInPeek);
        if self.fault == F::PeeksNonsense {
            self.struck.set(true);
            return Some(TaskId::new(u32::MAX - ahead as u32, 0));
        }
        self.ready.get(ahead).copied()
    }

    fn served(&mut self, _task: Task, _service_ns: u64) {
        self.panic_if(F::PanicsInServed);
    }

    fn finished(&mut self, _task: Task) {
        self.panic_if(F::PanicsInFinished);
    }

    fn group_closed(&mut self, _group: GroupId) {
        self.panic_if(F::PanicsInGroupClosed);
    }
}

impl<const NEEDS_SERVICE: bool> Drop for Hostile<NEEDS_SERVICE> {
    fn drop(&mut self) {
        let after_panic = self.fault == F::PanicsInPopAndDrop && self.struck.get();
        if self.fault == F::PanicsInDrop || after_panic {
            self.struck.set(true);
            panic_as_meant("the scheduler's drop");
        }
    }
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

/// Tasks that yield, wait for one another, and are in groups; each asserts how often it is polled.
fn check<const NEEDS_SERVICE: bool>(fault: Fault, after: u32) -> bool {
    const TASKS: usize = 12;
    let case = format!("{fault:?} after {after}, needs service: {NEEDS_SERVICE}");
    let struck = Rc::new(Cell::new(false));
    let ex = untimed();
    let hostile = ex.queue("hostile").scheduler(Hostile::<NEEDS_SERVICE>::new(fault, after, &struck));
    let hostile = hostile.create().unwrap();
    let polls: Vec<Rc<Cell<u32>>> = (0..TASKS).map(|_| Rc::default()).collect();
    let groups: Vec<_> = (0..3).map(|key| hostile.group(key)).collect();
    // A policy is asked who comes soon only where there are many, however few of them are ready.
    let crowd = if matches!(fault, F::PanicsInPeek | F::PeeksNonsense) { 1_100 } else { 0 };
    let idle: Vec<_> = (0..crowd).map(|_| hostile.spawn(pending::<()>())).collect();
    let tasks: Vec<_> = (0..TASKS)
        .map(|i| {
            let future = counted(i, Rc::clone(&polls[i]));
            match i % 4 {
                3 => hostile.spawn(future),
                group => groups[group].spawn(future),
            }
        })
        .collect();
    drop(groups);
    let others: Vec<_> = (0..TASKS)
        .map(|i| {
            ex.spawn(async move {
                yields(YIELDS).await;
                i
            })
        })
        .collect();
    settle(&ex);
    for (i, task) in tasks.into_iter().enumerate() {
        assert!(task.is_finished(), "{case}: task {i} was lost");
        assert_eq!(output(task).unwrap_or_else(|error| panic!("{case}: {error}")), i);
    }
    assert!(others.into_iter().enumerate().all(|(i, task)| output(task).unwrap() == i));
    for polls in &polls {
        assert_eq!(polls.get(), YIELDS + 1, "{case}");
    }
    idle.iter().for_each(JoinHandle::abort);
    settle(&ex);
    let did_strike = struck.get();
    let stats = ex.stats();
    assert_finished(&stats, 2 * TASKS as u64, crowd, 0);
    assert_eq!((stats.live, stats.ready), (0, 0), "{case}");
    assert_eq!(stats.queues[0].policy_fault, None, "the other queue");
    assert_reported(stats.queues[1].policy_fault, fault, did_strike, &case);
    assert_usable(&ex, &hostile);
    // A panic in the scheduler's own drop stays inside, whoever drops it.
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        hostile.close();
        drop(hostile);
        drop(ex);
    }));
    assert!(dropped.is_ok(), "{case}: a panic came out of a drop");
    struck.get()
}

/// The queue goes on: spawns, wakes and aborts work.
#[track_caller]
pub(super) fn assert_usable(ex: &Executor, queue: &Queue) {
    let probe = Probe::new();
    let (woken, aborted) = (queue.spawn(probe.future()), queue.spawn(pending::<()>()));
    let grouped = queue.group(99).spawn(async {
        yield_now().await;
        clockworker::spawn_local(async { 5 }).await.unwrap()
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
    for fault in FAULTS {
        let mut struck = 0;
        for after in 0..60 {
            struck += u32::from(check::<true>(fault, after));
            struck += u32::from(check::<false>(fault, after));
        }
        let can_strike = fault != F::None;
        assert_eq!(struck > 0, can_strike, "{fault:?} struck {struck} times");
    }
}

#[test]
fn a_scheduler_that_gives_out_an_id_of_an_earlier_task_in_the_slot_is_at_fault() {
    /// Gives out the first id that it heard of, for whichever is there.
    #[derive(Default)]
    struct Remembers {
        first: Option<TaskId>,
        ready: u32,
    }
    impl Scheduler for Remembers {
        fn push(&mut self, task: Task, _why: Ready) {
            self.first.get_or_insert(task.id);
            self.ready += 1;
        }
        fn pop(&mut self) -> Option<TaskId> {
            self.ready = self.ready.checked_sub(1)?;
            self.first
        }
    }
    let ex = untimed();
    let queue = ex.queue("q").scheduler(Remembers::default()).create().unwrap();
    output(queue_and_settle(&ex, &queue)).unwrap();
    assert_eq!(queue.stats().policy_fault, None);
    output(queue_and_settle(&ex, &queue)).unwrap();
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Invented));
}

fn queue_and_settle(ex: &Executor, queue: &Queue) -> JoinHandle<()> {
    let task = queue.spawn(async {});
    settle(ex);
    task
}

#[test]
fn aborts_and_wakes_meet_a_faulty_scheduler_and_no_task_is_lost() {
    for fault in FAULTS {
        for after in 0..20 {
            let struck = Rc::new(Cell::new(false));
            let ex = untimed();
            let hostile = Hostile::<true>::new(fault, after, &struck);
            let queue = ex.queue("hostile").scheduler(hostile).create().unwrap();
            let probes: Vec<_> = (0..8).map(|_| Probe::new()).collect();
            let tasks: Vec<_> = probes.iter().map(|probe| queue.spawn(probe.future())).collect();
            // One in four is aborted while ready, one while parked, one after it was woken.
            tasks[0].abort();
            tasks[4].abort();
            settle(&ex);
            tasks[1].abort();
            tasks[5].abort();
            for i in [2, 3, 6, 7] {
                assert_eq!(probes[i].polls.get(), 1, "{fault:?} after {after}");
                probes[i].finish();
            }
            tasks[2].abort();
            tasks[6].abort();
            settle(&ex);
            for (i, task) in tasks.into_iter().enumerate() {
                assert!(task.is_finished(), "{fault:?} after {after}: task {i}");
                let result = output(task);
                if i % 4 == 3 {
                    assert_eq!(result.unwrap(), 2)
                } else {
                    assert!(result.unwrap_err().is_cancelled())
                }
                assert_eq!(probes[i].drops.get(), 1);
            }
            assert_finished(&ex.stats(), 2, 6, 0);
            let reported = queue.stats().policy_fault;
            assert!(
                reported.is_none_or(|reported| fault.reported().contains(&reported)),
                "{fault:?}: {reported:?}"
            );
            assert_usable(&ex, &queue);
        }
    }
}

#[test]
fn a_task_panics_while_its_scheduler_does_and_both_are_reported() {
    for fault in [F::PanicsInServed, F::PanicsInFinished, F::PanicsInPop, F::PanicsInPush] {
        let ex = untimed();
        let struck = Rc::new(Cell::new(false));
        let hostile = Hostile::<true>::new(fault, 0, &struck);
        let queue = ex.queue("hostile").scheduler(hostile).create().unwrap();
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
    let faults = [
        PolicyFault::Panicked,
        PolicyFault::Lost,
        PolicyFault::Starved,
        PolicyFault::Repeated,
        PolicyFault::Invented,
    ];
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "the scheduler panicked",
            "the scheduler claimed to be empty while a task was ready",
            "the scheduler passed over a ready task for longer than its patience",
            "the scheduler gave out a task that was not ready",
            "the scheduler gave out an id that is no task's",
        ]
    );
}

#[test]
fn the_first_fault_is_the_one_reported() {
    let ex = untimed();
    let struck = Rc::new(Cell::new(false));
    let hostile = Hostile::<true>::new(F::ClaimsEmptyForEver, 0, &struck);
    let queue = ex.queue("hostile").scheduler(hostile).create().unwrap();
    let mut task = queue.spawn(async {});
    tick(&ex);
    assert!(poll_once(&mut task).is_ready());
    assert_eq!(queue.stats().policy_fault, Some(PolicyFault::Lost));
}
