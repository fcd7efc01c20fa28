//! Changes of weight.

use clockworker_schedulers::{FairGroups, GroupId, Scheduler};

use super::super::script::{run_yielding, spawn, task};
use super::world::{End, World, attributes};
use super::{POLL_NS, TURN_NS};

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
    assert_eq!(run_yielding(&mut fair, 6, |_| 10, |slot| slot as u32), [0, 1, 0, 1, 0, 1]);
}
