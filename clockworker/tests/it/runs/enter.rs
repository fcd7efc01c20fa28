//! Which executor is current: that of the latest guard still held, whatever the order in which guards are dropped. A poll of a
//! run is such a guard.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use clockworker::{EnterGuard, Executor, spawn_local};

use crate::support::{caught, complaint_of, orders, poll_once, settle_run, untimed};

/// Which of the executors a task is spawned on, if there is one current.
#[track_caller]
fn current(executors: &[Executor]) -> Option<usize> {
    let spawned = || executors.iter().map(|ex| ex.stats().spawned).collect::<Vec<u64>>();
    let before = spawned();
    let outside = caught(|| drop(spawn_local(async {}))).is_err();
    let changed: Vec<usize> = spawned()
        .iter()
        .zip(&before)
        .enumerate()
        .filter(|(_, (now, was))| now > was)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(changed.len(), usize::from(!outside), "a task is on one executor: {changed:?}");
    changed.first().copied()
}

fn executors() -> [Executor; 3] {
    std::array::from_fn(|_| untimed())
}

#[test]
fn guards_are_dropped_in_any_order() {
    let executors = executors();
    // The first executor is entered twice.
    const ENTERED: [usize; 4] = [0, 1, 0, 2];
    assert_eq!(orders(ENTERED.len()).len(), 24);
    for order in orders(ENTERED.len()) {
        let mut held: Vec<Option<EnterGuard>> =
            ENTERED.iter().map(|&entered| Some(executors[entered].enter())).collect();
        for &dropped in &order {
            drop(held[dropped].take());
            let latest = held.iter().rposition(Option::is_some).map(|at| ENTERED[at]);
            assert_eq!(current(&executors), latest, "{order:?}, after {dropped}");
        }
    }
}

#[test]
fn a_guard_made_in_a_run_may_outlive_it_and_one_made_before_may_end_in_it() {
    let executors = executors();
    let [first, second, third] = &executors;
    let mut before = Some(first.enter());
    let mut inside = None;
    second.block_on(async {
        assert_eq!(current(&executors), Some(1));
        drop(before.take());
        assert_eq!(current(&executors), Some(1), "the run is later");
        inside = Some(third.enter());
        assert_eq!(current(&executors), Some(2), "the guard is later");
        first.block_on(async { assert_eq!(current(&executors), Some(0), "a run in the run is later still") });
        assert_eq!(current(&executors), Some(2));
    });
    assert_eq!(current(&executors), Some(2), "it is still held");
    drop(inside);
    assert_eq!(current(&executors), None);
}

#[test]
fn a_guard_held_across_the_polls_of_a_run_is_older_than_the_next_poll() {
    let executors = executors();
    let [first, second, _] = &executors;
    let mut held = None;
    let mut polls = 0;
    let mut run = pin!(first.run_until(poll_fn(|cx| {
        polls += 1;
        // Its own poll, each time, and then the guard.
        assert_eq!(current(&executors), Some(0));
        if polls == 3 {
            held = None;
            assert_eq!(current(&executors), Some(0));
            return Poll::Ready(());
        }
        held.get_or_insert_with(|| second.enter());
        if polls == 1 {
            assert_eq!(current(&executors), Some(1));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })));
    assert!(settle_run(run.as_mut()).is_some());
    assert_eq!(current(&executors), None);
}

#[test]
fn a_panic_in_a_run_ends_what_it_entered_and_no_more() {
    let executors = executors();
    let [first, second, _] = &executors;
    let guard = first.enter();
    complaint_of(|| second.block_on(async { panic!("meant") }));
    assert_eq!(current(&executors), Some(0));
    drop(guard);
    assert_eq!(current(&executors), None);
}

/// Each is made before the one before it goes.
#[test]
fn a_hundred_thousand_guards_hand_over_hand() {
    let executors = executors();
    let mut held = executors[0].enter();
    for i in 1..=100_000 {
        held = executors[i % 3].enter();
    }
    assert_eq!(current(&executors), Some(1));
    drop(held);
    assert_eq!(current(&executors), None);
}

#[test]
fn an_executor_that_was_entered_is_dropped_while_guards_are_held() {
    let mut executors = executors().map(Some);
    let guards: Vec<EnterGuard> = executors.iter().flatten().map(Executor::enter).collect();
    let third = executors[2].take().unwrap();
    drop(third.spawn(pending::<()>()));
    drop(third);
    let mut task = spawn_local(async {});
    assert!(matches!(poll_once(&mut task), Poll::Ready(Err(error)) if error.is_refused()));
    let mut guards = guards.into_iter();
    drop(guards.next());
    drop(guards.next_back());
    drop(spawn_local(async {}));
    assert_eq!(executors[1].as_ref().unwrap().stats().spawned, 1);
}
