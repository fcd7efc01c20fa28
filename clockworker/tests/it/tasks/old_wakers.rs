//! Wakers that outlive what they would wake: a poll, a task, an executor. They do nothing then, and are counted right.

#![allow(clippy::waker_clone_wake, reason = "a wake that consumes a clone is what is tested")]

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use crate::support::{DropLog, LoggedDrop, Probe, Random, elsewhere, output, parked, settle, tick, untimed};

#[test]
fn wakers_of_finished_tasks_do_nothing() {
    let ex = untimed();
    let (probe, task) = parked(&ex);
    let waker = probe.waker();
    probe.finish();
    settle(&ex);
    assert_eq!(output(task).unwrap(), 2);
    waker.wake_by_ref();
    elsewhere(|| waker.wake_by_ref());
    settle(&ex);
    waker.wake();
    settle(&ex);
    assert_eq!((probe.polls.get(), probe.drops.get()), (2, 1));
    assert_eq!(ex.stats().polls, 2);
}

#[test]
fn an_old_waker_neither_polls_nor_charges_the_new_task_of_its_slot() {
    let ex = untimed();
    let other = ex.new_queue("other").create().unwrap();
    let (old, first) = parked(&ex);
    let waker = old.waker();
    old.finish();
    settle(&ex);
    output(first).unwrap();

    let (new, _) = parked(&ex);
    let elsewhere_new = Probe::new();
    other.spawn(elsewhere_new.future());
    settle(&ex);
    let before = ex.stats();
    for _ in 0..3 {
        waker.wake_by_ref();
        elsewhere(|| waker.wake_by_ref());
        settle(&ex);
    }
    assert_eq!((new.polls.get(), elsewhere_new.polls.get()), (1, 1));
    let after = ex.stats();
    assert_eq!((after.polls, after.busy, after.slices), (before.polls, before.busy, before.slices));
    assert_eq!(after.queues[0].policy_fault, None);
}

#[test]
fn an_old_waker_used_while_the_slots_new_task_runs_does_not_touch_it() {
    let ex = untimed();
    let (old, _) = parked(&ex);
    let waker = old.waker();
    old.finish();
    settle(&ex);
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    ex.spawn(poll_fn(move |_| {
        counted.set(counted.get() + 1);
        waker.wake_by_ref();
        elsewhere(|| waker.wake_by_ref());
        Poll::<()>::Pending
    }));
    settle(&ex);
    assert_eq!(polls.get(), 1);
}

#[test]
fn wakers_are_used_on_eight_threads_while_the_executor_is_dropped() {
    const THREADS: usize = 8;
    const TASKS: usize = 64;
    for _ in 0..20 {
        let log = DropLog::new();
        let ex = untimed();
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for _ in 0..TASKS {
            let (wakers, guard) = (Arc::clone(&wakers), log.local());
            ex.spawn(poll_fn(move |cx| {
                let _guard = &guard;
                let mut wakers = wakers.lock().unwrap();
                if wakers.len() < TASKS {
                    wakers.push(cx.waker().clone());
                }
                Poll::<()>::Pending
            }));
        }
        settle(&ex);
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!(wakers.len(), TASKS);
        let start = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for shift in 0..THREADS {
                let (start, mut own) = (&start, wakers.clone());
                scope.spawn(move || {
                    own.rotate_left(shift * TASKS / THREADS);
                    start.wait();
                    for waker in own {
                        waker.wake_by_ref();
                        waker.wake();
                    }
                });
            }
            start.wait();
            tick(&ex);
            drop(ex);
        });
        drop(wakers);
        log.assert_here(TASKS);
    }
}

/// A future that is pending until told, and gives its waker away at each poll.
struct GivesWakers {
    wakers: Arc<Mutex<Vec<Waker>>>,
    done: Arc<AtomicBool>,
    _log: (LoggedDrop, Rc<()>),
}

impl Future for GivesWakers {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wakers.lock().unwrap().push(cx.waker().clone());
        if self.done.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn any_sequence_of_waker_operations_leaves_the_count_right() {
    // What a wrong count does (use after free, double free, leak), AddressSanitizer and the drop log see.
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let (log, ex) = (DropLog::new(), untimed());
        let (wakers, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let future = GivesWakers { wakers: Arc::clone(&wakers), done: Arc::clone(&done), _log: log.local() };
        let handle = ex.spawn(future);
        settle(&ex);
        for _ in 0..100 {
            let mut all = wakers.lock().unwrap();
            if all.is_empty() {
                break;
            }
            let at = random.below(all.len());
            match random.below(7) {
                0 => {
                    let clone = all[at].clone();
                    all.push(clone);
                }
                1 => all[at].wake_by_ref(),
                2 => elsewhere(|| all[at].wake_by_ref()),
                3 => all.swap_remove(at).wake(),
                4 => {
                    let waker = all.swap_remove(at);
                    elsewhere(|| waker.wake());
                }
                5 => {
                    let waker = all.swap_remove(at);
                    elsewhere(|| drop(waker));
                }
                _ => {
                    drop(all);
                    done.store(random.below(20) == 0, Ordering::SeqCst);
                    settle(&ex);
                }
            }
        }
        drop(handle);
        drop(ex);
        log.assert_here(1);
        wakers.lock().unwrap().drain(..).for_each(Waker::wake);
    }
}
