//! What an operation moves, and the memory that a burst leaves.

use super::levels::Levels;
use super::*;
use crate::policies::by_attained::las::Resolution;
use crate::policies::by_attained::serpt::Expected;

/// What one pop may move where nothing is halved or learnt: the group popped from, one that is interrupted, and one that was served.
const FEW: u32 = 3;

fn task(slot: u32, group: u32) -> Task {
    Task { id: TaskId::new(slot, 0), group: GroupId::new(group) }
}

/// Pops and pushes again so many times, with `group` of a slot: the most moves of one of them, with what it took its poll.
fn most_moves<R: Rank>(
    policy: &mut ByAttained<R>,
    polls: u32,
    service_ns: u64,
    group: impl Fn(u32) -> u32,
) -> u32 {
    let mut popped = policy.pop();
    let moves = |_| {
        let before = policy.groups.moves;
        let slot = popped.unwrap().slot() as u32;
        policy.serve(task(slot, group(slot)).group, service_ns);
        popped = policy.push_pop(task(slot, group(slot)));
        policy.groups.moves - before
    };
    let most = (0..polls).map(moves).max().unwrap();
    policy.push(task(popped.unwrap().slot() as u32, group(popped.unwrap().slot() as u32)), Ready::Yielded);
    most
}

/// Every third task is of group 1, of which 100,000 are ready; the others are of 300 other groups.
fn group_of(slot: u32) -> u32 {
    if slot.is_multiple_of(3) { 1 } else { 2 + slot % 300 }
}

#[test]
fn no_pop_moves_the_tasks_of_a_group() {
    fn check<R: Rank>(rank: R) {
        for fair_turns in [FairTurns::NEVER, FairTurns::DEFAULT] {
            let mut policy = ByAttained::new(rank.clone()).with_fair_turns(fair_turns);
            (0..300_000).for_each(|slot| policy.push(task(slot, group_of(slot)), Ready::Spawned));
            // Through all levels: 2 µs, 33 µs, 1 ms, and to the end of half-lives.
            for (polls, service_ns) in [(3_000, 2_000), (20_000, 33_000), (20_000, 1_000_000)] {
                let halvings = policy.half_life().halvings();
                let before = policy.rank.bucket(policy.attained_ns(GroupId::new(1)));
                let most = most_moves(&mut policy, polls, service_ns, group_of);
                let may = if policy.half_life().halvings() == halvings { FEW } else { FEW + BUCKETS };
                assert!(most <= may, "{most} moves");
                let after = policy.rank.bucket(policy.attained_ns(GroupId::new(1)));
                assert!(after != before, "it went from one level to another");
            }
            assert!(policy.half_life().halvings() > 10);
        }
    }
    check(Resolution { bits: 10 });
    check(Levels::DEFAULT);
    check(Expected::new());
}

/// Where 100,000 groups wait in one rank that is parted, each pop moves 64 of them on at most.
#[test]
fn what_was_learnt_moves_few_groups_at_a_time() {
    let rank = Expected::new();
    let mut policy = ByAttained::new(rank).with_half_life(HalfLife::NEVER).with_fair_turns(FairTurns::NEVER);
    let teach = |policy: &mut ByAttained<Expected>, ns: u64| {
        policy.serve(task(1, 1).group, ns);
        policy.close(GroupId::new(1));
    };
    (0..2_000).for_each(|_| teach(&mut policy, 10_000_000));
    let groups = 2..100_002;
    for group in groups.clone() {
        policy.serve(task(group, group).group, 1_000_000);
        policy.push(task(group, group), Ready::Woken);
    }
    policy.push(task(0, 0), Ready::Woken);
    assert_eq!(policy.groups.first(0), Some(groups.start), "all are of one rank");
    (0..200_000_u32).for_each(|n| teach(&mut policy, 16_384 << n.trailing_zeros().min(14)));
    assert_eq!(policy.rank.bucket(1_000_000), 64 * 6, "no more");
    let before = policy.groups.moves;
    let popped: Vec<usize> = core::iter::from_fn(|| {
        let before = policy.groups.moves;
        let popped = policy.pop();
        assert!(policy.groups.moves - before <= MOST_MOVED as u32);
        popped.map(TaskId::slot)
    })
    .collect();
    assert_eq!((popped.len(), policy.groups.moves > before + 90_000), (100_001, true));
    let early = popped.iter().position(|&slot| slot == 0).unwrap();
    assert!(early < 100_000 / MOST_MOVED, "{early} before the one that has attained nothing");
}

#[test]
fn the_memory_of_a_burst_is_given_back_but_for_what_groups_have_attained() {
    fn check<R: Rank>(rank: R) {
        let mut policy = ByAttained::new(rank);
        let (burst, last) = (4 * KEPT as u32, KEPT as u32 + 9);
        policy.open(GroupId::new(last), 7);
        for _ in 0..2 {
            // Two of each group but one, so that tasks are linked.
            (0..burst).for_each(|slot| policy.push(task(slot, slot / 2), Ready::Spawned));
            (0..burst).for_each(|slot| policy.push(task(burst + slot, burst + slot), Ready::Spawned));
            while let Some(popped) = policy.pop() {
                let slot = popped.slot() as u32;
                let group = if slot < burst { slot / 2 } else { slot };
                policy.serve(task(slot, group).group, 100);
                if group != last {
                    policy.close(GroupId::new(group));
                }
            }
            policy.drained();
            assert_eq!((policy.groups.capacity(), policy.tasks.capacity()), (last as usize + 1, KEPT));
            assert_eq!(policy.inside.next_after(0), None);
        }
        assert_eq!(policy.attained_ns(GroupId::new(last)), 400, "two tasks, each twice");
        policy.close(GroupId::new(last));
        policy.push(task(burst, 1), Ready::Spawned);
        policy.drained();
        assert_eq!(policy.pop(), Some(task(burst, 1).id), "a call at a wrong time");
    }
    check(Resolution { bits: 10 });
    check(Levels::DEFAULT);
    check(Expected::new());
}
