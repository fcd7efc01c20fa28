//! A future that is dropped after the poll of another task, between that and the next, does something to that task.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;

use clockworker::{AbortHandle, spawn_local, yield_now};

use crate::support::{OnDrop, Probe, Slot, assert_finished, hold, output, probed, settle, untimed, yields};

#[test]
fn a_task_dropped_while_another_is_polled_may_wake_and_abort_that_one() {
    for aborts in [false, true] {
        let ex = untimed();
        let (probe, own) = (Probe::new(), Slot::<AbortHandle>::new());
        let (abort, woken) = (own.clone(), Rc::clone(&probe));
        let victim = ex.spawn(hold(OnDrop::new(move || {
            woken.waker().wake();
            // Reaches the scheduler before the poll has been settled.
            drop(spawn_local(async {}));
            if aborts {
                abort.take().abort();
            }
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
        own.put(task.abort_handle());
        settle(&ex);
        assert_eq!((probe.polls.get(), probe.drops.get()), if aborts { (1, 1) } else { (2, 0) });
        assert_eq!((ex.stats().live, ex.stats().ready), (usize::from(!aborts), 0));
        if aborts {
            assert!(output(task).unwrap_err().is_cancelled());
            assert_finished(&ex.stats(), 1, 2, 0);
        }
        assert_eq!(ex.stats().queues[0].policy_fault, None);
    }
}

#[test]
fn a_task_dropped_while_another_yields_may_wake_and_spawn_a_third() {
    for self_wake in [false, true] {
        let ex = untimed();
        let ((third, _), order) = (probed(&ex), Rc::new(RefCell::new(Vec::new())));
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
fn what_a_drop_wakes_does_not_keep_a_yielding_task_from_going_on() {
    let ex = untimed();
    let (third, _) = probed(&ex);
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
