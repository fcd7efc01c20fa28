//! Those who wait for room in a group.

use std::future::pending;

use crate::polled::{Polled, end, wakes};
use crate::support::{output, settle, untimed};

#[test]
fn a_full_group_holds_up_no_other() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live(4).max_live_per_group(1).create().unwrap();
    let groups: Vec<_> = (0..3).map(|key| queue.group(key)).collect();
    let first = groups[0].try_spawn(pending()).unwrap();
    let mut waiters: Vec<_> = (0..2).map(|_| Polled::waiting(groups[0].spawn_when_room(pending()))).collect();
    assert!(groups[1].try_spawn(pending::<()>()).is_ok(), "other groups have room");
    assert!(queue.try_spawn(pending::<()>()).is_ok() && queue.try_spawn(pending::<()>()).is_ok());
    assert!(queue.try_spawn(pending::<()>()).unwrap_err().is_full(), "now the queue is full");
    let mut late = Polled::waiting(groups[2].spawn_when_room(pending()));
    end(&ex, first);
    // Both had room but in the queue; the first came first.
    assert_eq!((wakes(&waiters), late.wakes.count()), (vec![1, 0], 0));
    assert!(groups[0].try_spawn(pending::<()>()).unwrap_err().is_group_full());
    let second = waiters[0].answer().unwrap();
    end(&ex, second);
    assert_eq!((wakes(&waiters), late.wakes.count()), (vec![1, 1], 0));
    drop(waiters);
    assert_eq!(late.wakes.count(), 1);
    late.answer().unwrap();
}

#[test]
fn a_group_lives_while_it_is_waited_for() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live_per_group(1).create().unwrap();
    let task = queue.group(1).try_spawn(pending()).unwrap();
    let mut waiter = Polled::waiting(queue.group(1).spawn_when_room(pending()));
    // Others take the index that would be free.
    end(&ex, task);
    let others: Vec<_> = (2..5).map(|key| queue.group(key)).collect();
    waiter.answer().unwrap();
    assert!(queue.group(1).try_spawn(async {}).unwrap_err().is_group_full());
    assert!(others.iter().all(|group| group.try_spawn(async {}).is_ok()));
}

#[test]
fn no_other_spawn_of_the_same_slice_overtakes() {
    let ex = untimed();
    let queue = ex.new_queue("q").max_live_per_group(1).create().unwrap();
    let group = queue.group(1);
    drop(group.spawn(async {}));
    let mut waiter = Polled::waiting(group.spawn_when_room(pending()));
    let greedy =
        queue.spawn(async move { group.try_spawn(async {}).is_err_and(|error| error.is_group_full()) });
    settle(&ex);
    assert!(output(greedy).unwrap());
    waiter.answer().unwrap();
}
