//! `Deadline`: earliest deadline first, late ones, those without.

use clockworker_schedulers::{Attributes, Deadline, FairTurns, GroupId, Late, Ready, Scheduler};

use super::script::{Told, ahead, drain, every, member, spawn, task, trace};
use super::search::Search;

fn due(deadline_ns: u64) -> Attributes {
    Attributes::new().with_deadline_ns(deadline_ns)
}

fn strict() -> Deadline {
    Deadline::new().with_fair_turns(FairTurns::NEVER)
}

fn behind() -> Deadline {
    strict().with_late(Late::Behind)
}

fn with_turns(pops: u32) -> Deadline {
    Deadline::new().with_fair_turns(every(pops))
}

/// Spawns a task for each deadline, or for `None` one without, in slots from 0 on.
fn spawn_due(policy: &mut Deadline, deadlines: &[Option<u64>]) {
    for (slot, deadline_ns) in (0..).zip(deadlines) {
        if let Some(deadline_ns) = deadline_ns {
            policy.spawned(task(slot), &due(*deadline_ns));
        }
        policy.push(task(slot), Ready::Spawned);
    }
}

#[test]
fn the_earliest_deadline_goes_first_and_those_without_come_last() {
    let mut policy = strict();
    spawn_due(&mut policy, &[None, Some(u64::MAX), Some(7), None, Some(0), Some(9)]);
    assert_eq!(drain(&mut policy), [4, 2, 5, 1, 0, 3]);
    assert_eq!(policy.pop(), None);
}

#[test]
fn a_deadline_is_the_tasks_own_or_its_groups_or_none() {
    let mut policy = strict();
    policy.group_opened(GroupId::new(5), 500, &due(70));
    policy.spawned(member(1, 5), &due(90));
    policy.spawned(member(2, 5), &Attributes::new().with_tag(1));
    let tasks = [member(0, 5), member(1, 5), member(2, 5), member(3, 6)];
    assert_eq!(tasks.map(|task| policy.deadline_ns(task)), [Some(70), Some(90), Some(70), None]);
    spawn(&mut policy, tasks);
    assert_eq!(drain(&mut policy), [0, 2, 1, 3]);
}

#[test]
fn a_group_inherits_nothing_from_one_that_had_its_index() {
    let mut policy = strict();
    policy.group_opened(GroupId::new(0), 1, &due(9));
    assert_eq!(policy.deadline_ns(task(0)), Some(9));
    policy.group_closed(GroupId::new(0));
    assert_eq!(policy.deadline_ns(task(0)), None);
    policy.group_opened(GroupId::new(0), 2, &Attributes::new());
    assert_eq!(policy.deadline_ns(task(0)), None);
}

#[test]
fn a_change_moves_ready_tasks_to_where_they_would_be() {
    let mut policy = behind();
    policy.spawned(member(4, 1), &due(50));
    spawn(&mut policy, [member(0, 1), task(2), member(3, 1), member(4, 1)]);
    policy.spawned(task(5), &due(20));
    spawn(&mut policy, [task(5), member(6, 1)]);
    let unchanged = policy.clone();
    policy.group_changed(GroupId::new(1), &due(20));
    // 0 and 3 became ready before 5, and 6 after it; 4 has its own.
    assert_eq!(drain(&mut policy.clone()), [0, 3, 5, 6, 4, 2]);
    policy.time_is(21);
    let mut late = policy.clone();
    assert_eq!(late.pop(), Some(task(4).id), "the others are late");
    late.group_changed(GroupId::new(1), &due(21));
    assert_eq!(drain(&mut late), [0, 3, 6, 5, 2]);
    policy.group_changed(GroupId::new(1), &Attributes::new());
    assert_eq!(drain(&mut policy), [4, 5, 0, 2, 3, 6]);
    assert_eq!(drain(&mut unchanged.clone()), [5, 4, 0, 2, 3, 6], "as if nothing had been");
}

#[test]
fn in_order_late_ones_go_first_and_behind_they_wait() {
    let deadlines = [Some(30), Some(10), None, Some(20), Some(11)];
    for (mut policy, order) in [(strict(), [1, 4, 3, 0, 2]), (behind(), [3, 0, 1, 4, 2])] {
        spawn_due(&mut policy, &deadlines);
        policy.time_is(20);
        policy.time_is(3); // as no clock does; it stays where it was
        assert_eq!(drain(&mut policy), order);
    }
}

#[test]
fn a_late_task_that_yields_goes_on_before_later_ones_and_behind_timely_ones() {
    let mut policy = behind();
    spawn_due(&mut policy, &[Some(10), Some(11), None]);
    policy.time_is(12);
    assert_eq!(policy.pop(), Some(task(0).id));
    assert_eq!(policy.push_pop(task(0)), Some(task(0).id));
    policy.spawned(task(3), &due(12));
    policy.push(task(3), Ready::Spawned);
    assert_eq!(policy.push_pop(task(0)), Some(task(3).id), "due now, and not late yet");
    policy.time_is(13);
    assert_eq!(policy.push_pop(task(3)), Some(task(0).id));
    assert_eq!(drain(&mut policy), [1, 3, 2]);
}

/// One long task that cannot be met, and ten short ones that can: the domino effect, and its cure.
#[test]
fn under_overload_in_order_misses_all_and_behind_only_the_hopeless() {
    for (mut policy, met) in [(strict(), 0), (behind(), 10)] {
        let deadlines: Vec<_> = core::iter::once(5).chain(7..17).map(Some).collect();
        spawn_due(&mut policy, &deadlines);
        let (mut now_ns, mut left, mut in_time) = (0, [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 0);
        while let Some(id) = policy.pop() {
            now_ns += 1;
            policy.time_is(now_ns);
            left[id.slot()] -= 1;
            if left[id.slot()] > 0 {
                policy.push(task(id.slot() as u32), Ready::Yielded);
            } else if Some(now_ns) <= deadlines[id.slot()] {
                in_time += 1;
            }
        }
        assert_eq!((in_time, now_ns), (met, 20), "{policy:?}");
    }
}

#[test]
fn the_default_is_one_pop_in_32_for_those_without_deadlines() {
    let mut policy = Deadline::new();
    spawn_due(&mut policy, &[Some(5), None, None]);
    let others: Vec<_> =
        trace(&mut policy, 128, |_| 10).into_iter().enumerate().filter(|(_, slot)| *slot != 0).collect();
    assert_eq!(others, [(31, 1), (63, 2), (95, 1), (127, 2)]);
}

#[test]
fn late_ones_and_those_without_take_turns() {
    let mut policy = with_turns(3).with_late(Late::Behind);
    spawn_due(&mut policy, &[None, Some(1), Some(2), Some(100)]);
    policy.time_is(50);
    assert_eq!(trace(&mut policy, 12, |_| 10), [3, 3, 1, 3, 3, 0, 3, 3, 1, 3, 3, 0]);
    let mut policy = with_turns(3).with_late(Late::Behind);
    spawn_due(&mut policy, &[Some(1), Some(100)]);
    policy.time_is(50);
    assert_eq!(trace(&mut policy, 6, |_| 10), [1, 1, 0, 1, 1, 0]);
}

/// A poll of 1 µs without a deadline beside polls of 10 ns that have one.
#[test]
fn turns_are_paid_for_by_time() {
    let mut policy = with_turns(3);
    spawn_due(&mut policy, &[None, Some(1)]);
    let trace = trace(&mut policy, 1_000, |slot| if slot == 0 { 1_000 } else { 10 });
    let turns: Vec<usize> = (0..1_000).filter(|&poll| trace[poll] == 0).collect();
    assert_eq!(turns, [2, 203, 404, 605, 806], "200 polls between two");
}

#[test]
fn tasks_with_deadlines_alone_have_no_turns() {
    let mut policy = with_turns(2);
    spawn_due(&mut policy, &[Some(2), Some(1)]);
    assert_eq!(trace(&mut policy, 100, |_| 10), [1; 100]);
}

/// The victim has no deadline; the others have one, or another, or none, as it was or as the adversary has it.
#[test]
fn no_program_makes_a_task_without_deadline_wait_for_longer_than_the_bound() {
    for (pops, tasks, late, changes, longest) in [
        (2, 4, Late::InOrder, false, 6),
        (3, 3, Late::InOrder, true, 7),
        (2, 4, Late::Behind, false, 12),
        (3, 3, Late::Behind, true, 13),
    ] {
        let search = Search {
            policy: with_turns(pops).with_late(late),
            tasks,
            attributes: vec![Attributes::new(), due(1), due(3)],
            changes,
            victim_changes: false,
            until_ns: 3,
        };
        let turns = if late == Late::Behind { 2 } else { 1 };
        // Where attributes change, a task that was ready before it may be given a place before it.
        let before = |has: &usize| changes || *has == 0;
        let most = search
            .longest_wait(|world| turns * u64::from(pops) * world.ready().filter(before).count() as u64);
        assert_eq!(most, longest, "N = {pops}, {tasks} tasks, {late:?}, changes: {changes}");
    }
}

#[test]
fn who_is_next_is_known_at_once() {
    let mut policy = behind();
    assert_eq!(ahead(&policy), []);
    spawn_due(&mut policy, &[None, Some(9), None, Some(7)]);
    assert_eq!(ahead(&policy), [3]);
    policy.time_is(10);
    assert_eq!(policy.pop(), Some(task(3).id));
    assert_eq!(ahead(&policy), [1]);
    assert_eq!(policy.pop(), Some(task(1).id));
    assert_eq!(ahead(&policy), [0, 2]);
}

#[test]
fn the_rule_may_change_midway() {
    let mut policy = behind();
    spawn_due(&mut policy, &[Some(1), Some(2), Some(3)]);
    policy.time_is(3);
    assert_eq!(policy.pop(), Some(task(2).id));
    let mut policy = policy.with_late(Late::InOrder);
    policy.push(task(2), Ready::Yielded);
    assert_eq!(drain(&mut policy), [0, 1, 2]);
}
