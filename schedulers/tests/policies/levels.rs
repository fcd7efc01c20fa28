//! What `Qlas` and `Serpt` have in common: levels in powers of two of attained service, and fair turns that go round them.

use clockworker_schedulers::{FairTurns, Qlas, Ready, Scheduler, Serpt};

use super::script::{Told, ahead, drain, every, member, poll_of, spawn, task, trace};
use super::serpt::{bimodal, taught};

#[test]
fn the_base_is_rounded_down_to_a_power_of_two() {
    let bases = [0, 1, 2, 3, 1_000, 1_024, u64::MAX];
    let rounded = [2, 2, 2, 2, 512, 1_024, 1 << 63];
    assert_eq!(bases.map(|ns| Qlas::new().with_base_ns(ns).base_ns()), rounded);
    assert_eq!(bases.map(|ns| Serpt::new().with_base_ns(ns).base_ns()), rounded);
    assert_eq!([Qlas::new().base_ns(), Serpt::new().base_ns()], [16_384; 2]);
}

#[test]
fn a_group_moves_with_all_its_ready_tasks() {
    fn check(mut policy: impl Scheduler) {
        spawn(&mut policy, [member(0, 5), member(1, 5), member(2, 6), member(3, 5)]);
        assert_eq!(policy.pop(), Some(member(0, 5).id));
        policy.timed(member(0, 5), 70); // level 3
        policy.push(member(0, 5), Ready::Yielded);
        spawn(&mut policy, [member(4, 7)]);
        assert_eq!(drain(&mut policy), [2, 4, 1, 3, 0]);
    }
    check(Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER));
    check(taught(bimodal()));
}

/// One poll of each of its tasks after the other, until the group leaves its level.
#[test]
fn a_group_of_many_tasks_goes_on_too() {
    fn check(mut policy: impl Scheduler) {
        spawn(&mut policy, [member(0, 5), member(1, 6), member(2, 5)]);
        let mut popped = Vec::new();
        for _ in 0..8 {
            let slot = policy.pop().unwrap().slot() as u32;
            popped.push(slot);
            poll_of(&mut policy, member(slot, 6 - (slot + 1) % 2), 5);
        }
        // To 20 of 16, behind the other one, and on to 40 of 32.
        assert_eq!(popped, [0, 2, 0, 2, 1, 1, 1, 1]);
        assert_eq!(policy.pop(), Some(member(0, 5).id));
        policy.push(member(9, 9), Ready::Woken);
        assert_eq!(drain(&mut policy), [9, 2, 1], "and goes on when one with less has interrupted it");
    }
    check(Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER));
    check(Serpt::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER));
}

#[test]
fn peek_looks_ahead_in_the_lowest_level() {
    fn check(mut policy: impl Scheduler) {
        assert_eq!(ahead(&policy), []);
        policy.timed(task(9), 16); // level 1
        spawn(&mut policy, [task(4), task(9), task(2)]);
        assert_eq!(ahead(&policy), [4, 2]);
        assert_eq!([policy.pop(), policy.pop()], [Some(task(4).id), Some(task(2).id)]);
        assert_eq!(ahead(&policy), [9]);
        policy.timed(member(5, 5), 8);
        spawn(&mut policy, [member(5, 5), member(6, 5), member(7, 7)]);
        assert_eq!([0, 1, 2].map(|ahead| policy.peek(ahead).map(|id| id.slot())), [Some(5), Some(6), None]);
    }
    check(Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER));
    check(Serpt::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER));
}

/// Of `places` more than the tasks ahead of it in its level, in all levels M: a task is popped within M times as many fair turns,
/// which is N pops for each, where no poll takes time.
fn waits_no_longer_than<S: Scheduler>(places: u64, make: fn() -> S, with_turns: fn(S, FairTurns) -> S) {
    const EVERY: u64 = 5;
    for (levels, per_level) in [(1, 1), (1, 6), (2, 1), (2, 5), (9, 3), (60, 2)] {
        let mut policy = make();
        for level in 1..levels {
            (0..per_level).for_each(|n| policy.timed(task(level * per_level + n), 1 << level));
        }
        let mut policy = with_turns(policy, every(EVERY as u32));
        let tasks = levels * per_level;
        spawn(&mut policy, (0..tasks).map(task));
        let mut first = vec![0; tasks as usize];
        let mut pops = 0;
        while first.contains(&0) {
            let slot = trace(&mut policy, 1, |_| 0)[0];
            pops += 1;
            first[slot] = if first[slot] == 0 { pops } else { first[slot] };
        }
        let round = EVERY * u64::from(levels);
        for (slot, &pops) in first.iter().enumerate() {
            let bound = round * (slot as u64 % u64::from(per_level) + places);
            assert!(pops <= bound, "slot {slot} of {levels} × {per_level}: {pops} pops, bound {bound}");
        }
        // The bound is not idle: the last one comes near to it.
        assert!(pops + (places + 1) * round >= round * u64::from(per_level), "{pops}");
    }
}

#[test]
fn a_task_waits_no_longer_than_the_bound() {
    waits_no_longer_than(1, || Qlas::new().with_base_ns(2).without_half_life(), Qlas::with_fair_turns);
    // The first of a level may be passed over once.
    waits_no_longer_than(2, || Serpt::new().with_base_ns(2).without_half_life(), Serpt::with_fair_turns);
}
