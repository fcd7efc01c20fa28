//! What is seen from inside alone: memory, and numbers at the ends of their ranges.

use super::*;
use crate::Share;
use crate::parts::KEPT;

const CENTURY_NS: u64 = 3_155_760_000_000_000_000;

fn task(slot: u32, group: u32) -> Task {
    Task { id: TaskId::new(slot, 0), group: GroupId::new(group) }
}

fn poll(fair: &mut FairGroups, group: u32, service_ns: u64) -> u32 {
    let slot = fair.pop().unwrap().slot() as u32;
    fair.served(Served::Task { task: task(slot, group), polls: 1, ns: service_ns }, 0);
    slot
}

/// Beside one that always works, each lives for a poll and closes in debt. Two at a time, under two indices.
#[test]
fn a_million_short_lived_tenants_leave_nothing_behind() {
    let mut fair = FairGroups::new();
    fair.push(task(0, 0), Ready::Spawned);
    let mut most = 0;
    for key in 0..1_000_000 {
        let index = 1 + key as u32 % 2;
        fair.said(Subject::NewGroup { group: GroupId::new(index), key }, &Attributes::new());
        fair.push(task(index, index), Ready::Spawned);
        while poll(&mut fair, 0, 0) == 0 {
            // It was charged for a nanosecond of its own. Now for its poll.
            fair.served(Served::Task { task: task(0, 0), polls: 1, ns: 8_000 }, 0);
            fair.push(task(0, 0), Ready::Yielded);
        }
        fair.served(Served::Task { task: task(index, index), polls: 1, ns: 5_000 }, 0);
        fair.gone(Gone::Task(task(index, index)));
        fair.gone(Gone::Group(GroupId::new(index)));
        most = most.max(fair.debts.len());
    }
    assert_eq!((fair.places.len(), fair.waiting.len()), (3, 1));
    assert!((2..=128).contains(&most), "{most} debts");
    assert_eq!(poll(&mut fair, 0, 1), 0);
    fair.gone(Gone::Backlog);
    assert_eq!(fair.debts.len(), 0);
}

#[test]
fn what_a_burst_took_is_given_back() {
    let mut fair = FairGroups::new();
    let groups = 3 * KEPT as u32;
    fair.said(
        Subject::NewGroup { group: GroupId::new(7), key: 7 },
        &Attributes::new().with_weight(Share::MAX),
    );
    // Two tasks in each, as one alone takes no memory for links.
    (0..2 * groups).for_each(|slot| fair.push(task(slot, slot % groups), Ready::Spawned));
    for group in 0..groups {
        assert_eq!([poll(&mut fair, group, 10), poll(&mut fair, group, 10)], [group, groups + group]);
    }
    assert_eq!(fair.pop(), None);
    assert!(fair.places.capacity() >= groups as usize && fair.tasks.capacity() >= groups as usize);
    fair.gone(Gone::Backlog);
    assert!(fair.places.capacity() <= KEPT && fair.tasks.capacity() <= KEPT);
    let place = fair.places.get(7).unwrap();
    assert_eq!(
        (fair.places.len(), place.is_open, fair.keys[7], place.weight),
        (8, true, 7, Share::MAX),
        "it is open"
    );
    // And it goes on as before.
    (0..groups).for_each(|slot| fair.push(task(slot, slot), Ready::Woken));
    assert_eq!(fair.pop(), Some(task(0, 0).id));
}

#[test]
fn what_bursts_take_time_and_again_is_kept_until_one_takes_less() {
    let mut fair = FairGroups::new();
    let mut kept_after = |groups: u32| {
        (0..groups).for_each(|slot| fair.push(task(slot, slot), Ready::Spawned));
        (0..groups).for_each(|slot| assert_eq!(poll(&mut fair, slot, 10), slot));
        fair.gone(Gone::Backlog);
        fair.places.capacity()
    };
    let burst = 3 * KEPT as u32;
    let kept = [burst, burst, burst, 1, 1].map(|groups| kept_after(groups) > KEPT);
    assert_eq!(kept, [false, true, true, false, false]);
}

#[test]
fn a_queue_that_drains_often_keeps_its_memory() {
    let mut fair = FairGroups::new();
    (0..1_000).for_each(|slot| fair.push(task(slot, slot), Ready::Spawned));
    (0..1_000).for_each(|slot| _ = poll(&mut fair, slot, 10));
    let capacities = (fair.places.capacity(), fair.tasks.capacity());
    fair.gone(Gone::Backlog);
    assert_eq!((fair.places.capacity(), fair.tasks.capacity()), capacities);
}

/// Polls of a month, of the least weight and of the greatest, until a hundred years are over, and then turns as ever.
#[test]
fn after_a_hundred_years_the_order_is_the_same() {
    let mut fair = FairGroups::new();
    for (group, weight) in [(0, Share::MIN), (1, Share::MAX), (2, Share::MIN)] {
        fair.said(
            Subject::NewGroup { group: GroupId::new(group), key: group.into() },
            &Attributes::new().with_weight(weight),
        );
        fair.push(task(group, group), Ready::Spawned);
    }
    let month_ns = CENTURY_NS / 1_200;
    for _ in 0..1_200 {
        let group = fair.pop().unwrap().slot() as u32;
        fair.served(Served::Task { task: task(group, group), polls: 1, ns: month_ns }, 0);
        fair.push(task(group, group), Ready::Yielded);
    }
    assert_eq!(fair.owes_ns(GroupId::new(1)), month_ns, "its last poll");
    // The other two owe a month each, which is a million months of the first.
    for _ in 0..1_000 {
        assert_eq!(poll(&mut fair, 1, 1_000_000), 1);
        fair.push(task(1, 1), Ready::Yielded);
    }
    let ahead = |group: u32| fair.places.get(group).unwrap().v - fair.virtual_time();
    assert!(ahead(0) <= u128::from(month_ns) << 40 && ahead(2) <= u128::from(month_ns) << 40);
}

#[test]
fn polls_without_end_saturate() {
    let mut fair = FairGroups::new();
    fair.push(task(0, 0), Ready::Spawned);
    fair.push(task(1, 1), Ready::Spawned);
    for _ in 0..100 {
        let group = fair.pop().unwrap().slot() as u32;
        fair.served(Served::Task { task: task(group, group), polls: 1, ns: u64::MAX }, 0);
        fair.served(Served::Task { task: task(group, group), polls: 1, ns: u64::MAX }, 0);
        fair.push(task(group, group), Ready::Yielded);
    }
}
