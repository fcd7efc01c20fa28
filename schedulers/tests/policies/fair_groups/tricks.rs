//! What tenants may try beside one that always works: it gains nothing.

use crate::script::Told;
use clockworker_schedulers::{FairGroups, GroupId};

use super::super::script::{spawn, task, trace};
use super::super::world::{End, World, attributes};
use super::{POLL_NS, QUANTUM_NS, TURN_NS};

/// What a tenant of weight 1 that always works gets beside one that sleeps through so many polls after each of its own, as a part
/// of its half.
fn part_beside_one_that_sleeps(polls: u32) -> f64 {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    let mut asleep = 0;
    for _ in 0..20_000 {
        let polled = world.poll(|key| (POLL_NS, if key == 0 { End::Yields } else { End::Sleeps }));
        asleep = if polled == Some(1) { 0 } else { asleep + 1 };
        if asleep == polls {
            world.wake(1);
        }
    }
    2.0 * world.received_ns(0) as f64 / world.passed_ns as f64
}

#[test]
fn sleeping_gains_nothing() {
    // At once awake again; awake just before the pick or just after it; asleep for long.
    let parts = [0, 1, 2, 5].map(part_beside_one_that_sleeps);
    assert!(parts.iter().all(|&part| part > 0.999) && parts[0] < 1.001, "{parts:?}");
}

#[test]
fn coming_back_under_the_same_key_erases_nothing() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(9, 1, 1); // another index, that stays free
    world.join(1, 1, 1);
    assert_eq!(world.poll(|_| (1_000_000, End::Yields)), Some(0));
    assert_eq!(world.poll(|_| (10, End::Finishes)), Some(9));
    assert_eq!(world.poll(|_| (700_000, End::Finishes)), Some(1));
    // Its index is taken by another, so that it gets the one that owes ten.
    world.join(2, 1, 1);
    assert_eq!(world.owes_ns(2), 700_000, "the index owes what the group owed that had it");
    world.join(1, 4, 1);
    assert_eq!(world.owes_ns(1), 700_000, "and the key as well, whatever its weight is now");
    assert_eq!(world.poll(|_| (10, End::Yields)), Some(1), "at weight 4 it is 175,000 in virtual time");
}

/// A tenant that closes after each poll and comes back: beside one that always works.
#[test]
fn closing_and_opening_again_gains_nothing() {
    for fresh_keys in [false, true] {
        let mut world = World::fair();
        world.join(0, 1, 1);
        let mut key = 1;
        for _ in 0..20_000 {
            world.join(key, 1, usize::from(world.tenants.get(&key).is_none_or(|tenant| tenant.tasks == 0)));
            let polled = world.poll(|key| (POLL_NS, if key == 0 { End::Yields } else { End::Finishes }));
            key += u64::from(fresh_keys && polled == Some(key));
        }
        let part = 2.0 * world.received_ns(0) as f64 / world.passed_ns as f64;
        assert!(part > 0.999, "fresh keys {fresh_keys}: {part}");
    }
}

/// A newcomer at every point of the turns of two others, which stays for any number of polls: within a turn of its share from the
/// first to the last.
#[test]
fn joining_and_leaving_at_any_point_is_within_the_bound() {
    for joins_after in 0..40 {
        for stays in 1..40 {
            let mut world = World::fair();
            world.join(0, 3, 2);
            world.join(1, 1, 1);
            (0..joins_after).for_each(|_| _ = world.poll(|_| (POLL_NS, End::Yields)));
            let (from, passed) = (world.received_ns(0), world.passed_ns);
            world.join(2, 2, 1);
            let mut polls = 0;
            while polls < stays {
                let last = polls + 1 == stays;
                let end = |key| if key == 2 && last { End::Finishes } else { End::Yields };
                polls += usize::from(world.poll(|key| (POLL_NS, end(key))) == Some(2));
            }
            let due = (world.passed_ns - passed) as f64 * 3.0 / 6.0;
            let short = due - (world.received_ns(0) - from) as f64;
            let bound = (0.5 * 2.0 + 0.5) * TURN_NS as f64;
            assert!(short <= bound, "joins after {joins_after}, stays for {stays}: short of {short}");
        }
    }
}

#[test]
fn an_idle_queue_forgives() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    assert_eq!(world.poll(|_| (1_000_000, End::Sleeps)), Some(0));
    assert_eq!(world.owes_ns(0), 1_000_000);
    assert_eq!(world.poll(|_| (10, End::Sleeps)), Some(1));
    assert_eq!((world.owes_ns(0), world.poll(|_| (0, End::Yields))), (1_000_000, None));
    assert_eq!((world.owes_ns(0), world.owes_ns(1)), (0, 0));
    assert!(world.wake(0) && world.wake(1));
    assert_eq!(world.poll(|_| (10, End::Yields)), Some(0));
}

#[test]
fn drops_of_aborted_tasks_are_charged() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 2, 2);
    world.poll(|_| (QUANTUM_NS, End::Yields));
    world.poll(|_| (QUANTUM_NS, End::Sleeps));
    assert_eq!((world.owes_ns(0), world.owes_ns(1)), (QUANTUM_NS, QUANTUM_NS));
    world.poll(|_| (10, End::Yields));
    world.abort(1, 500_000); // one of its two tasks, which sleeps while the other is ready
    assert!(world.owes_ns(1) >= 500_000, "{}", world.owes_ns(1));
    world.run_for(240_000, |key| {
        assert_eq!(key, 0);
        POLL_NS
    });
}

// ---- Changes of weight

#[test]
fn another_weight_counts_from_then_on() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    world.run_for(10_000_000, |_| POLL_NS);
    world.change(1, 9);
    let before = [0, 1].map(|key| world.received_ns(key));
    world.run_for(10_000_000, |_| POLL_NS);
    let after = [0, 1].map(|key| world.received_ns(key) - before[key as usize]);
    assert!(after[1].abs_diff(9 * after[0]) <= 10 * TURN_NS, "{after:?}");
}

#[test]
fn changing_weights_pays_no_debt() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    assert_eq!(world.poll(|_| (900_000, End::Yields)), Some(0));
    for weight in [1_000_000, 3, 1_000, 7, 1] {
        world.change(0, weight);
        assert!((900_000..=900_001).contains(&world.owes_ns(0)), "{weight}: {}", world.owes_ns(0));
    }
    world.run_for(890_000, |key| {
        assert_eq!(key, 1);
        POLL_NS
    });
}

#[test]
fn changing_weights_in_a_turn_ends_it() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.join(1, 1, 1);
    for step in 0..1_000 {
        // It would go on for ever if each change began its quantum anew.
        world.change(0, 1 + step % 2);
        world.poll(|_| (10, End::Yields));
        world.change(0, 1);
    }
    assert!(world.received_ns(1) >= world.passed_ns / 3, "{}", world.received_ns(1));
}

#[test]
fn a_group_without_attributes_has_weight_one_also_where_the_index_was_used() {
    let mut fair = FairGroups::new().with_quantum_ns(0);
    fair.group_opened(GroupId::new(0), 5, &attributes(1_000));
    fair.group_closed(GroupId::new(0));
    spawn(&mut fair, [task(0), task(1)]);
    assert_eq!(trace(&mut fair, 6, |_| 10), [0, 1, 0, 1, 0, 1]);
}
