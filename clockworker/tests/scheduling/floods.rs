//! Turns are bounded in time, whatever arrives at once: wakes, spawns, aborts and slow drops are admitted in parts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clockworker::{Executor, Handle, JoinHandle, spawn_local, yield_now};

use crate::support::*;

/// The turns in which a thousand tasks are cancelled, none of which is longer than the host's budget and a drop.
fn short_turns(ex: &Executor) -> u32 {
    let mut turns = 0;
    while ex.stats().cancelled < 1_000 {
        assert!(turn(ex) <= us(200 + 1_000));
        turns += 1;
    }
    turns
}

#[test]
fn a_thousand_drops_of_a_millisecond_take_a_turn_each() {
    let ex = hosted();
    let tasks: Vec<_> = (0..1_000).map(|_| ex.spawn(hold(OnDrop::new(|| work(us(1_000)))))).collect();
    turn(&ex);
    tasks.iter().for_each(|task| task.abort());
    assert_eq!(short_turns(&ex), 1_000);
    assert!(tasks.iter().all(|task| task.is_finished()));
}

/// What other threads spawn on a queue that is closed meanwhile is refused on the executor's thread, and dropped there.
#[test]
fn a_thousand_refusals_with_drops_of_a_millisecond_take_a_turn_each() {
    let ex = hosted();
    let queue = ex.new_queue("closing").create().unwrap();
    let handle = ex.handle();
    let send = move || {
        for _ in 0..1_000 {
            let slow_drop = OnDrop::new(|| work(us(1_000)));
            drop(handle.spawn_on("closing", move || async move { drop(slow_drop) }));
        }
    };
    thread::spawn(send).join().unwrap();
    queue.close();
    let before = ex.stats();
    assert!(short_turns(&ex) >= 1_000);
    assert_eq!(ex.stats().own - before.own, us(1_000_000), "the time is the executor's own");
}

#[test]
fn a_flood_of_local_wakes_is_admitted_in_parts_and_in_order() {
    let ex = hosted();
    let order: Rc<RefCell<Vec<usize>>> = Rc::default();
    let signals: Vec<_> = (0..10_000).map(|_| Signal::new()).collect();
    for (index, signal) in signals.iter().cloned().enumerate() {
        let order = Rc::clone(&order);
        ex.spawn(async move {
            signal.wait().await;
            order.borrow_mut().push(index);
        });
    }
    (0..10).for_each(|_| _ = turn(&ex));
    signals.iter().for_each(Signal::set);
    // The clock stands still, so that the turn ends when all is done, or after as many polls as may be.
    (0..10).for_each(|_| _ = turn(&ex));
    assert_eq!(*order.borrow(), (0..10_000).collect::<Vec<_>>());
}

/// A task aborted in a flood is not polled, although its abort is still to be admitted.
#[test]
fn an_aborted_task_is_never_polled_also_in_a_flood() {
    let ex = hosted();
    let polls = Rc::new(Cell::new(0));
    let spawn = |_| {
        let polls = Rc::clone(&polls);
        ex.spawn(async move { polls.set(polls.get() + 1) })
    };
    let tasks: Vec<_> = (0..10_000).map(spawn).collect();
    tasks.iter().for_each(|task| task.abort());
    while ex.stats().live > 0 {
        turn(&ex);
    }
    assert_eq!(polls.get(), 0);
}

/// Spawns a thousand tasks by a handle, which do something and count themselves.
fn send(handle: &Handle, does: fn(), done: &Arc<AtomicUsize>) {
    for _ in 0..1_000 {
        let done = Arc::clone(done);
        drop(handle.spawn(move || async move {
            does();
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
}

/// Two tasks that wake each other for ever. In a slice of theirs more comes through the inbox than is admitted at once.
#[test]
fn wakes_between_a_queues_own_tasks_do_not_hold_up_the_inbox() {
    let ex = hosted();
    let (handle, done) = (ex.handle(), Arc::new(AtomicUsize::new(0)));
    let signals = [Signal::new(), Signal::new()];
    for (own, other) in [(0, 1), (1, 0)] {
        let (own, other, is_first) = (signals[own].clone(), signals[other].clone(), own == 0);
        let (handle, done) = (handle.clone(), Arc::clone(&done));
        ex.spawn(async move {
            for hop in 0_u64.. {
                own.wait().await;
                other.set();
                if is_first && hop == 100 {
                    send(&handle, || {}, &done);
                }
            }
        });
    }
    signals[0].set();
    // It has as many polls as may be, 8,192.
    turn(&ex);
    assert_eq!(done.load(Ordering::Relaxed), 1_000);
}

/// What came through the inbox, and was too much to be received between two polls, waits for no more than the next one: another queue may be
/// served first.
#[test]
fn spawns_do_not_hold_up_the_rest_of_what_comes_through_the_inbox() {
    let ex = hosted();
    ex.new_queue("urgent").share(100).request(us(1)).create().unwrap();
    let (handle, done) = (ex.handle(), Arc::new(AtomicUsize::new(0)));
    let before_urgent = Arc::new(AtomicUsize::new(0));
    let (sent, seen) = (Arc::clone(&done), Arc::clone(&before_urgent));
    let send = move || {
        send(&handle, || drop(spawn_local(async {})), &sent);
        let urgent = move || async move { seen.store(sent.load(Ordering::Relaxed), Ordering::Relaxed) };
        drop(handle.spawn_on("urgent", urgent));
    };
    ex.spawn(async move {
        // More than half of the turn: no more than a portion is received in each gap.
        work(us(6));
        thread::spawn(send).join().unwrap();
    });
    turn(&ex);
    assert_eq!(done.load(Ordering::Relaxed), 1_000);
    let polls = before_urgent.load(Ordering::Relaxed);
    assert!(polls <= 1_000 / 64, "{polls}, where 128 links are turned round or taken after each");
}

#[test]
fn an_aborted_task_is_not_polled_after_a_poll_that_woke_another_task_too() {
    let ex = hosted();
    let (signal, polled) = (Signal::new(), Rc::new(Cell::new(false)));
    let woken = signal.clone();
    ex.spawn(async move { woken.wait().await });
    turn(&ex);
    let victim: Rc<RefCell<Option<JoinHandle<()>>>> = Rc::default();
    let aborted = Rc::clone(&victim);
    ex.spawn(async move {
        signal.set();
        aborted.take().expect("it was spawned").abort();
    });
    let polls = Rc::clone(&polled);
    victim.replace(Some(ex.spawn(async move { polls.set(true) })));
    turn(&ex);
    assert!(!polled.get());
    assert_eq!((ex.stats().live, ex.stats().cancelled), (0, 1));
}

/// Last in, first out: a task at the bottom is never given out while there are others.
#[test]
fn records_of_aborted_tasks_do_not_pile_up_where_they_are_never_given_out() {
    let ex = hosted();
    let (held, most) = (Cell::new(0_usize), Rc::new(Cell::new(0)));
    let seen = Rc::clone(&most);
    let lifo = Spy::<false>::lifo().listening(move |call| match call {
        Call::Push(..) => {
            held.set(held.get() + 1);
            seen.set(seen.get().max(held.get()));
        }
        Call::Pop(Some(_)) => held.set(held.get() - 1),
        _ => {}
    });
    let queue = ex.new_queue("lifo").scheduler(lifo).create().unwrap();
    let spawning = queue.clone();
    queue.spawn(async move {
        for _ in 0..100_000 {
            spawning.spawn(async {}).abort();
            yield_now().await;
        }
    });
    while queue.stats().live > 0 {
        turn(&ex);
    }
    assert_eq!(queue.stats().policy_fault, None);
    assert!(most.get() <= 8_192, "{}", most.get());
}
