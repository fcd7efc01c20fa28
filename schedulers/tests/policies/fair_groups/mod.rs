//! `FairGroups`: shares by weight, from any history, and what each trick gains: nothing.

mod adversary;
mod bursts;
mod model;
mod tricks;

use clockworker_schedulers::{FairGroups, GroupId, Ready, Scheduler};

use super::script::{Told, ahead, drain, member, spawn, task, trace};
use super::world::{End, World, attributes};

const QUANTUM_NS: u64 = 16_384;
const POLL_NS: u64 = 10_000;

/// The longest turn, where polls take [`POLL_NS`].
const TURN_NS: u64 = QUANTUM_NS + POLL_NS;

// ---- Order

#[test]
fn a_group_goes_on_for_a_quantum() {
    let mut fair = FairGroups::new().with_quantum_ns(30);
    spawn(&mut fair, [task(0), task(1)]);
    let trace = trace(&mut fair, 12, |_| 10);
    assert_eq!(trace, [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn virtual_time_moves_by_service_alone() {
    let mut fair = FairGroups::new();
    spawn(&mut fair, (0..3).map(task));
    trace(&mut fair, 2, |_| QUANTUM_NS);
    // All are popped and pushed again, and none was served: as an executor does that misses one.
    assert_eq!(drain(&mut fair), [2, 0, 1]);
    (0..3).for_each(|slot| fair.push(task(slot), Ready::Woken));
    assert_eq!(drain(&mut fair), [2, 0, 1]);
    fair.drained();
    (0..3).for_each(|slot| fair.push(task(slot), Ready::Woken));
    assert_eq!(drain(&mut fair), [0, 1, 2], "nothing is owed any more");
}

/// Where polls are timed by lot, a turn may have many before any is told.
#[test]
fn a_group_that_becomes_ready_in_a_turn_of_which_nothing_was_told_stands_where_the_turn_began() {
    const LONG_NS: u64 = 1_000_000;
    for burst_ns in [0, 100_000] {
        let mut fair = FairGroups::new().with_burst_ns(burst_ns);
        spawn(&mut fair, [task(0), task(1)]);
        assert_eq!(fair.pop(), Some(task(0).id));
        fair.timed(task(0), LONG_NS);
        assert_eq!(fair.push_pop(task(0)), Some(task(1).id));
        fair.timed(task(1), 100);
        fair.finished(task(1));
        // Its next turn: of its first poll, in which another becomes ready, nothing is said.
        assert_eq!(fair.pop(), Some(task(0).id));
        fair.push(task(2), Ready::Woken);
        assert_eq!(fair.push_pop(task(0)), Some(task(0).id));
        fair.timed(task(0), LONG_NS);
        fair.push(task(0), Ready::Yielded);
        let mut at_a_stretch = 0;
        while fair.pop() == Some(task(2).id) {
            fair.timed(task(2), LONG_NS);
            fair.push(task(2), Ready::Yielded);
            at_a_stretch += 1;
        }
        assert_eq!(at_a_stretch, 1 + u32::from(burst_ns > 0), "burst {burst_ns}");
    }
}

// ---- Shares

/// Weights of all magnitudes.
fn weights(groups: usize) -> Vec<u32> {
    [1, 1_000, 10, 3, 99, 7, 250].into_iter().cycle().take(groups).collect()
}

/// Whether all pairs differ by L/w + L/w' at most: then their v, each known to (0, L/w), have a common point.
fn in_proportion(world: &World<FairGroups>, from: &[u64], weights: &[u32], turn_ns: u64) -> bool {
    let virtual_ns = |key: usize| {
        let received = u128::from(world.received_ns(key as u64) - from[key]);
        (
            received * 1_000_000 / u128::from(weights[key]),
            u128::from(turn_ns) * 1_000_000 / u128::from(weights[key]) + 1,
        )
    };
    let points: Vec<(u128, u128)> = (0..weights.len()).map(virtual_ns).collect();
    let least = points.iter().map(|&(v, slack)| v + slack).min().unwrap();
    points.iter().all(|&(v, slack)| v <= least + slack)
}

#[test]
fn shares_are_by_weight_whatever_the_number_of_groups() {
    for groups in [2, 3, 10, 100, 1_000] {
        let (mut world, weights) = (World::fair(), weights(groups));
        weights.iter().enumerate().for_each(|(key, &weight)| world.join(key as u64, weight, 1 + key % 3));
        let mut from = vec![0; groups];
        for check in 0..200 {
            world.run_for(300_000, |key| 700 + key * 13 % 5_000);
            assert!(in_proportion(&world, &from, &weights, QUANTUM_NS + 5_700), "{groups} groups, {check}");
            if check % 50 == 7 {
                // Any stretch will do.
                from = (0..groups).map(|key| world.received_ns(key as u64)).collect();
            }
        }
    }
}

#[test]
fn a_minute_alone_is_no_debt_and_no_claim() {
    let mut world = World::fair();
    world.join(0, 1, 1);
    world.run_for(60_000_000_000, |_| 1_000_000);
    world.join(1, 1, 1);
    // What the first owes is its last poll.
    assert_eq!((world.owes_ns(0), world.owes_ns(1)), (1_000_000, 0));
    world.run_for(1_000_000 - TURN_NS, |key| {
        assert_eq!(key, 1);
        POLL_NS
    });
    world.run_for(2 * TURN_NS, |_| POLL_NS);
    let before = [0, 1].map(|key| world.received_ns(key));
    for _ in 0..10_000 {
        world.run_for(1, |_| POLL_NS);
        let [first, second] = [0, 1].map(|key| world.received_ns(key) - before[key as usize]);
        assert!(first.abs_diff(second) <= 2 * TURN_NS, "{first} and {second}");
    }
}

/// Ten tenants that sleep most of the time, beside one with a thousand tasks: how long each waits for its poll.
#[test]
fn a_flood_delays_others_by_its_turn_alone() {
    let mut world = World::fair();
    world.join(0, 1, 1_000);
    (1..=10).for_each(|key| world.join(key, 1, 1));
    let mut woken_at = [Some(0); 11];
    let (mut longest, mut polls) = (0, 0);
    for step in 0..200_000_u64 {
        let now = world.passed_ns;
        let polled = world.poll(|key| if key == 0 { (POLL_NS, End::Yields) } else { (1_000, End::Sleeps) });
        if let Some(key @ 1..) = polled {
            longest = longest.max(now - woken_at[key as usize].take().unwrap());
            polls += 1;
        }
        // One at a time is woken, each every two milliseconds or so.
        let key = step / 23 % 10 + 1;
        if step % 23 == 0 && world.wake(key) {
            woken_at[key as usize] = Some(world.passed_ns);
        }
    }
    assert!(polls > 8_000, "{polls}");
    // When all came at once, and when each came alone.
    assert!(longest <= TURN_NS + 10 * 1_000, "{longest}");
}

/// However many others always have work, one that owes nothing waits for the turn under way; and, where one of them stands at V
/// exactly, which is rare, for that one's.
#[test]
fn one_that_sleeps_most_of_the_time_waits_for_the_turn_under_way() {
    for busy in [1, 2, 10, 300] {
        let mut world = World::fair();
        (1..=busy).for_each(|key| world.join(key, 1 + key as u32 % 3, 1));
        world.join(0, 1, 1);
        let (mut woken_at, mut waits) = (None, Vec::new());
        for step in 0..60_000_u64 {
            let now = world.passed_ns;
            let length = |key| (1_000 + 1_931 * key % 9_001, End::Yields);
            let polled = world.poll(|key| if key == 0 { (700, End::Sleeps) } else { length(key) });
            if polled == Some(0) {
                waits.extend(woken_at.take().map(|woken_at| now - woken_at));
            }
            // Its share is more than it takes.
            if step % (7 * busy + 3) == 0 && world.wake(0) {
                woken_at = Some(world.passed_ns);
            }
        }
        let longer = waits.iter().filter(|&&wait_ns| wait_ns > TURN_NS).count();
        assert!(waits.len() > 20 && longer <= waits.len() / 20, "{longer} of {} waits", waits.len());
        assert!(waits.iter().all(|&wait_ns| wait_ns <= 2 * TURN_NS), "{waits:?}");
    }
}

// ---- The rest

/// A task in each of many groups, one of which owes the most that it can: all others go before it, and no longer than promised.
#[test]
fn polls_of_no_length_count_for_a_nanosecond() {
    for (groups, weight) in [(2, 1), (2, 20), (5, 3), (40, 1)] {
        let mut fair = FairGroups::new().with_quantum_ns(50);
        let heavy = (1..groups).map(|group| (group, weight));
        for (group, weight) in [(0, 1)].into_iter().chain(heavy) {
            fair.group_opened(GroupId::new(group), group.into(), &attributes(weight));
        }
        spawn(&mut fair, (0..groups).map(task));
        assert_eq!(fair.pop(), Some(task(0).id));
        fair.timed(task(0), 1_000);
        fair.push(task(0), Ready::Yielded);
        let mut pops = 0_u64;
        while let Some(id) = fair.pop().filter(|&id| id != task(0).id) {
            fair.timed(task(id.slot() as u32), 0);
            fair.push(task(id.slot() as u32), Ready::Yielded);
            pops += 1;
        }
        let others = u64::from(groups - 1);
        // What it owes, and a quantum.
        let allowed = others * (u64::from(weight) * 1_000)..=others * (u64::from(weight) * 1_000 + 51);
        assert!(allowed.contains(&pops), "{groups} groups, weight {weight}: {pops} pops");
    }
}

#[test]
fn peek_looks_ahead_in_the_group_that_goes_on() {
    let mut fair = FairGroups::new();
    assert_eq!(ahead(&fair), []);
    spawn(&mut fair, [member(4, 1), member(2, 1), member(7, 1), member(9, 2)]);
    assert_eq!(fair.pop(), Some(member(4, 1).id));
    assert_eq!(ahead(&fair), [2, 7]);
    fair.timed(member(4, 1), QUANTUM_NS);
    assert_eq!(ahead(&fair), [], "the turn is over");
}

#[test]
fn an_empty_one_is_a_constant() {
    const EMPTY: FairGroups = FairGroups::new().with_quantum_ns(5);
    assert_eq!(EMPTY.clone().pop(), None);
    assert_eq!(EMPTY.owes_ns(GroupId::new(7)), 0);
}
