//! `Priority`: levels from outside, FIFO inside them, aging.

use clockworker_schedulers::{Attributes, FairTurns, GroupId, Priority, Ready, Scheduler};

use super::script::{Told, drain, every, member, spawn, task, trace};
use super::search::Search;

fn priority(priority: i8) -> Attributes {
    Attributes::new().with_priority(priority)
}

fn strict() -> Priority {
    Priority::new().with_fair_turns(FairTurns::NEVER)
}

fn with_turns(pops: u32) -> Priority {
    Priority::new().with_fair_turns(every(pops))
}

/// Spawns a task with a priority of its own for each, in slots from `first` on.
fn spawn_with(policy: &mut Priority, first: u32, priorities: &[i8]) {
    for (slot, &own) in (first..).zip(priorities) {
        policy.spawned(task(slot), &priority(own));
        policy.push(task(slot), Ready::Spawned);
    }
}

#[test]
fn the_highest_goes_first_from_end_to_end_of_the_range() {
    let mut policy = strict();
    spawn_with(&mut policy, 0, &[-128, 0, 127, 1, -1, 63, 64]);
    assert_eq!(drain(&mut policy), [2, 6, 5, 3, 1, 4, 0]);
    assert_eq!(policy.pop(), None);
}

#[test]
fn a_priority_is_the_tasks_own_or_its_groups_or_none() {
    let mut policy = strict();
    policy.group_opened(GroupId::new(5), 500, &priority(9));
    policy.spawned(member(1, 5), &priority(-3));
    policy.spawned(member(2, 5), &Attributes::new().with_tag(1));
    policy.spawned(member(3, 5), &priority(0));
    let tasks = [member(0, 5), member(1, 5), member(2, 5), member(3, 5), member(4, 6)];
    assert_eq!(tasks.map(|task| policy.priority(task)), [9, -3, 9, 0, 0]);
    spawn(&mut policy, tasks);
    assert_eq!(drain(&mut policy), [0, 2, 3, 4, 1]);
}

#[test]
fn a_group_inherits_nothing_from_one_that_had_its_index() {
    let mut policy = strict();
    policy.group_opened(GroupId::new(0), 1, &priority(9));
    assert_eq!(policy.priority(task(0)), 9);
    policy.group_closed(GroupId::new(0));
    assert_eq!(policy.priority(task(0)), 0);
    policy.group_opened(GroupId::new(0), 2, &Attributes::new());
    assert_eq!(policy.priority(task(0)), 0);
}

#[test]
fn a_change_moves_ready_tasks_to_where_they_would_be() {
    let mut policy = strict();
    policy.spawned(member(4, 1), &priority(0));
    spawn(&mut policy, [member(0, 1), task(2), member(3, 1), member(4, 1)]);
    spawn_with(&mut policy, 5, &[2]);
    spawn(&mut policy, [member(6, 1)]);
    policy.group_changed(GroupId::new(1), &priority(2));
    // 0 and 3 became ready before 5, and 6 after it; 4 has its own.
    let mut raised = policy.clone();
    assert_eq!(drain(&mut raised), [0, 3, 5, 6, 2, 4]);
    policy.group_changed(GroupId::new(1), &priority(0));
    assert_eq!(drain(&mut policy), [5, 0, 2, 3, 4, 6], "as if nothing had been");
}

#[test]
fn a_change_of_nothing_else_moves_nothing() {
    let mut policy = strict();
    policy.group_opened(GroupId::new(1), 1, &priority(4));
    spawn(&mut policy, [member(0, 1), task(2), member(3, 1)]);
    policy.group_changed(GroupId::new(1), &priority(4).with_tag(9));
    assert_eq!(drain(&mut policy), [0, 3, 2]);
}

#[test]
fn the_default_is_one_in_32_for_the_one_that_was_ready_longest() {
    let mut policy = Priority::new();
    spawn_with(&mut policy, 0, &[-1, -9, 5]);
    let trace = trace(&mut policy, 128, |_| 10);
    let others: Vec<_> = trace.into_iter().enumerate().filter(|(_, slot)| *slot != 2).collect();
    assert_eq!(others, [(31, 0), (63, 1), (95, 0), (127, 1)]);
}

/// Lower tasks get no more than in FIFO order either.
#[test]
fn a_turn_goes_to_the_highest_level_if_its_first_was_ready_longest() {
    let mut policy = with_turns(2);
    spawn_with(&mut policy, 0, &[5, 5, 5, 5, 0]);
    assert_eq!(trace(&mut policy, 10, |_| 10), [0, 1, 2, 3, 0, 4, 1, 2, 3, 0]);
}

#[test]
fn a_level_alone_is_fifo_and_counts_nothing() {
    let mut policy = with_turns(4);
    spawn(&mut policy, (0..3).map(task));
    assert_eq!(trace(&mut policy, 9, |_| 0), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    spawn_with(&mut policy, 3, &[1]);
    assert_eq!(trace(&mut policy, 9, |_| 10), [3, 3, 3, 0, 3, 3, 3, 1, 3]);
}

/// Polls of 10 ms on a low level beside polls of 10 µs on a high one: one part in 32 of the time, where by pops it would be
/// most of it.
#[test]
fn long_polls_of_low_levels_are_paid_for_by_time() {
    let service = |slot| if slot == 0 { 10_000_000 } else { 10_000 };
    let mut policy = Priority::new();
    spawn_with(&mut policy, 0, &[0, 1]);
    let trace = trace(&mut policy, 1_000_000, service);
    let low: u64 = trace.iter().map(|&slot| if slot == 0 { service(0) } else { 0 }).sum();
    let all: u64 = trace.iter().map(|&slot| service(slot)).sum();
    assert!((all - low) / 31 <= low + 10_000_000 && low <= (all - low) / 31 + 10_000_000, "{low} of {all}");
}

/// However long turns take: the bound of the documentation, to the pop.
#[test]
fn after_1_024_times_as_many_pops_a_turn_comes_in_any_case() {
    const EVERY: usize = 3;
    let mut policy = with_turns(EVERY as u32);
    spawn(&mut policy, (0..4).map(task));
    spawn_with(&mut policy, 4, &[1]);
    let trace = trace(&mut policy, 4 * 1_024 * EVERY, |slot| if slot == 4 { 0 } else { 1_000_000_000 });
    let low: Vec<_> = trace.into_iter().enumerate().filter(|(_, slot)| *slot != 4).collect();
    assert_eq!(low, [0, 1, 2, 3].map(|slot| (EVERY - 1 + slot * 1_024 * EVERY, slot)));
}

#[test]
fn no_program_makes_a_task_wait_for_longer_than_the_bound() {
    let levels = |priorities: &[i8]| priorities.iter().copied().map(priority).collect::<Vec<_>>();
    // The highest levels, as worlds with them are copied fastest.
    let (two, three) = (levels(&[126, 127]), levels(&[126, 127, 125]));
    for (pops, tasks, attributes, longest) in [(2, 3, three.clone(), 5), (3, 3, three, 7), (2, 4, two, 7)] {
        let search = Search {
            policy: with_turns(pops),
            tasks,
            attributes,
            changes: true,
            victim_changes: true,
            until_ns: 0,
        };
        let most = search.longest_wait(|world| u64::from(pops) * world.ready().count() as u64);
        assert_eq!(most, longest, "N = {pops}, {tasks} tasks");
    }
}
