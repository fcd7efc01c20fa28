//! Groups: open while a handle or a task holds them; what they have had is remembered by their key.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use clockworker::schedulers::{FairTurns, GroupId, Las, Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, Queue, yield_now};

use crate::support::{Signal, Trace, VirtualTime, poller, us};

struct World {
    sim: VirtualTime,
    trace: Trace,
    ex: Executor,
    queue: Queue,
}

fn world() -> World {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let queue = ex.new_queue("las").scheduler(Las::new().with_fair_turns(FairTurns::NEVER)).create().unwrap();
    World { sim, trace, ex, queue }
}

impl World {
    fn is_open(&self) -> bool {
        self.queue.find_group(1).is_some()
    }

    /// Whether the scheduler knows that group 1 has had service: a task in it then comes after one that has had nothing,
    /// although it was spawned before it.
    fn is_remembered(&self) -> bool {
        self.trace.take();
        self.queue.group(1).spawn(poller(&self.sim, &self.trace, "old", 1, us(2)));
        self.queue.spawn(poller(&self.sim, &self.trace, "new", 1, us(2)));
        self.sim.drain(&self.ex);
        match self.trace.take().as_str() {
            "new1 old1" => true,
            "old1 new1" => false,
            other => panic!("{other}"),
        }
    }
}

/// A tenant whose last task ends for a moment is not new again.
#[test]
fn what_a_group_has_had_is_remembered_by_its_key() {
    let w = world();
    assert!(!w.is_remembered());
    w.queue.group(1).spawn(poller(&w.sim, &w.trace, "a", 1, us(100)));
    w.sim.drain(&w.ex);
    assert!(!w.is_open() && w.is_remembered());
}

#[test]
fn a_group_has_a_key_and_a_queue() {
    let ex = Executor::new();
    let queue = ex.new_queue("a").create().unwrap();
    let group = queue.group(u64::MAX);
    assert_eq!((group.key(), group.queue().name().as_str()), (u64::MAX, "a"));
    assert_eq!(format!("{group:?}"), "Group { queue: \"a\", key: 18446744073709551615 }");
}

#[test]
fn the_same_key_is_the_same_group_while_a_handle_is_held() {
    let w = world();
    let held = w.queue.group(1);
    held.spawn(poller(&w.sim, &w.trace, "a", 1, us(100)));
    w.sim.drain(&w.ex);
    w.trace.take();
    assert!(w.is_open());
    let clone = held.clone();
    drop(held);
    assert!(w.is_open(), "a clone holds it too");
    drop(clone);
    assert!(!w.is_open());
}

#[test]
fn a_task_holds_its_group() {
    let w = world();
    let end = Signal::new();
    let task = w.queue.group(1).spawn({
        let (sim, end) = (w.sim.clone(), end.clone());
        async move {
            sim.work(us(100));
            end.wait().await;
        }
    });
    w.sim.drain(&w.ex);
    assert!(w.is_open());
    end.set();
    w.sim.run(&w.ex, task).unwrap();
    assert!(!w.is_open());
}

#[test]
fn an_aborted_task_holds_it_no_longer() {
    let w = world();
    let sim = w.sim.clone();
    let task = w.queue.group(1).spawn(async move {
        sim.work(us(100));
        std::future::pending::<()>().await;
    });
    w.sim.drain(&w.ex);
    assert!(w.is_open());
    task.abort();
    w.sim.drain(&w.ex);
    assert!(!w.is_open());
}

#[test]
fn a_child_holds_its_parents_group() {
    let w = world();
    let end = Signal::new();
    w.queue.group(1).spawn({
        let (sim, end) = (w.sim.clone(), end.clone());
        async move {
            sim.work(us(100));
            clockworker::spawn_local(async move { end.wait().await });
        }
    });
    w.sim.drain(&w.ex);
    assert!(w.is_open());
    end.set();
    w.sim.drain(&w.ex);
    assert!(!w.is_open());
}

#[test]
fn the_same_key_in_another_queue_is_another_group() {
    let w = world();
    let other = w.ex.new_queue("other").scheduler(Las::new()).create().unwrap();
    let held = other.group(1);
    held.spawn(poller(&w.sim, &w.trace, "x", 1, us(100)));
    w.sim.drain(&w.ex);
    w.trace.take();
    assert!(!w.is_open());
}

/// What a scheduler sees of groups: how many are open at most, and that each is closed once.
#[derive(Default)]
struct Watching {
    fifo: RunnableFifo,
    /// Groups that it was told of and that were not closed.
    open: HashSet<GroupId>,
    seen: Rc<Seen>,
}

#[derive(Default)]
struct Seen {
    most_open: Cell<usize>,
    closed: Cell<usize>,
    greatest_index: Cell<usize>,
    now_open: Cell<usize>,
}

impl Scheduler for Watching {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        self.open.insert(task.group);
        self.seen.most_open.set(self.seen.most_open.get().max(self.open.len()));
        self.seen.greatest_index.set(self.seen.greatest_index.get().max(task.group.index()));
        self.seen.now_open.set(self.open.len());
        self.fifo.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.fifo.pop()
    }

    fn group_closed(&mut self, group: GroupId) {
        self.seen.closed.set(self.seen.closed.get() + 1);
        self.open.remove(&group);
        self.seen.now_open.set(self.open.len());
    }
}

#[test]
fn a_hundred_thousand_groups() {
    const GROUPS: usize = 100_000;
    let ex = Executor::new();
    let seen = Rc::new(Seen::default());
    let watching = Watching { seen: Rc::clone(&seen), ..Watching::default() };
    let queue = ex.new_queue("groups").scheduler(watching).create().unwrap();
    let groups: Vec<_> =
        (0..GROUPS as u64).map(|key| queue.group(key.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let round = || {
        for group in &groups {
            group.spawn(yield_now());
            group.spawn(async {});
        }
        ex.block_on(async {
            while queue.stats().live > 0 {
                yield_now().await;
            }
        });
    };
    round();
    round();
    assert_eq!(queue.stats().completed, 4 * GROUPS as u64);
    assert_eq!((seen.most_open.get(), seen.now_open.get(), seen.closed.get()), (GROUPS, GROUPS, 0));
    drop(groups);
    assert_eq!((seen.now_open.get(), seen.closed.get()), (0, GROUPS));
    // Indices are reused, so that a scheduler's tables stay small: one at a time needs one.
    let before = seen.greatest_index.get();
    for key in 0..GROUPS as u64 {
        ex.block_on(queue.group(key).spawn(async {})).unwrap();
    }
    assert_eq!((seen.now_open.get(), seen.closed.get()), (0, 2 * GROUPS));
    assert_eq!((seen.greatest_index.get(), queue.stats().policy_fault), (before, None));
}

/// A task without a group is a group of its own, which closes when it ends.
#[test]
fn a_task_without_a_group_is_its_own() {
    let ex = Executor::new();
    let seen = Rc::new(Seen::default());
    let watching = Watching { seen: Rc::clone(&seen), ..Watching::default() };
    let queue = ex.new_queue("groups").scheduler(watching).create().unwrap();
    let tenant = queue.group(1);
    let tasks =
        [queue.spawn(async {}), tenant.spawn(async {}), queue.spawn(async {}), tenant.spawn(async {})];
    assert_eq!(seen.most_open.get(), 3);
    ex.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!((seen.now_open.get(), seen.closed.get()), (1, 2));
    drop(tenant);
    assert_eq!((seen.now_open.get(), seen.closed.get()), (0, 3));
}
