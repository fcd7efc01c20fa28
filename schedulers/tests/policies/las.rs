//! `Las`: least attained service first to a resolution, turns among equals, and its fair turns. Its whole order, pop by pop, is a
//! law of `tests/laws`.

use clockworker_schedulers::{FairTurns, GroupId, Las, Ready, Scheduler, Task};
use proptest::prelude::*;

use super::script::{Told, ahead, drain, every, member, poll_of, spawn, spawn_served, task, trace};

/// Tells groups apart to the nanosecond below 128 ns.
fn strict() -> Las {
    Las::new().with_resolution_ns(1).with_fair_turns(FairTurns::NEVER)
}

fn with_turns(pops: u32) -> Las {
    Las::new().with_resolution_ns(1).with_fair_turns(every(pops))
}

/// One poll of whatever is next: `service_ns`, then yields.
fn poll(las: &mut Las, group: u32, service_ns: u64) -> usize {
    let id = las.pop().unwrap();
    poll_of(las, Task { id, group: GroupId::new(group) }, service_ns);
    id.slot()
}

#[test]
fn the_least_served_goes_first() {
    let mut las = strict();
    spawn(&mut las, (0..3).map(task));
    let service = [50, 20, 30];
    let trace = trace(&mut las, 10, |slot| service[slot]);
    // Attained:  0 0 0 | 50 20 30 | 50 40 30 | 50 40 60 | 50 60 60 | 100 60 60 | 100 60 90 | ...: task 2 came to 60 before
    // task 1 did, so it goes before it.
    assert_eq!(trace, [0, 1, 2, 1, 2, 1, 0, 2, 1, 1]);
}

#[test]
fn a_task_that_yields_goes_on_for_one_resolution_unless_another_has_less() {
    let mut las = Las::new().with_fair_turns(FairTurns::NEVER);
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!([300; 4].map(|service_ns| poll(&mut las, 0, service_ns)), [0; 4]);
    assert_eq!(poll(&mut las, 1, 300), 1, "1,200 ns of 1,024 are over");
    las.push(task(2), Ready::Spawned);
    assert_eq!(poll(&mut las, 1, 300), 1, "its turn lasts, and a newcomer of its bucket waits");
    las.timed(task(1), 500);
    assert_eq!(poll(&mut las, 2, 0), 2, "1,100 ns, and another bucket");
}

/// Old groups, whose bucket is 16 ms wide.
fn old_groups(mut las: Las, groups: u32) -> Las {
    spawn_served(&mut las, 1 << 30, (0..groups).map(task));
    las
}

#[test]
fn a_fair_turn_does_not_begin_the_turn_of_another_group_anew() {
    let las = Las::new().without_half_life().with_fair_turns(FairTurns::NEVER);
    let mut las = old_groups(las, 100).with_fair_turns(FairTurns::DEFAULT);
    let trace = trace(&mut las, 47, |_| 70);
    // A turn is 15 polls. One poll in 32 is fair, in the turn of group 2, and goes to the next group by index.
    let polls = [0, 1, 2, 3].map(|group| trace.iter().filter(|&&slot| slot == group).count());
    assert_eq!(polls, [15, 16, 15, 1]);
    assert_eq!(trace[30..].iter().filter(|&&slot| slot == 1).count(), 1, "{trace:?}");
}

#[test]
fn a_group_that_has_less_ends_the_turn() {
    let mut las = old_groups(Las::new().with_fair_turns(FairTurns::NEVER), 2);
    assert_eq!(las.pop(), Some(task(0).id));
    las.timed(task(0), 600);
    las.push(task(2), Ready::Spawned);
    assert_eq!(las.push_pop(task(0)), Some(task(2).id));
    assert_eq!(drain(&mut las), [1, 0]);
    // Also where it comes between the push and the pop.
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(las.pop(), Some(task(0).id));
    las.push(task(0), Ready::Yielded);
    las.push(task(2), Ready::Woken);
    assert_eq!(drain(&mut las), [2, 1, 0]);
}

#[test]
fn the_end_of_a_half_life_ends_the_turn() {
    let mut las = Las::new().with_fair_turns(FairTurns::NEVER).with_half_life_ns(1 << 30);
    spawn_served(&mut las, (1 << 29) - 3_000_000, [task(0), task(1)]);
    assert_eq!(las.pop(), Some(task(0).id));
    las.timed(task(9), 10_000_000);
    assert_eq!(las.push_pop(task(0)), Some(task(1).id));
}

#[test]
fn a_group_that_has_less_ends_the_turn_that_its_fair_turn_interrupted() {
    for never_again in [false, true] {
        let mut las = Las::new().without_half_life().with_fair_turns(FairTurns::NEVER);
        spawn_served(&mut las, 1 << 30, [0, 2, 3, 4].map(task));
        let mut las = las.with_fair_turns(every(2));
        assert_eq!(las.pop(), Some(task(0).id));
        las.push(task(0), Ready::Yielded);
        las.push(task(1), Ready::Spawned);
        assert_eq!(las.pop(), Some(task(1).id), "a fair turn");
        if never_again {
            las = las.with_fair_turns(FairTurns::NEVER);
        }
        assert_eq!(las.push_pop(task(1)), Some(task(1).id), "in order: it has attained nothing");
        assert_eq!(drain(&mut las).last(), Some(&0), "it is at the tail");
    }
}

#[test]
fn a_new_group_has_no_rest_of_the_turn_of_the_one_before() {
    let mut las = old_groups(Las::new().without_half_life().with_fair_turns(FairTurns::NEVER), 1);
    assert_eq!(las.pop(), Some(task(0).id));
    las.group_closed(GroupId::new(0));
    spawn_served(&mut las, 1 << 29, [task(0), task(1)]);
    let trace = trace(&mut las, 4, |_| 600);
    assert_eq!(trace, [0, 0, 1, 1]);
}

/// A group with two ready tasks has one poll at a time, and what is told of it from elsewhere ends its turn.
#[test]
fn a_turn_is_of_one_ready_task() {
    let mut las = old_groups(Las::new().with_fair_turns(FairTurns::NEVER), 2);
    assert_eq!(las.pop(), Some(task(0).id));
    las.push(task(0), Ready::Yielded);
    las.timed(task(0), 1);
    assert_eq!(drain(&mut las), [1, 0]);
}

#[test]
fn one_that_goes_on_alone_begins_another_turn() {
    let mut las = Las::new().with_fair_turns(FairTurns::NEVER);
    (0..2).for_each(|slot| las.timed(task(slot), 1 << 30));
    spawn(&mut las, [task(0)]);
    assert_eq!(las.pop(), Some(task(0).id));
    las.timed(task(0), 2_000);
    assert_eq!(las.push_pop(task(0)), Some(task(0).id));
    las.push(task(1), Ready::Woken);
    las.timed(task(0), 1_023);
    assert_eq!(las.push_pop(task(0)), Some(task(0).id));
    las.timed(task(0), 1);
    assert_eq!(las.push_pop(task(0)), Some(task(1).id));
}

#[test]
fn service_that_no_pop_announced_moves_a_group_too() {
    let mut las = strict();
    spawn(&mut las, (0..4).map(task));
    las.timed(task(1), 5);
    las.timed(task(0), 6);
    las.timed(task(2), 0); // not to another bucket, so it keeps its place
    assert_eq!(drain(&mut las), [2, 3, 1, 0]);
}

/// Whether a group with `less` goes before one with `more` that became ready first.
fn told_apart(resolution_ns: u64, less: u64, more: u64) -> bool {
    let mut las = Las::new().with_resolution_ns(resolution_ns).with_fair_turns(FairTurns::NEVER);
    las.timed(task(0), more);
    las.timed(task(1), less);
    spawn(&mut las, [task(0), task(1)]);
    let apart = las.pop() == Some(task(1).id);
    drain(&mut las);
    spawn(&mut las, [task(1), task(0)]);
    assert_eq!(drain(&mut las), [1, 0], "{less} against {more}, and ready before it");
    apart
}

#[test]
fn the_resolution_is_rounded_down_to_a_power_of_two() {
    assert_eq!(Las::new().resolution_ns(), 1_024);
    let resolutions =
        [0, 1, 2, 3, 1_000, 1_024, u64::MAX].map(|ns| Las::new().with_resolution_ns(ns).resolution_ns());
    assert_eq!(resolutions, [1, 1, 2, 2, 512, 1_024, 1 << 63]);
}

#[test]
fn buckets_are_one_resolution_wide_below_128() {
    for width in [1, 1_024, 1 << 40] {
        for start in (1..=128).map(|units| units * width) {
            assert!(told_apart(width, start - 1, start), "{start}");
            assert!(!told_apart(width, start - width, start - 1), "{start}");
        }
    }
}

#[test]
fn each_power_of_two_has_64_buckets_from_there_on() {
    for resolution in [0, 10, 40] {
        for start in (resolution + 7..64).map(|bits| 1_u64 << bits) {
            let (width, before) = (start / 64, start / 128);
            let apart = |less, more| told_apart(1 << resolution, less, more);
            assert!(apart(start - 1, start) && apart(start - before - 1, start - before), "{start}");
            assert!(!apart(start - before, start - 1), "the last one below {start}");
            for nth in [0, 1, 31, 63] {
                let (first, last) = (start + nth * width, start + nth * width + (width - 1));
                assert!(!apart(first, last) && apart(first - 1, first), "bucket {nth} from {start}");
                assert!(last == u64::MAX || apart(last, last + 1), "bucket {nth} from {start}");
            }
        }
    }
}

/// Numbers of all magnitudes.
fn magnitudes() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(ns, shift)| ns >> shift)
}

/// What the bucket of `ns` begins with: the seven leading bits, but no finer than the resolution.
fn floor(ns: u64, resolution_ns: u64) -> u64 {
    let width = (1_u64 << ns.max(1).ilog2() >> 6).max(resolution_ns);
    ns / width * width
}

proptest! {
    #[test]
    fn more_is_never_first_and_is_told_apart_as_documented(
        less in magnitudes(),
        difference in magnitudes(),
        bits in 0..64_u32,
    ) {
        let (resolution, more) = (1 << bits, less.saturating_add(difference));
        let apart = told_apart(resolution, less, more);
        prop_assert_eq!(apart, floor(less, resolution) != floor(more, resolution));
        prop_assert!(apart || more - less < resolution.max(less / 64));
    }
}

#[test]
fn a_group_closed_while_ready_starts_from_nothing_too() {
    let mut las = strict();
    las.timed(task(0), 1_000);
    las.timed(task(1), 10);
    spawn(&mut las, [task(0), task(1)]);
    las.group_closed(GroupId::new(0));
    assert_eq!(drain(&mut las), [0, 1]);
}

#[test]
fn attained_service_saturates() {
    let mut las = strict();
    spawn(&mut las, [task(0), task(1)]);
    assert_eq!(poll(&mut las, 0, u64::MAX), 0);
    assert_eq!(poll(&mut las, 1, u64::MAX / 2), 1);
    assert_eq!(poll(&mut las, 1, u64::MAX), 1);
    assert_eq!([0, 1].map(|group| las.attained_ns(GroupId::new(group))), [u64::MAX; 2]);
    assert_eq!(poll(&mut las, 0, 1), 0, "equal, and ready for longer");
    assert_eq!(poll(&mut las, 1, 1), 1);
    assert_eq!([0, 1].map(|group| las.attained_ns(GroupId::new(group))), [u64::MAX; 2]);
}

#[test]
fn peek_looks_ahead_in_the_lowest_bucket() {
    let mut las = strict();
    assert_eq!(ahead(&las), []);
    las.timed(task(9), 1);
    spawn(&mut las, [task(4), task(9), task(2), task(7)]);
    assert_eq!(ahead(&las), [4, 2, 7]);
    assert_eq!(las.pop(), Some(task(4).id));
    assert_eq!(ahead(&las), [2, 7]);
    assert_eq!(drain(&mut las), [2, 7, 9]);
}

/// With G groups and k tasks ahead in its own, a task is popped within N·G·(k + 1) pops, against groups that are always
/// preferred.
#[test]
fn an_old_group_waits_no_longer_than_the_bound() {
    const EVERY: u64 = 5;
    for (groups, ahead) in [(1, 0), (2, 0), (2, 3), (7, 0), (7, 4), (130, 2)] {
        let mut las = with_turns(EVERY as u32);
        let old = |n: u32| member(1_000 + n, groups - 1);
        las.timed(old(0), u64::MAX);
        spawn(&mut las, (0..=ahead).map(old));
        spawn(&mut las, (0..groups - 1).map(task));
        let bound = |ahead: u32| EVERY * u64::from(groups) * (u64::from(ahead) + 1);
        let mut waits = Vec::new();
        for pops in 1..=bound(ahead) {
            match las.pop().map(|id| id.slot() as u32) {
                Some(slot @ ..1_000) => poll_of(&mut las, task(slot), 1),
                Some(_) => waits.push(pops),
                None => break,
            }
        }
        let bounds: Vec<u64> = (0..=ahead).map(bound).collect();
        let is_within =
            waits.len() == bounds.len() && waits.iter().zip(&bounds).all(|(wait, bound)| wait <= bound);
        assert!(is_within, "{groups} groups: {waits:?}, bounds {bounds:?}");
        // The bound is not idle: it is met to within a round less a turn.
        assert!(groups == 1 || waits[0] > EVERY * u64::from(groups - 2), "{groups}: {waits:?}");
    }
}
