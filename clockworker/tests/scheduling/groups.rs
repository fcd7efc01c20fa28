//! Groups: open while a handle or a task holds them; what they have had is remembered by their key.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::pending;
use std::rc::Rc;
use std::thread;

use clockworker::schedulers::{FairTurns, Las};
use clockworker::{Executor, Queue, group_key, spawn_local, yield_now};

use crate::support::*;

fn las() -> (Executor, Queue) {
    let ex = world();
    let las = Las::new().with_fair_turns(FairTurns::NEVER);
    let queue = ex.new_queue("las").scheduler(las).create().unwrap();
    (ex, queue)
}

fn is_open(queue: &Queue) -> bool {
    queue.find_group(1).is_some()
}

/// A tenant whose last task ends for a moment is not new again.
#[test]
fn what_a_group_has_had_is_remembered_by_its_key() {
    let (ex, queue) = las();
    // One that has had service comes after one that has had nothing, although it was spawned first.
    let order = || {
        queue.group(1).spawn(polls("old", 1, us(2)));
        queue.spawn(polls("new", 1, us(2)));
        drain(&ex)
    };
    assert_eq!(order(), "old1 new1");
    queue.group(1).spawn(polls("", 1, us(100)));
    drain(&ex);
    assert!(!is_open(&queue));
    assert_eq!(order(), "new1 old1");
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
    let (ex, queue) = las();
    let held = queue.group(1);
    held.spawn(polls("", 1, us(100)));
    drain(&ex);
    assert!(is_open(&queue));
    let clone = held.clone();
    drop(held);
    assert!(is_open(&queue), "a clone holds it too");
    drop(clone);
    assert!(!is_open(&queue));
}

#[test]
fn a_task_holds_its_group_until_it_ends_and_so_does_its_child() {
    for who in ["task", "aborted", "child"] {
        let ((ex, queue), end) = (las(), Signal::new());
        let waits = end.clone();
        let task = queue.group(1).spawn(async move {
            work(us(100));
            match who {
                "task" => waits.wait().await,
                "aborted" => hold(()).await,
                _ => _ = spawn_local(async move { waits.wait().await }),
            }
        });
        drain(&ex);
        assert!(is_open(&queue), "{who}");
        if who == "aborted" {
            task.abort()
        } else {
            end.set()
        }
        drain(&ex);
        assert!(!is_open(&queue), "{who}");
    }
}

#[test]
fn the_same_key_in_another_queue_is_another_group() {
    let (ex, queue) = las();
    let other = ex.new_queue("other").scheduler(Las::new()).create().unwrap();
    let held = other.group(1);
    held.spawn(polls("", 1, us(100)));
    drain(&ex);
    assert!(!is_open(&queue));
}

/// What a scheduler sees of groups.
#[derive(Default)]
struct Seen {
    /// Those that it was told of and that were not closed.
    open: RefCell<HashSet<usize>>,
    most_open: Cell<usize>,
    closed: Cell<usize>,
    greatest_index: Cell<usize>,
}

impl Seen {
    fn see(&self, call: Call<'_>) {
        match call {
            Call::Push(task, _) => {
                self.open.borrow_mut().insert(task.group.index());
                self.most_open.set(self.most_open.get().max(self.open.borrow().len()));
                self.greatest_index.set(self.greatest_index.get().max(task.group.index()));
            }
            Call::GroupClosed(group) => {
                self.open.borrow_mut().remove(&group.index());
                self.closed.set(self.closed.get() + 1);
            }
            _ => {}
        }
    }

    fn open_and_closed(&self) -> (usize, usize) {
        (self.open.borrow().len(), self.closed.get())
    }
}

fn watched() -> (Executor, Queue, Rc<Seen>) {
    let (ex, seen) = (Executor::new(), Rc::<Seen>::default());
    let sees = Rc::clone(&seen);
    let spy = Spy::<false>::fifo().listening(move |call| sees.see(call));
    let queue = ex.new_queue("groups").scheduler(spy).create().unwrap();
    (ex, queue, seen)
}

#[test]
fn a_hundred_thousand_groups() {
    const GROUPS: usize = 100_000;
    let (ex, queue, seen) = watched();
    let groups: Vec<_> =
        (0..GROUPS as u64).map(|key| queue.group(key.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    for _ in 0..2 {
        for group in &groups {
            group.spawn(yield_now());
            group.spawn(async {});
        }
        ex.block_on(ex.drained());
    }
    assert_eq!(queue.stats().completed, 4 * GROUPS as u64);
    assert_eq!((seen.most_open.get(), seen.open_and_closed()), (GROUPS, (GROUPS, 0)));
    drop(groups);
    assert_eq!(seen.open_and_closed(), (0, GROUPS));
    // Indices are reused, so that a scheduler's tables stay small: one at a time needs one.
    let before = seen.greatest_index.get();
    for key in 0..GROUPS as u64 {
        ex.block_on(queue.group(key).spawn(async {})).unwrap();
    }
    assert_eq!(seen.open_and_closed(), (0, 2 * GROUPS));
    assert_eq!((seen.greatest_index.get(), queue.stats().policy_fault), (before, None));
}

/// A task without a group is a group of its own, which closes when it ends.
#[test]
fn a_task_without_a_group_is_its_own() {
    let (ex, queue, seen) = watched();
    let tenant = queue.group(1);
    (0..2).for_each(|_| drop((queue.spawn(async {}), tenant.spawn(async {}))));
    ex.block_on(ex.drained());
    assert_eq!(seen.most_open.get(), 3);
    assert_eq!(seen.open_and_closed(), (1, 2));
    drop(tenant);
    assert_eq!(seen.open_and_closed(), (0, 3));
}

#[test]
fn equal_values_have_one_key_and_others_another() {
    assert_eq!(group_key("acme"), group_key(&"acme".to_owned()));
    assert_eq!(group_key(&("acme", 7)), group_key(&("acme", 7)));
    let keys: HashSet<u64> = (0..10_000).map(|tenant| group_key(&format!("tenant {tenant}"))).collect();
    assert_eq!(keys.len(), 10_000);
    let elsewhere = thread::spawn(|| group_key("acme")).join().unwrap();
    assert_eq!(elsewhere, group_key("acme"));
}

/// For as long as a task of it is unfinished, also without a handle.
#[test]
fn a_weight_stays_while_the_group_has_tasks() {
    let ex = world();
    let queue = ex.default_queue();
    let task = queue.new_group(7).weight(3).open().unwrap().spawn(pending::<()>());
    drain(&ex);
    assert_eq!(queue.group(7).weight(), 3);
    task.abort();
    drain(&ex);
    assert_eq!(queue.group(7).weight(), 1, "it has closed");
}
