//! An executor is dropped while its tasks hold what the others wait for: each is dropped once, whatever they wake,
//! send and lock meanwhile, and none is polled again.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use clockworker::schedulers::{Deadline, Las, Qlas, Serpt};
use clockworker::{Executor, JoinHandle, Queue, yield_now};
use futures::channel::oneshot;

use crate::support::{
    Count, OnDrop, Probe, complaint_of, output, panic_as_meant, poll_once, settle, untimed,
};

/// Spawns tasks in a ring, of which each holds the sender that the next one waits for: whichever is dropped first, its
/// drop wakes one that is not dropped yet.
fn ring(queues: &[Queue], length: usize, reversed: bool, drops: &Count) -> Vec<JoinHandle<()>> {
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..length)
        .map(|_| oneshot::channel::<()>())
        .map(|(send, receive)| (Some(send), Some(receive)))
        .unzip();
    let spawn = |i: usize| {
        let receive = receivers[i].take().expect("each is spawned once");
        let send = senders[(i + 1) % length].take().expect("each is held once");
        let guard = drops.guard();
        queues[i % queues.len()].spawn(async move {
            let _guard = guard;
            let send = OnDrop::new(move || {
                let _ = send.send(());
            });
            let _ = receive.await;
            drop(send);
            unreachable!("nobody sends but by being dropped, and then nobody is polled");
        })
    };
    let order: Vec<usize> = if reversed { (0..length).rev().collect() } else { (0..length).collect() };
    order.into_iter().map(spawn).collect()
}

/// A queue with each scheduler.
fn queues(ex: &Executor) -> Vec<Queue> {
    vec![
        ex.default_queue().clone(),
        ex.new_queue("deadline").scheduler(Deadline::new()).create().unwrap(),
        ex.new_queue("las").scheduler(Las::new()).create().unwrap(),
        ex.new_queue("qlas").scheduler(Qlas::new()).create().unwrap(),
        ex.new_queue("serpt").scheduler(Serpt::new()).create().unwrap(),
    ]
}

#[test]
fn tasks_that_wake_one_another_by_being_dropped_are_not_polled() {
    for length in [1, 2, 3, 100] {
        for reversed in [false, true] {
            for queues_in_use in [1, 5] {
                let drops = Count::default();
                let ex = untimed();
                let tasks = ring(&queues(&ex)[..queues_in_use], length, reversed, &drops);
                settle(&ex);
                assert_eq!(ex.stats().polls, length as u64);
                drop(ex);
                assert_eq!(drops.get(), length);
                assert!(tasks.into_iter().all(|task| output(task).unwrap_err().is_cancelled()));
            }
        }
    }
}

#[test]
fn tasks_wake_one_another_while_a_panic_drops_the_executor() {
    let drops = Count::default();
    let said = complaint_of(|| {
        let ex = untimed();
        let _tasks = ring(&queues(&ex), 10, false, &drops);
        ex.block_on(async {
            yield_now().await;
            panic_as_meant("boom")
        })
    });
    assert_eq!((said.as_str(), drops.get()), ("boom", 10));
}

#[test]
fn a_lock_taken_in_a_drop_may_be_wanted_by_the_task_it_wakes() {
    // If anything were dropped, polled or woken inside the other's drop with the lock held, this would hang or panic.
    let ex = untimed();
    let (lock, cell) = (Arc::new(Mutex::new(0)), Rc::new(RefCell::new(0)));
    let probes = [Probe::new(), Probe::new()];
    for (i, probe) in probes.iter().enumerate() {
        let (lock, cell, inner) = (Arc::clone(&lock), Rc::clone(&cell), probe.future());
        let other = Rc::clone(&probes[1 - i]);
        let guard = OnDrop::new(move || {
            let (mut held, mut borrowed) = (lock.lock().unwrap(), cell.borrow_mut());
            other.waker().wake();
            *held += 1;
            *borrowed += 1;
        });
        drop(ex.spawn(async move {
            let _guard = guard;
            inner.await
        }));
    }
    settle(&ex);
    drop(ex);
    assert_eq!((*lock.lock().unwrap(), *cell.borrow()), (2, 2));
}

/// As good as forgotten: a task of its own holds the only reference.
#[test]
fn an_executor_that_is_never_dropped_keeps_everything() {
    let slot: Rc<RefCell<Option<Rc<Executor>>>> = Rc::default();
    let (drops, kept) = (Count::default(), Probe::new());
    let ex = Rc::new(untimed());
    let (own, guard, inner) = (Rc::clone(&slot), drops.guard(), kept.future());
    let mut task = ex.spawn(async move {
        let _held = (own, guard);
        inner.await
    });
    settle(&ex);
    slot.replace(Some(ex));
    assert!(poll_once(&mut task).is_pending());
    kept.waker().wake();
    assert!(poll_once(&mut task).is_pending());
    assert_eq!((drops.get(), kept.polls.get()), (0, 1));
    // Found again, it goes, and takes the task with it.
    drop(slot.take());
    assert_eq!((drops.get(), kept.drops.get()), (1, 1));
    assert!(matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_cancelled()));
}
