//! Tasks that a scheduler has lost while it has others to give out: found after so many polls, and never before. It may starve tasks, but
//! not lose them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use clockworker::PolicyFault::{self, Lost};
use clockworker::schedulers::{ClockUse, FairTurns, Las, Ready, Scheduler, Task, TaskId};
use clockworker::{Executor, JoinHandle, Queue, QueueStats, spawn_local, yield_now};

use crate::support::*;

/// So many polls a ready task may be passed over in a queue that never had more than four tasks.
const PATIENCE: u64 = 65_536 + 4 * 2_048;

/// FIFO but for one task, the next that is pushed once it is armed: that it never gives out.
struct Loses {
    ready: VecDeque<TaskId>,
    /// The number of the spawn that it loses.
    armed: Rc<Cell<Option<u64>>>,
    /// New tasks pushed so far.
    pushed: u64,
    lost: Option<TaskId>,
}

impl Scheduler for Loses {
    const CLOCK: ClockUse = ClockUse::Unused;

    fn push(&mut self, task: Task, why: Ready) {
        let is_armed = why == Ready::Spawned && self.armed.get() == Some(self.pushed);
        self.pushed += u64::from(why == Ready::Spawned);
        if is_armed || self.lost == Some(task.id) {
            self.lost = Some(task.id);
        } else {
            self.ready.push_back(task.id);
        }
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
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

    /// Its scheduler loses a task, and there is one that yields for ever.
    fn losing(polls: u32) -> Self {
        let armed = Rc::default();
        let loses = Loses { ready: VecDeque::new(), armed: Rc::clone(&armed), pushed: 0, lost: None };
        let watched = Self { armed, ..Self::new(polls, loses) };
        watched.yields();
        watched
    }

    /// Spawns a task that the scheduler will lose.
    fn lost<T: 'static>(&self, task: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        self.armed.set(Some(self.queue.stats().spawned));
        self.queue.spawn(task)
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
    let w = Watched::losing(16);
    let probe = Probe::new();
    let lost = w.lost(probe.future());
    // The first look is after the first slice.
    let found = 16 + PATIENCE;
    w.assert_lawful(found - 16);
    w.assert_fault_at(Lost, found);
    assert_eq!((w.queue.stats().ready, probe.polls.get()), (2, 0));
    tick(&w.ex);
    assert_eq!(probe.polls.get(), 1, "FIFO has it");
    probe.finish();
    assert_eq!(w.output(lost), 2);
    assert_eq!(w.ex.stats().queues[0].policy_fault, None, "the other queue");
    assert_eq!(w.run(2 * found).policy_fault, Some(Lost));
}

#[test]
fn a_task_lost_later_on_is_found_in_twice_the_patience() {
    let w = Watched::losing(16);
    // It looks after poll 16, and then every so many.
    w.assert_lawful(16 + PATIENCE + 16);
    let lost = w.lost(async {});
    w.assert_fault_at(Lost, 16 + 3 * PATIENCE);
    w.output(lost);
}

/// The task of the highest slot first.
fn strict() -> Spy<false> {
    Spy::choosing(|ready| (0..ready.len()).max_by_key(|&at| ready[at].slot()).unwrap())
}

#[test]
fn a_strict_scheduler_may_starve_a_task() {
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
fn with_more_tasks_it_takes_longer() {
    let w = Watched::losing(16);
    let lost = w.lost(async {});
    tick(&w.ex);
    // Room for 128 tasks was made by then.
    (0..100).for_each(|_| drop(w.queue.spawn(pending::<()>())));
    w.assert_fault_at(Lost, 16 + 65_536 + 128 * 2_048);
    w.output(lost);
}

#[test]
fn a_lost_task_that_is_aborted_is_not_looked_for() {
    let w = Watched::losing(10);
    let lost = w.lost(async {});
    w.assert_lawful(500);
    lost.abort();
    // Ten polls a turn, but for the turn in which the drop takes the place of one.
    let stats = w.run(200_000);
    assert_eq!((stats.policy_fault, stats.polls), (None, 200_009));
    assert!(output(lost).unwrap_err().is_cancelled());
}

#[test]
fn a_random_order_is_lawful() {
    fastrand::seed(1);
    let w = Watched::new(1_000, Spy::<false>::choosing(|ready| fastrand::usize(..ready.len())));
    (0..32).for_each(|_| drop(w.yields()));
    // 65,536 + 32 · 2,048 polls from look to look.
    w.assert_lawful(600_000);
}

#[test]
fn a_queue_that_runs_empty_is_not_looked_at() {
    let popped = Rc::new(Cell::new(0));
    let pops = Rc::clone(&popped);
    let spy = Spy::<false>::fifo().listening(move |call| {
        popped.set(popped.get() + u32::from(matches!(call, Call::Pop(Some(_)))));
    });
    let w = Watched::new(1_000, spy);
    for _ in 0..80_000 {
        drop(w.queue.spawn(async {}));
        settle(&w.ex);
    }
    assert_eq!(pops.get(), 80_000);
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
