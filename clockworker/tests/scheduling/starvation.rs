//! Nobody waits for ever: not beside tasks that wake each other without end, not behind those that spawn without end, and
//! not for a lock that a task of the smallest share holds.

use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, yield_now};
use clockworker_testing::policy::Policy;
use futures::lock::Mutex;

use crate::support::*;

/// Those that bound what a ready task waits.
const POLICIES: [Policy; 4] = [Policy::RunnableFifo, Policy::Las, Policy::Qlas, Policy::Serpt];

fn with_queue(policy: Policy) -> (Executor, Queue) {
    let ex = world();
    let queue = policy.create(ex.new_queue("tested")).unwrap();
    (ex, queue)
}

/// Two tasks that wake each other at each poll without end.
fn ping_pong(queue: &Queue) {
    let signals = [Signal::new(), Signal::new()];
    signals[0].set();
    for side in 0..2 {
        let (own, other) = (signals[side].clone(), signals[1 - side].clone());
        drop(queue.spawn(async move {
            loop {
                own.wait().await;
                polls("o", 1, us(1)).await;
                other.set();
            }
        }));
    }
}

/// How many polls such tasks have had.
fn polls_of_others() -> u64 {
    starts("o").len() as u64
}

#[test]
fn pairs_that_wake_each_other_without_end_do_not_starve_a_third() {
    const PAIRS: u64 = 100;
    const YIELDS: u32 = 5;
    for policy in POLICIES {
        let (ex, queue) = with_queue(policy);
        (0..PAIRS).for_each(|_| ping_pong(&queue));
        // They are all under way before the victim comes.
        run(&ex, async {
            while polls_of_others() <= 10 * PAIRS {
                yield_now().await;
            }
        });
        let before = polls_of_others();
        run(&ex, queue.spawn(yields(YIELDS))).unwrap();
        // What the policies promise, with L tasks there: L pops in order of becoming ready, 2·32·L with fair turns.
        let tasks = 2 * PAIRS + 1;
        let promised = if policy == Policy::RunnableFifo { tasks } else { 2 * 32 * tasks };
        let beside = polls_of_others() - before;
        assert!(beside <= u64::from(YIELDS + 1) * promised, "{policy:?}: {beside} polls");
    }
}

#[test]
fn the_future_being_run_is_not_starved_by_tasks_that_wake_each_other() {
    for policy in POLICIES {
        let (ex, queue) = with_queue(policy);
        ping_pong(&queue);
        run(&ex, yields(99));
        // It wakes itself at each of its polls, and so waits for 64 of the others'.
        assert!(polls_of_others() <= 100 * 64, "{policy:?}: {} polls", polls_of_others());
    }
}

/// How long a task of a large share waits for a lock that one of share 1 holds for ten polls of 100 µs, beside a third
/// queue of that share which always works.
fn waits_for_the_holder(spinners_share: u32) -> Duration {
    let ex = builder().host_budget(NEVER).build().unwrap();
    let [high, low, spinning] = [("high", 1_000), ("low", 1), ("spinning", spinners_share)]
        .map(|(name, share)| ex.new_queue(name).share(share).create().unwrap());
    let (lock, held) = (Rc::new(Mutex::new(())), Signal::new());
    let (locked, holds) = (Rc::clone(&lock), held.clone());
    drop(low.spawn(async move {
        let _guard = locked.lock().await;
        holds.set();
        polls("", 10, us(100)).await;
        yield_now().await;
    }));
    run(&ex, held.wait());
    drop(spinning.spawn(polls("", usize::MAX, us(100))));
    let waiter = high.spawn(async move {
        let asked = now();
        drop(lock.lock().await);
        now() - asked
    });
    run(&ex, waiter).unwrap()
}

#[test]
fn a_lock_held_by_a_task_of_the_smallest_share_is_given_back() {
    // No share is zero, so the holder gets its millisecond, sooner or later: when its share says, give or take what a
    // queue may be ahead by, a request and a poll.
    for spinners in [1, 9, 99, 1_000] {
        let waited = waits_for_the_holder(spinners);
        let fair = us(1_000) * (spinners + 1);
        assert!(waited >= us(1_000), "{waited:?} beside a share of {spinners}");
        assert!(waited <= fair + us(600) * (spinners + 1), "{waited:?} beside a share of {spinners}");
    }
}
