//! How often tasks were woken, and from where.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;

use clockworker::{Executor, Queue, yield_now};
use clockworker_testing::driving::settle;

type Held = Rc<RefCell<Option<Waker>>>;

/// A task that gives its waker away and waits, `times` times.
fn waiting(queue: &Queue, times: u32) -> Held {
    let held: Held = Rc::default();
    let (given, mut left) = (Rc::clone(&held), times);
    queue.spawn(poll_fn(move |cx| {
        given.replace(Some(cx.waker().clone()));
        left = left.saturating_sub(1);
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }));
    held
}

fn wake(held: &Held) {
    let waker = held.borrow().clone();
    waker.unwrap().wake();
}

fn wake_elsewhere(held: &Held) {
    let waker = held.borrow().clone();
    thread::spawn(move || waker.unwrap().wake()).join().unwrap();
}

/// Local and remote wakes.
fn wakes(ex: &Executor, queue: &str) -> (u64, u64) {
    let stats = ex.stats();
    let of_queue = stats.queues.iter().find(|of| of.name == queue).unwrap().wakes;
    (of_queue.local, of_queue.remote)
}

fn all_wakes(ex: &Executor) -> (u64, u64) {
    let wakes = ex.stats().wakes;
    (wakes.local, wakes.remote)
}

#[test]
fn each_wake_counts_in_its_queue_and_on_its_side() {
    let ex = Executor::new();
    let (a, b) = (ex.new_queue("a").create().unwrap(), ex.new_queue("b").create().unwrap());
    let (in_a, in_b) = (waiting(&a, 9), waiting(&b, 9));
    settle(&ex);
    assert_eq!(all_wakes(&ex), (0, 0), "a spawn is no wake");
    // By the host, by a task of another queue, from elsewhere.
    wake(&in_a);
    settle(&ex);
    let held = Rc::clone(&in_b);
    a.spawn(async move { wake(&held) });
    settle(&ex);
    wake_elsewhere(&in_b);
    settle(&ex);
    // Together, which is admitted in another way.
    wake(&in_a);
    wake(&in_b);
    settle(&ex);
    assert_eq!((wakes(&ex, "a"), wakes(&ex, "b")), ((2, 0), (2, 1)));
    assert_eq!(all_wakes(&ex), (4, 1));
}

#[test]
fn a_wake_in_a_slice_of_the_same_queue_counts_too() {
    let ex = Executor::new();
    let queue = ex.new_queue("a").create().unwrap();
    let held = waiting(&queue, 4);
    settle(&ex);
    queue.spawn(async move {
        for _ in 0..2 {
            wake(&held);
            yield_now().await;
        }
    });
    settle(&ex);
    assert_eq!(wakes(&ex, "a"), (2, 0), "a yield is no wake");
}

#[test]
fn several_wakes_until_the_next_poll_are_one_and_those_of_the_finished_none() {
    let ex = Executor::new();
    let queue = ex.new_queue("a").create().unwrap();
    let held = waiting(&queue, 2);
    settle(&ex);
    (0..3).for_each(|_| wake(&held));
    settle(&ex);
    wake(&held);
    wake_elsewhere(&held);
    settle(&ex);
    assert_eq!(wakes(&ex, "a"), (1, 0));
}

#[test]
fn queues_that_are_gone_are_in_the_sum_and_since_tells_differences() {
    let ex = Executor::new();
    let queue = ex.new_queue("a").create().unwrap();
    let held = waiting(&queue, 3);
    settle(&ex);
    wake(&held);
    settle(&ex);
    let before = ex.stats();
    wake_elsewhere(&held);
    settle(&ex);
    let since = ex.stats().since(&before);
    assert_eq!((since.wakes.local, since.wakes.remote), (0, 1));
    assert_eq!((since.queues[1].wakes.local, since.queues[1].wakes.remote), (0, 1));
    queue.close();
    drop(queue);
    settle(&ex);
    assert_eq!(ex.stats().queues.len(), 1);
    assert_eq!(all_wakes(&ex), (1, 1));
}
