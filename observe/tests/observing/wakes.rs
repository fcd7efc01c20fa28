//! How often tasks were woken, and from where.

use std::rc::Rc;

use clockworker::{Executor, Queue, yield_now};

use clockworker_observe::{Observation, Observe};

use super::{observed_of, observing};
use crate::support::*;

/// An executor and a queue of it, with a task that waits.
fn with_waiting() -> (Executor, Queue, Rc<Probe>) {
    let ex = observing(Observation::new());
    let queue = ex.new_queue("a").create().unwrap();
    let probe = waiting(&queue);
    settle(&ex);
    (ex, queue, probe)
}

fn waiting(queue: &Queue) -> Rc<Probe> {
    let probe = Probe::new();
    queue.spawn(probe.future());
    probe
}

fn wake_elsewhere(probe: &Probe) {
    let waker = probe.waker();
    elsewhere(|| waker.wake());
}

/// Local and remote wakes.
fn wakes(ex: &Executor, name: &str) -> (u64, u64) {
    let wakes = observed_of(ex, name).unwrap().wakes;
    (wakes.local, wakes.remote)
}

fn all_wakes(ex: &Executor) -> (u64, u64) {
    let wakes = ex.observed().wakes;
    (wakes.local, wakes.remote)
}

#[test]
fn each_wake_counts_in_its_queue_and_on_its_side() {
    let (ex, a, in_a) = with_waiting();
    let in_b = waiting(&ex.new_queue("b").create().unwrap());
    settle(&ex);
    assert_eq!(all_wakes(&ex), (0, 0), "a spawn is no wake");
    // By the host, by a task of another queue, from elsewhere.
    in_a.waker().wake();
    settle(&ex);
    let waker = in_b.waker();
    a.spawn(async move { waker.wake() });
    settle(&ex);
    wake_elsewhere(&in_b);
    settle(&ex);
    // Together, which is admitted in another way.
    [&in_a, &in_b].into_iter().for_each(|probe| probe.waker().wake());
    settle(&ex);
    assert_eq!((wakes(&ex, "a"), wakes(&ex, "b")), ((2, 0), (2, 1)));
    assert_eq!(all_wakes(&ex), (4, 1));
}

#[test]
fn a_wake_in_a_slice_of_the_same_queue_counts_too() {
    let (ex, queue, probe) = with_waiting();
    queue.spawn(async move {
        for _ in 0..2 {
            probe.waker().wake();
            yield_now().await;
        }
    });
    settle(&ex);
    assert_eq!(wakes(&ex, "a"), (2, 0), "a yield is no wake");
}

#[test]
fn several_wakes_until_a_poll_are_one_and_of_the_finished_none() {
    let (ex, _queue, probe) = with_waiting();
    probe.finish();
    (0..2).for_each(|_| probe.waker().wake());
    settle(&ex);
    probe.waker().wake();
    wake_elsewhere(&probe);
    settle(&ex);
    assert_eq!((wakes(&ex, "a"), probe.polls.get()), ((1, 0), 2));
}

#[test]
fn queues_that_are_gone_are_in_the_sum_and_since_tells_differences() {
    let (ex, queue, probe) = with_waiting();
    probe.waker().wake();
    settle(&ex);
    let before = ex.observed();
    probe.finish.set(true);
    wake_elsewhere(&probe);
    settle(&ex);
    let since = ex.observed().since(&before);
    assert_eq!((since.wakes.local, since.wakes.remote), (0, 1));
    let in_queue = since.queue(queue.stats().number).unwrap().wakes;
    assert_eq!((in_queue.local, in_queue.remote), (0, 1));
    queue.close();
    drop(queue);
    settle(&ex);
    assert_eq!(ex.stats().queues.len(), 1);
    assert_eq!(all_wakes(&ex), (1, 1));
}
