//! `Las`: least attained service first, ties by becoming ready, and its fair turns.

mod common;

use core::num::NonZeroU32;

use clockworker_schedulers::{GroupId, Las, Ready, Scheduler};
use common::{drain, member, run_yielding, spawn, task};

fn every(pops: u32) -> Las {
    Las::new().fair_every(NonZeroU32::new(pops).unwrap())
}

/// One poll of whatever is next: `service_ns`, then yields.
fn poll(las: &mut Las, group: u32, service_ns: u64) -> usize {
    let id = las.pop().unwrap();
    let task = clockworker_schedulers::Task { id, group: GroupId::new(group) };
    las.served(task, service_ns);
    las.push(task, Ready::Yielded);
    id.slot()
}

#[test]
fn the_least_served_goes_first() {
    let mut las = Las::new().strict();
    spawn(&mut las, (0..3).map(task));
    let service = [50, 20, 30];
    let trace = run_yielding(&mut las, 10, |task| service[task.id.slot()], |slot| slot as u32);
    // Attained:  0 0 0 | 50 20 30 | 50 40 30 | 50 40 60 | 50 60 60 | 100 60 60 | 100 60 90 | ...: task 2 came to 60 before
    // task 1 did, so it goes before it.
    assert_eq!(trace, [0, 1, 2, 1, 2, 1, 0, 2, 1, 1]);
}

#[test]
fn ties_go_by_the_order_of_becoming_ready() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(5), task(1), task(3)]);
    let trace = run_yielding(&mut las, 6, |_| 10, |slot| slot as u32);
    assert_eq!(trace, [5, 1, 3, 5, 1, 3]);
}

#[test]
fn ties_between_groups_go_by_their_foremost_task() {
    let mut las = Las::new().strict();
    spawn(&mut las, [member(0, 0), member(1, 1), member(2, 0), member(3, 1)]);
    assert_eq!(drain(&mut las), [0, 1, 2, 3], "polls that take no time");
}

#[test]
fn service_counts_for_the_group() {
    let mut las = Las::new().strict();
    spawn(&mut las, [member(0, 7), member(1, 7), member(2, 8)]);
    assert_eq!(las.pop(), Some(member(0, 7).id));
    las.served(member(0, 7), 10);
    assert_eq!(las.attained_ns(GroupId::new(7)), 10);
    assert_eq!(las.pop(), Some(member(2, 8).id), "task 1 was ready earlier, but its group has had 10 ns");
    las.served(member(2, 8), 11);
    las.push(member(2, 8), Ready::Yielded);
    assert_eq!(drain(&mut las), [1, 2]);
}

#[test]
fn a_task_that_stays_the_least_goes_on() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(poll(&mut las, 0, 1_000), 0);
    for _ in 0..9 {
        assert_eq!(poll(&mut las, 1, 100), 1);
    }
    assert_eq!(poll(&mut las, 1, 200), 1, "900 against 1000");
    assert_eq!(poll(&mut las, 0, 200), 0, "1100 against 1000");
}

#[test]
fn a_task_that_slept_does_not_go_first_for_that() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(las.pop(), Some(task(0).id));
    las.served(task(0), 500); // and sleeps
    assert_eq!(poll(&mut las, 1, 100), 1);
    las.push(task(0), Ready::Woken);
    assert_eq!(poll(&mut las, 1, 500), 1);
    assert_eq!(poll(&mut las, 0, 1), 0);
}

#[test]
fn wakes_of_the_group_that_is_being_served_keep_its_order() {
    let mut las = Las::new().strict();
    spawn(&mut las, [member(0, 0), member(1, 1)]);
    assert_eq!(las.pop(), Some(member(0, 0).id));
    las.served(member(0, 0), 10);
    las.push(member(2, 0), Ready::Spawned); // a child, and a sibling that it woke
    las.push(member(3, 0), Ready::Woken);
    las.push(member(0, 0), Ready::Yielded);
    assert_eq!(drain(&mut las), [1, 2, 3, 0]);
    assert_eq!(las.pop(), None);
}

#[test]
fn a_closed_group_starts_from_nothing() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(poll(&mut las, 0, 1_000), 0);
    assert_eq!(las.pop(), Some(task(1).id));
    las.served(task(1), 2_000);
    las.finished(task(1));
    las.group_closed(GroupId::new(1));
    assert_eq!(las.attained_ns(GroupId::new(1)), 0);
    let newer = clockworker_schedulers::TaskId::new(1, 1);
    las.push(clockworker_schedulers::Task { id: newer, group: GroupId::new(1) }, Ready::Spawned);
    assert_eq!(las.pop(), Some(newer), "nothing against 1000, under a reused index");
}

#[test]
fn attained_service_saturates() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(poll(&mut las, 0, u64::MAX), 0);
    assert_eq!(poll(&mut las, 1, u64::MAX - 1), 1);
    assert_eq!(poll(&mut las, 1, u64::MAX), 1);
    assert_eq!(poll(&mut las, 0, 1), 0, "equal, and ready for longer");
}

#[test]
fn fair_turns_go_round_by_group() {
    let mut las = every(4);
    spawn(&mut las, (0..4).map(task));
    // Task 3 takes no time, so it is always the least; tasks 0 to 2 have had some.
    let service = [10, 10, 10, 0];
    let trace = run_yielding(&mut las, 20, |task| service[task.id.slot()], |slot| slot as u32);
    //                  fair:        .           .           .           .           .
    assert_eq!(trace, [0, 1, 2, 1, 3, 3, 3, 2, 3, 3, 3, 3, 3, 3, 3, 0, 3, 3, 3, 1]);
}

/// With G groups and k tasks ahead in its own, a task is popped within N·G·(k + 1) pops, against groups that are always
/// preferred.
#[test]
fn an_old_group_waits_no_longer_than_the_bound() {
    const EVERY: u64 = 5;
    for (groups, ahead) in [(1, 0), (2, 0), (2, 3), (7, 0), (7, 4), (130, 2)] {
        let mut las = every(EVERY as u32);
        let old = groups - 1;
        las.served(member(0, old), u64::MAX);
        let others = |slot: u32| member(1_000 + slot, slot);
        spawn(&mut las, (0..=ahead).map(|slot| member(slot, old)));
        spawn(&mut las, (0..old).map(others));
        let (mut pops, mut waits) = (0, Vec::new());
        while waits.len() <= ahead as usize {
            pops += 1;
            let slot = las.pop().unwrap().slot() as u32;
            if slot < 1_000 {
                waits.push((slot, pops));
            } else {
                las.served(others(slot - 1_000), 1);
                las.push(others(slot - 1_000), Ready::Yielded);
            }
        }
        for &(slot, pops) in &waits {
            let bound = EVERY * u64::from(groups) * (u64::from(slot) + 1);
            assert!(pops <= bound, "task {slot} of {groups} groups: {pops} pops, bound {bound}");
        }
        // The bound is not idle: it is met to within a round less a turn.
        assert!(groups == 1 || waits[0].1 > EVERY * u64::from(groups - 2), "{groups}: {waits:?}");
    }
}

#[test]
fn strictly_by_service_an_old_group_starves() {
    let mut las = Las::new().strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(poll(&mut las, 0, 1_000_000), 0);
    for _ in 0..1_000 {
        assert_eq!(poll(&mut las, 1, 1), 1);
    }
}
