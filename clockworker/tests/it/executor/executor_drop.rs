//! An executor is dropped while its tasks hold what the others wait for: each is dropped once, whatever they wake,
//! send and lock meanwhile, and none is polled again.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, Serpt};
use clockworker::{Executor, JoinHandle, yield_now};
use futures::channel::{mpsc, oneshot};

use crate::support::{
    Count, OnDrop, Probe, complaint_of, hold, output, panic_as_meant, poll_once, settle, untimed,
};

#[test]
fn what_tasks_hold_is_dropped_with_it() {
    let (held, started) = (Rc::new(()), Rc::new(Cell::new(false)));
    let (inside, starts) = (Rc::clone(&held), Rc::clone(&started));
    let ex = untimed();
    drop(ex.spawn(async move {
        let _inside = inside;
        starts.set(true);
        pending::<()>().await;
    }));
    settle(&ex);
    assert!(started.get() && Rc::strong_count(&held) == 2);
    drop(ex);
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_task_that_was_woken_and_not_polled_is_dropped_and_not_polled() {
    for elsewhere in [false, true] {
        let (send, mut receive) = mpsc::unbounded::<()>();
        let (received, drops) = (Rc::new(Cell::new(0)), Count::default());
        let (counted, guard) = (Rc::clone(&received), drops.guard());
        let ex = untimed();
        drop(ex.spawn(async move {
            let _guard = guard;
            while futures::StreamExt::next(&mut receive).await.is_some() {
                counted.set(counted.get() + 1);
            }
        }));
        settle(&ex);
        let last_word = move || {
            send.unbounded_send(()).unwrap();
            drop(send);
        };
        if elsewhere {
            thread::spawn(last_word).join().unwrap()
        } else {
            last_word()
        }
        drop(ex);
        assert_eq!((received.get(), drops.get()), (0, 1));
    }
}

/// Spawns tasks in a ring, of which each holds the sender that the next one waits for: whichever is dropped first, its
/// drop wakes one that is not dropped yet.
fn ring(ex: &Executor, length: usize, reversed: bool, drops: &Count) -> Vec<JoinHandle<()>> {
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..length)
        .map(|_| oneshot::channel::<()>())
        .map(|(send, receive)| (Some(send), Some(receive)))
        .unzip();
    let mut spawn = |i: usize| {
        let receive = receivers[i].take().expect("each is spawned once");
        let send = senders[(i + 1) % length].take().expect("each is held once");
        let guard = drops.guard();
        ex.spawn(async move {
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
    order.into_iter().map(&mut spawn).collect()
}

#[test]
fn tasks_that_wake_one_another_by_being_dropped_are_dropped_once_and_not_polled() {
    for length in [1, 2, 3, 100] {
        for reversed in [false, true] {
            let drops = Count::default();
            let ex = untimed();
            let tasks = ring(&ex, length, reversed, &drops);
            settle(&ex);
            let polls = ex.stats().polls;
            assert_eq!(polls, length as u64);
            drop(ex);
            assert_eq!(drops.get(), length);
            for task in tasks {
                assert!(output(task).unwrap_err().is_cancelled(), "it was not polled");
            }
        }
    }
}

#[test]
fn the_same_across_queues_and_schedulers() {
    let drops = Count::default();
    let ex = untimed();
    let queues = [
        ex.new_queue("arrival").scheduler(ArrivalFifo::new()).create().unwrap(),
        ex.new_queue("las").scheduler(Las::new()).create().unwrap(),
        ex.new_queue("qlas").scheduler(Qlas::new()).create().unwrap(),
        ex.new_queue("serpt").scheduler(Serpt::new()).create().unwrap(),
    ];
    let probes: Vec<Rc<Probe>> = (0..30).map(|_| Probe::new()).collect();
    for (i, probe) in probes.iter().enumerate() {
        let (guard, inner) = (drops.guard(), probe.future());
        let others: Vec<Rc<Probe>> = [(i + 1) % 30, (i + 11) % 30].map(|j| Rc::clone(&probes[j])).into();
        let wakes = OnDrop::new(move || {
            others.iter().filter_map(|other| other.waker.borrow().clone()).for_each(Waker::wake)
        });
        drop(queues[i % queues.len()].spawn(async move {
            let _wakes = (guard, wakes);
            inner.await
        }));
    }
    settle(&ex);
    drop(ex);
    assert_eq!(drops.get(), 30);
    assert!(probes.iter().all(|probe| (probe.polls.get(), probe.drops.get()) == (1, 1)));
    // The wakers that are left refer to the cells, and those to nothing.
    probes.iter().for_each(|probe| drop(probe.waker.take()));
}

#[test]
fn tasks_wake_one_another_while_a_panic_drops_the_executor() {
    let drops = Count::default();
    let counted = drops.clone();
    let said = complaint_of::<()>(move || {
        let ex = untimed();
        let _tasks = ring(&ex, 2, false, &counted);
        ex.block_on(async {
            yield_now().await;
            panic_as_meant("boom")
        })
    });
    assert_eq!(said, "boom");
    assert_eq!(drops.get(), 2);
}

#[test]
fn a_lock_that_a_task_takes_in_its_drop_may_be_wanted_by_the_next_one_woken() {
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

#[test]
fn ten_thousand_tasks_are_woken_by_another_thread_while_it_is_dropped() {
    const TASKS: usize = 10_000;
    for _ in 0..5 {
        let ex = untimed();
        let drops = Count::default();
        let senders: Vec<oneshot::Sender<()>> = (0..TASKS)
            .map(|_| {
                let (send, receive) = oneshot::channel();
                let guard = drops.guard();
                drop(ex.spawn(async move {
                    let _guard = guard;
                    let _ = receive.await;
                }));
                send
            })
            .collect();
        settle(&ex);
        let start = Arc::new(Barrier::new(2));
        let begin = Arc::clone(&start);
        let other = thread::spawn(move || {
            begin.wait();
            for send in senders {
                // It fails where the receiver is gone already.
                let _ = send.send(());
            }
        });
        start.wait();
        drop(ex);
        assert_eq!(drops.get(), TASKS, "they are dropped before the executor is");
        other.join().unwrap();
    }
}

#[test]
fn an_output_outlives_it_until_its_handle_is_read_or_dropped() {
    for read in [false, true] {
        for before in [false, true] {
            let ex = ManuallyDrop::new(untimed());
            let drops = Count::default();
            let guard = drops.guard();
            let task = ex.spawn(async move { guard });
            settle(&ex);
            let mut ex = Some(ManuallyDrop::into_inner(ex));
            if before {
                drop(ex.take());
            }
            assert_eq!(drops.get(), 0);
            if read {
                drop(output(task).unwrap())
            } else {
                drop(task)
            }
            assert_eq!(drops.get(), 1);
            drop(ex);
            assert_eq!(drops.get(), 1);
        }
    }
}

#[test]
fn an_executor_that_is_never_dropped_keeps_everything_and_its_handles_wait() {
    // As good as forgotten: a task of its own holds the only reference.
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

#[test]
fn dropping_it_inside_one_of_its_own_tasks_is_put_off_until_the_run_is_over() {
    // The run borrows the executor, so the reference inside is never the last one.
    let ex = Rc::new(untimed());
    let inside = Rc::clone(&ex);
    let task = ex.spawn(async move {
        drop(inside);
        yield_now().await;
        1
    });
    assert_eq!(ex.block_on(task).unwrap(), 1);
    let ex = Rc::into_inner(ex).expect("the other one is gone");
    drop(ex);
}

#[test]
fn a_task_may_drop_another_executor_with_tasks_of_its_own() {
    let (outer, drops) = (untimed(), Count::default());
    let inner = untimed();
    for _ in 0..10 {
        drop(inner.spawn(hold(drops.guard())));
    }
    settle(&inner);
    let mut inner = Some(inner);
    let task = outer.spawn(poll_fn(move |_| {
        drop(inner.take());
        Poll::Ready(())
    }));
    settle(&outer);
    output(task).unwrap();
    assert_eq!(drops.get(), 10);
}
