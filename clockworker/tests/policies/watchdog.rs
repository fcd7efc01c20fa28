//! Tasks that a scheduler has lost, or starves, while it has others to give out: found after as many polls as its patience
//! says, and never before. Schedulers that promise nothing may starve tasks, but not lose them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use clockworker::PolicyFault::{self, Lost, Panicked, Starved};
use clockworker::schedulers::{FairTurns, Las, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, Queue, QueueStats, spawn_local, yield_now};

use crate::support::*;

/// What a watched scheduler says of its patience.
type Patience = fn(usize) -> Option<u64>;

/// FIFO but for one task, the next that is pushed once it is armed: that waits until so many others were popped.
struct Holding {
    ready: VecDeque<TaskId>,
    /// The number of the spawn that it holds back.
    armed: Rc<Cell<Option<u64>>>,
    /// New tasks pushed so far.
    pushed: u64,
    /// The task held back, and the pops that it still waits for. None while it is out.
    held: Option<(TaskId, Option<u64>)>,
    pops: u64,
    patience: Patience,
}

impl Holding {
    fn new(armed: &Rc<Cell<Option<u64>>>, pops: u64, patience: Patience) -> Self {
        Self { ready: VecDeque::new(), armed: Rc::clone(armed), pushed: 0, held: None, pops, patience }
    }
}

impl Scheduler for Holding {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        let is_armed = why == Ready::Spawned && self.armed.get() == Some(self.pushed);
        self.pushed += u64::from(why == Ready::Spawned);
        if is_armed || self.held.is_some_and(|(id, _)| id == task.id) {
            self.held = Some((task.id, Some(self.pops)));
        } else {
            self.ready.push_back(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        if let Some((id, waits)) = &mut self.held
            && let Some(left) = waits
        {
            if *left == 0 {
                *waits = None;
                return Some(*id);
            }
            *left -= 1;
        }
        self.ready.pop_front()
    }

    fn patience(&self, tasks: usize) -> Option<u64> {
        (self.patience)(tasks)
    }
}

/// One queue, whose slices are of so many polls each: one slice to a tick.
struct Watched {
    ex: Executor,
    queue: Queue,
    armed: Rc<Cell<Option<u64>>>,
}

impl Watched {
    fn new(polls: u32, scheduler: impl Scheduler + 'static) -> Self {
        let ex = hosted_builder().poll_cap(polls).build().unwrap();
        let queue = ex.new_queue("watched").scheduler(scheduler).create().unwrap();
        Self { ex, queue, armed: Rc::default() }
    }

    /// Its scheduler holds a task back for so many pops, and there is one that yields for ever.
    fn holding(polls: u32, pops: u64, patience: Patience) -> Self {
        let armed = Rc::default();
        let watched =
            Self { armed: Rc::clone(&armed), ..Self::new(polls, Holding::new(&armed, pops, patience)) };
        watched.yields();
        watched
    }

    /// Its scheduler loses a task, and there is one that yields for ever.
    fn losing(polls: u32, patience: Patience) -> Self {
        Self::holding(polls, u64::MAX, patience)
    }

    /// Spawns a task that the scheduler will hold back.
    fn held<T: 'static>(&self, task: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        self.arm();
        self.queue.spawn(task)
    }

    /// Has the scheduler hold back the task that is spawned next.
    fn arm(&self) {
        self.armed.set(Some(self.queue.stats().spawned));
    }

    /// Spawns a task that yields for ever.
    fn yields(&self) -> JoinHandle<()> {
        self.queue.spawn(compute(us(0)))
    }

    /// Ticks until there is a fault, or so many polls were done.
    fn run(&self, polls: u64) -> QueueStats {
        while self.queue.stats().polls < polls && self.queue.stats().policy_fault.is_none() {
            tick(&self.ex);
        }
        self.queue.stats()
    }

    /// There is this fault, and none before so many polls.
    #[track_caller]
    fn assert_fault_at(&self, fault: PolicyFault, polls: u64) {
        let stats = self.run(1_000_000);
        assert_eq!((stats.policy_fault, stats.polls), (Some(fault), polls));
    }

    /// There is no fault in so many polls.
    #[track_caller]
    fn assert_lawful(&self, polls: u64) {
        let stats = self.run(polls);
        assert_eq!((stats.policy_fault, stats.polls), (None, polls));
    }

    /// What a task gives that has its poll in the next tick.
    #[track_caller]
    fn output<T>(&self, task: JoinHandle<T>) -> T {
        tick(&self.ex);
        output(task).unwrap()
    }
}

#[test]
fn a_task_lost_beside_one_that_yields_for_ever_is_found_and_runs() {
    let w = Watched::losing(10, |_| Some(1_000));
    let probe = Probe::new();
    let lost = w.held(probe.future());
    // The first look is after the first slice, the second 1,000 polls later.
    w.assert_lawful(1_000);
    w.assert_fault_at(Starved, 1_010);
    assert_eq!((w.queue.stats().ready, probe.polls.get()), (2, 0));
    tick(&w.ex);
    assert_eq!(probe.polls.get(), 1, "FIFO has it");
    probe.finish();
    assert_eq!(w.output(lost), 2);
    assert_eq!(w.ex.stats().queues[0].policy_fault, None, "the other queue");
    assert_eq!(w.run(5_000).policy_fault, Some(Starved));
}

#[test]
fn a_task_lost_later_on_is_found_in_twice_the_patience() {
    let w = Watched::losing(10, |_| Some(1_000));
    // It looks after polls 10, 1,010 and so on.
    w.assert_lawful(5_020);
    let lost = w.held(async {});
    w.assert_fault_at(Starved, 7_010);
    w.output(lost);
}

#[test]
fn a_task_that_waits_for_less_than_the_patience_is_not_starved() {
    // Held back for 999 pops each time, so of 1,000 polls one is its own; and for twice the patience and a slice.
    for (pops, fault) in [(999, None), (2_006, Some(Starved))] {
        let w = Watched::holding(7, pops, |_| Some(1_000));
        w.arm();
        w.yields();
        assert_eq!(w.run(100_000).policy_fault, fault);
    }
}

#[test]
fn the_count_is_exact() {
    // In FIFO order each of ten tasks is popped in any ten polls, and one of them is not in nine.
    let cases: [(Patience, _); 3] =
        [(|_| Some(10), None), (|_| Some(9), Some(Starved)), (|_| Some(0), Some(Starved))];
    for (patience, fault) in cases {
        let w = Watched::losing(1, patience);
        (0..9).for_each(|_| drop(w.yields()));
        assert_eq!(w.run(2_000).policy_fault, fault);
    }
}

#[test]
fn a_task_that_was_lost_is_found_without_a_promise() {
    let w = Watched::losing(16, |_| None);
    let lost = w.held(async { 5 });
    // Room for four tasks is made at first: it looks after poll 16, and 65,536 + 4 · 2,048 polls later it asks for all tasks.
    let found = 16 + 65_536 + 4 * 2_048;
    w.assert_lawful(found - 16);
    w.assert_fault_at(Lost, found);
    assert_eq!(w.queue.stats().ready, 2);
    assert_eq!(w.output(lost), 5, "FIFO has it");
}

/// The task of the highest slot first, and no word of patience.
fn strict() -> Spy<false> {
    Spy::choosing(|ready| (0..ready.len()).max_by_key(|&at| ready[at].slot()).unwrap())
}

#[test]
fn a_strict_scheduler_that_says_nothing_of_patience_may_starve_a_task() {
    let w = Watched::new(16, strict());
    let starved = w.queue.spawn(async { 6 });
    let first = w.yields();
    // Some eight times it is asked for all tasks, and each time gives out both.
    w.assert_lawful(1_200_000);
    assert!(!starved.is_finished());
    first.abort();
    settle(&w.ex);
    assert_eq!(output(starved).unwrap(), 6);
    assert_eq!(w.queue.stats().policy_fault, None);
}

#[test]
fn a_promise_may_be_made_later() {
    thread_local!(static PROMISES: Cell<bool> = const { Cell::new(false) });
    let w = Watched::new(16, strict().patience(|_| PROMISES.get().then_some(1_000)));
    let starved = w.queue.spawn(async {});
    w.yields();
    w.assert_lawful(200_000);
    PROMISES.set(true);
    assert_eq!(w.run(1_000_000).policy_fault, Some(Starved));
    w.output(starved);
}

#[test]
fn patience_that_grows_with_the_tasks_is_waited_for() {
    let w = Watched::losing(10, |tasks| Some(if tasks < 100 { 50 } else { 1_000 }));
    let lost = w.held(async {});
    tick(&w.ex);
    // Found after 50 polls, were it not for these.
    (0..100).for_each(|_| drop(w.queue.spawn(pending::<()>())));
    w.assert_fault_at(Starved, 1_010);
    w.output(lost);
}

#[test]
fn a_lost_task_that_is_aborted_is_not_looked_for() {
    let w = Watched::losing(10, |_| Some(1_000));
    let lost = w.held(async {});
    w.assert_lawful(500);
    lost.abort();
    // Ten polls a turn, but for the turn in which the drop takes the place of one.
    let stats = w.run(10_000);
    assert_eq!((stats.policy_fault, stats.polls), (None, 10_009));
    assert!(output(lost).unwrap_err().is_cancelled());
}

#[test]
fn a_task_lost_among_very_many_is_found_part_by_part() {
    let w = Watched::losing(10, |_| Some(60_000));
    for _ in 0..40_000 {
        drop(w.queue.spawn(pending::<()>()));
    }
    // The slots, of which there may be up to 80,000, are up to five parts. Each task was polled once by the second look.
    w.assert_lawful(70_000);
    let lost = w.held(async {});
    let found = w.run(1_000_000);
    assert_eq!(found.policy_fault, Some(Starved));
    assert!((120_020..=70_000 + 6 * 60_000).contains(&found.polls), "{} polls", found.polls);
    w.output(lost);
}

#[test]
fn a_random_order_is_lawful() {
    fastrand::seed(1);
    let w = Watched::new(1_000, Spy::<false>::choosing(|ready| fastrand::usize(..ready.len())));
    (0..32).for_each(|_| drop(w.yields()));
    // 65,536 + 32 · 2,048 polls from look to look.
    w.assert_lawful(600_000);
}

/// An old task beside others that never grow old, since each spawns the next: how often it was polled in 300,000 polls.
fn polls_of_the_old(las: Las) -> u32 {
    fn young() {
        drop(spawn_local(async {
            work(us(1));
            young();
        }));
    }
    let w = Watched::new(10, las);
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    drop(w.queue.spawn(async move {
        loop {
            counted.set(counted.get() + 1);
            work(Duration::from_millis(10));
            if counted.get() == 1 {
                young();
            }
            yield_now().await;
        }
    }));
    assert_eq!(w.run(300_000).policy_fault, None);
    polls.get()
}

#[test]
fn strict_las_starves_the_old_as_it_may() {
    assert_eq!(polls_of_the_old(Las::new().with_fair_turns(FairTurns::NEVER)), 1);
    // With fair turns it does not. They have 1/32 of the time. Its polls take 10 ms, and 31 times as long are 247,000 of the others'.
    assert_eq!(polls_of_the_old(Las::new()), 2);
}

#[test]
fn a_scheduler_that_fails_when_asked_for_its_patience_is_at_fault() {
    let w = Watched::losing(10, |_| panic_as_meant("patience"));
    tick(&w.ex);
    assert_eq!(w.queue.stats().policy_fault, Some(Panicked));
    assert_eq!(w.output(w.queue.spawn(async { 3 })), 3);

    let own = Rc::new(RefCell::new(None::<Queue>));
    let within = Rc::clone(&own);
    let calls: Spy = Spy::fifo().patience(|_| Some(1)).listening(move |call| {
        if let (Call::Patience(_), Some(queue)) = (call, within.borrow().as_ref()) {
            drop(queue.spawn(async {}));
        }
    });
    let w = Watched::new(10, calls);
    w.yields();
    own.replace(Some(w.queue.clone()));
    tick(&w.ex);
    let stats = w.queue.stats();
    assert_eq!((stats.policy_fault, stats.spawned, stats.ready), (None, 2, 2), "it may spawn");
    let task = w.queue.spawn(async { 4 });
    assert_eq!(w.output(task), 4);
    own.take();
}

/// A scheduler that is asked for its patience, and the numbers of tasks that it was given then.
fn asked() -> (Spy<false>, Rc<RefCell<Vec<usize>>>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let notes = Rc::clone(&asked);
    let spy = Spy::fifo().listening(move |call| {
        if let Call::Patience(tasks) = call {
            notes.borrow_mut().push(tasks);
        }
    });
    (spy, asked)
}

#[test]
fn what_a_scheduler_is_given_is_the_number_of_tasks() {
    let (spy, asked) = asked();
    let w = Watched::new(10, spy);
    w.yields();
    (0..99).for_each(|_| drop(w.queue.spawn(pending::<()>())));
    tick(&w.ex);
    let asked = asked.take();
    assert!(asked.len() == 1 && (100..200).contains(&asked[0]), "{asked:?}");
}

#[test]
fn a_queue_that_runs_empty_is_not_looked_at() {
    let (spy, asked) = asked();
    let w = Watched::new(1_000, spy.patience(|_| Some(1)));
    for _ in 0..100 {
        drop(w.queue.spawn(async {}));
        settle(&w.ex);
    }
    assert_eq!(*asked.borrow(), [0; 0]);
}
