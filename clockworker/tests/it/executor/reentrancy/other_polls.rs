//! A future that is dropped after the poll of another task, between that and the next, does something to that task.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::{AbortHandle, spawn_local, yield_now};

use crate::support::{OnDrop, Probe, assert_finished, hold, output, settle, untimed, yields};

#[test]
fn a_task_that_is_dropped_while_another_is_polled_may_wake_that_one() {
    let ex = untimed();
    let polls = Rc::new(Cell::new(0));
    let waker: Rc<RefCell<Option<Waker>>> = Rc::default();
    let wakes = Rc::clone(&waker);
    let victim = ex.spawn(hold(OnDrop::new(move || wakes.take().expect("it was polled").wake())));
    settle(&ex);
    let (counted, slot) = (Rc::clone(&polls), Rc::clone(&waker));
    ex.spawn(poll_fn(move |cx| {
        counted.set(counted.get() + 1);
        if counted.get() == 1 {
            slot.replace(Some(cx.waker().clone()));
            victim.abort();
        }
        Poll::<()>::Pending
    }));
    settle(&ex);
    assert_eq!(polls.get(), 2);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
    assert_eq!((ex.stats().live, ex.stats().ready), (1, 0));
}

#[test]
fn a_task_that_is_dropped_while_another_is_polled_may_wake_and_abort_that_one() {
    let ex = untimed();
    let probe = Probe::new();
    let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
    let (aborts, woken) = (Rc::clone(&own), Rc::clone(&probe));
    let victim = ex.spawn(hold(OnDrop::new(move || {
        woken.waker().wake();
        // Reaches the scheduler before the poll has been settled.
        drop(spawn_local(async {}));
        aborts.take().expect("set below").abort();
    })));
    settle(&ex);
    let mut inner = probe.future();
    let mut first = true;
    let task = ex.spawn(poll_fn(move |cx| {
        if std::mem::take(&mut first) {
            victim.abort();
        }
        Pin::new(&mut inner).poll(cx)
    }));
    own.replace(Some(task.abort_handle()));
    settle(&ex);
    assert_eq!(probe.drops.get(), 1);
    assert!(output(task).unwrap_err().is_cancelled());
    assert_finished(&ex.stats(), 1, 2, 0);
    assert_eq!(ex.stats().queues[0].policy_fault, None);
}

#[test]
fn a_task_that_is_dropped_while_another_yields_may_wake_and_spawn_a_third() {
    for self_wake in [false, true] {
        let ex = untimed();
        let (third, order) = (Probe::new(), Rc::new(RefCell::new(Vec::new())));
        ex.spawn(third.future());
        let (woken, spawned) = (Rc::clone(&third), Rc::clone(&order));
        let victim = ex.spawn(hold(OnDrop::new(move || {
            woken.finish();
            drop(spawn_local(async move { spawned.borrow_mut().push("spawned") }));
            woken.waker().wake();
        })));
        settle(&ex);
        let own = Rc::clone(&order);
        let task = ex.spawn(async move {
            victim.abort();
            if self_wake {
                yield_now().await; // which counts as a wake
                yield_now().await;
            }
            own.borrow_mut().push("yielded");
        });
        settle(&ex);
        output(task).unwrap();
        assert_eq!(third.polls.get(), 2);
        // The drop comes after the poll. A new task goes before one that yielded.
        let expected = if self_wake { ["spawned", "yielded"] } else { ["yielded", "spawned"] };
        assert_eq!(*order.borrow(), expected);
        assert_eq!(ex.stats().queues[0].policy_fault, None);
        assert_finished(&ex.stats(), 3, 1, 0);
    }
}

#[test]
fn what_the_drop_of_an_aborted_future_wakes_does_not_keep_a_yielding_task_from_going_on() {
    let ex = untimed();
    let third = Probe::new();
    ex.spawn(third.future());
    let woken = Rc::clone(&third);
    let victim = ex.spawn(hold(OnDrop::new(move || woken.waker().wake())));
    settle(&ex);
    let task = ex.spawn(async move {
        victim.abort();
        yields(3).await;
    });
    settle(&ex);
    output(task).unwrap();
    assert_eq!((third.polls.get(), ex.stats().queues[0].policy_fault), (2, None));
}
