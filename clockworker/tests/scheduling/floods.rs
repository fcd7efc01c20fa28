//! Turns are bounded in time, whatever arrives at once: wakes, spawns, aborts and slow drops are admitted in parts.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use clockworker::schedulers::{Ready, Scheduler, Task, TaskId};
use clockworker::{JoinHandle, yield_now};

use super::accounts::{SendOnDrop, on_manual_clock, turn};
use crate::support::{OnDrop, Signal, hold, us};

#[test]
fn a_thousand_drops_of_a_millisecond_take_a_turn_each() {
    let (clock, ex) = on_manual_clock();
    let tasks: Vec<_> = (0..1_000)
        .map(|_| {
            let clock = clock.clone();
            ex.spawn(hold(OnDrop::new(move || clock.advance(us(1_000)))))
        })
        .collect();
    turn(&ex, &clock);
    tasks.iter().for_each(|task| task.abort());
    let mut turns = 0;
    while ex.stats().live > 0 {
        assert!(turn(&ex, &clock) <= us(200 + 1_000));
        turns += 1;
    }
    assert_eq!(turns, 1_000);
    assert!(tasks.iter().all(|task| task.is_finished()));
}

/// What other threads spawn on a queue that is closed meanwhile is refused on the executor's thread, and dropped there.
#[test]
fn a_thousand_refusals_with_drops_of_a_millisecond_take_a_turn_each() {
    let (clock, ex) = on_manual_clock();
    let queue = ex.new_queue("closing").create().unwrap();
    let handle = ex.handle();
    let slow = clock.clone();
    std::thread::spawn(move || {
        for _ in 0..1_000 {
            let clock = slow.clone();
            let slow_drop = SendOnDrop(Box::new(move || clock.advance(us(1_000))));
            drop(handle.spawn_on("closing", move || async move { drop(slow_drop) }));
        }
    })
    .join()
    .unwrap();
    queue.close();
    let before = ex.stats();
    let mut turns = 0;
    while ex.stats().cancelled < 1_000 {
        assert!(turn(&ex, &clock) <= us(200 + 1_000));
        turns += 1;
    }
    assert!(turns >= 1_000);
    let own = ex.stats().own - before.own;
    assert_eq!(own, us(1_000_000), "the time is the executor's own");
}

#[test]
fn a_flood_of_local_wakes_is_admitted_in_parts_and_in_order() {
    let (clock, ex) = on_manual_clock();
    let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
    let order: Rc<RefCell<Vec<usize>>> = Rc::default();
    for index in 0..10_000 {
        let (wakers, order) = (Rc::clone(&wakers), Rc::clone(&order));
        let mut polled = false;
        ex.spawn(poll_fn(move |cx| {
            if std::mem::replace(&mut polled, true) {
                order.borrow_mut().push(index);
                return Poll::Ready(());
            }
            wakers.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        }));
    }
    (0..10).for_each(|_| _ = turn(&ex, &clock));
    wakers.take().into_iter().for_each(Waker::wake);
    // The clock stands still, so that the turn ends when all is done, or after as many polls as may be.
    (0..10).for_each(|_| _ = turn(&ex, &clock));
    assert_eq!(*order.borrow(), (0..10_000).collect::<Vec<_>>());
}

/// A task aborted in a flood is not polled, although its abort is still to be admitted.
#[test]
fn an_aborted_task_is_never_polled_also_in_a_flood() {
    let (clock, ex) = on_manual_clock();
    let polls = Rc::new(Cell::new(0));
    let tasks: Vec<_> = (0..10_000)
        .map(|_| {
            let polls = Rc::clone(&polls);
            ex.spawn(async move { polls.set(polls.get() + 1) })
        })
        .collect();
    tasks.iter().for_each(|task| task.abort());
    while ex.stats().live > 0 {
        turn(&ex, &clock);
    }
    assert_eq!(polls.get(), 0);
}

/// Two tasks that wake each other for ever. In a slice of theirs more comes through the inbox than is admitted at once.
#[test]
fn wakes_between_a_queues_own_tasks_do_not_hold_up_what_comes_through_the_inbox() {
    let (clock, ex) = on_manual_clock();
    let (handle, done) = (ex.handle(), Arc::new(AtomicUsize::new(0)));
    let send = move |done: &Arc<AtomicUsize>| {
        for _ in 0..1_000 {
            let done = Arc::clone(done);
            drop(handle.spawn(move || async move { _ = done.fetch_add(1, Ordering::Relaxed) }));
        }
    };
    let signals = [Signal::new(), Signal::new()];
    for (own, other) in [(0, 1), (1, 0)] {
        let (own, other, is_first) = (signals[own].clone(), signals[other].clone(), own == 0);
        let (send, done) = (send.clone(), Arc::clone(&done));
        ex.spawn(async move {
            for hop in 0_u64.. {
                own.wait().await;
                other.set();
                if is_first && hop == 100 {
                    send(&done);
                }
            }
        });
    }
    signals[0].set();
    // It has as many polls as may be, 8,192.
    turn(&ex, &clock);
    assert_eq!(done.load(Ordering::Relaxed), 1_000);
}

/// A spawn admits what was woken here before it. What came through the inbox in the same slice, and was not admitted at once,
/// is not forgotten over that, nor does it wait for more than the next poll: another queue may be served first.
#[test]
fn spawns_do_not_hold_up_the_rest_of_what_comes_through_the_inbox() {
    let (clock, ex) = on_manual_clock();
    ex.new_queue("urgent").share(100).request(us(1)).create().unwrap();
    let (handle, done) = (ex.handle(), Arc::new(AtomicUsize::new(0)));
    let (sent, before_urgent) = (Arc::clone(&done), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&before_urgent);
    let send = move || {
        for _ in 0..1_000 {
            let done = Arc::clone(&sent);
            drop(handle.spawn(move || async move {
                drop(clockworker::spawn_local(async {}));
                done.fetch_add(1, Ordering::Relaxed);
            }));
        }
        let urgent = move || async move { seen.store(sent.load(Ordering::Relaxed), Ordering::Relaxed) };
        drop(handle.spawn_on("urgent", urgent));
    };
    let now = clock.clone();
    ex.spawn(async move {
        // More than half of the turn: no more than a batch is admitted in each gap.
        now.advance(us(11));
        std::thread::spawn(send).join().unwrap();
    });
    turn(&ex, &clock);
    assert_eq!(done.load(Ordering::Relaxed), 1_000);
    let polls = before_urgent.load(Ordering::Relaxed);
    assert!(polls <= 1_000 / 64, "{polls}, where 64 tasks are admitted after each");
}

#[test]
fn an_aborted_task_is_not_polled_after_a_poll_that_woke_another_task_too() {
    let (clock, ex) = on_manual_clock();
    let (signal, polled) = (Signal::new(), Rc::new(Cell::new(false)));
    let woken = signal.clone();
    ex.spawn(async move { woken.wait().await });
    turn(&ex, &clock);
    let aborted: Rc<RefCell<Option<JoinHandle<()>>>> = Rc::default();
    let victim = Rc::clone(&aborted);
    ex.spawn(async move {
        signal.set();
        victim.take().expect("it was spawned").abort();
    });
    let polls = Rc::clone(&polled);
    aborted.replace(Some(ex.spawn(async move { polls.set(true) })));
    turn(&ex, &clock);
    assert!(!polled.get());
    assert_eq!((ex.stats().live, ex.stats().cancelled), (0, 1));
}

/// Last in, first out: a task at the bottom is never given out while there are others.
#[derive(Default)]
struct Lifo(Vec<TaskId>);

impl Scheduler for Lifo {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, _why: Ready) {
        self.0.push(task.id);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }

    fn patience(&self, _tasks: usize) -> Option<u64> {
        None
    }
}

/// A scheduler that counts what it holds.
struct Counting(Lifo, Rc<Cell<usize>>);

impl Scheduler for Counting {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        self.0.push(task, why);
        self.1.set(self.1.get().max(self.0.0.len()));
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop()
    }

    fn patience(&self, tasks: usize) -> Option<u64> {
        self.0.patience(tasks)
    }
}

#[test]
fn records_of_aborted_tasks_do_not_pile_up_under_a_scheduler_that_never_gives_them_out() {
    let (clock, ex) = on_manual_clock();
    let most = Rc::default();
    let queue = ex.new_queue("lifo").scheduler(Counting(Lifo::default(), Rc::clone(&most))).create().unwrap();
    let spawning = queue.clone();
    queue.spawn(async move {
        for _ in 0..100_000 {
            spawning.spawn(async {}).abort();
            yield_now().await;
        }
    });
    while queue.stats().live > 0 {
        turn(&ex, &clock);
    }
    assert_eq!(queue.stats().policy_fault, None);
    assert!(most.get() <= 8_192, "{}", most.get());
}
