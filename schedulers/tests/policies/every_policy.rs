//! What can be asked of every policy: what it reads, what it promises, how it looks, and that wrong calls do no harm.

use core::fmt::Debug;

use clockworker_schedulers::{
    Deadline, FairGroups, FairTurns, GroupId, Las, Priority, Qlas, Ready, RunnableFifo, Scheduler, Serpt,
    Task, TaskId, WokenFirst,
};
use proptest::prelude::*;

use super::script::{drain, every, member, spawn, task};
use super::world::attributes;

// ---- What it reads

/// Whether it needs service, wants time, wants the clock.
fn reads<S: Scheduler>(_: S) -> [bool; 3] {
    [S::NEEDS_SERVICE, S::WANTS_TIME, S::WANTS_CLOCK]
}

#[test]
fn those_that_do_not_go_by_service_read_no_clock() {
    assert_eq!(reads(RunnableFifo::new()), [false, false, false]);
    assert_eq!(reads(WokenFirst::new()), [false, true, false]);
    assert_eq!(reads(Priority::new()), [false, true, false]);
    assert_eq!(reads(Deadline::new()), [false, true, true]);
}

// ---- What it promises

/// What every policy is granted besides the bound on waiting.
const SLACK: u64 = 65_536;

/// What the policies with such fair turns promise for so many tasks: LAS, QLAS, SERPT, Priority.
fn promises(fair_turns: &FairTurns, tasks: usize) -> [Option<u64>; 4] {
    let turns = || fair_turns.clone();
    [
        Las::new().with_fair_turns(turns()).patience(tasks),
        Qlas::new().with_fair_turns(turns()).patience(tasks),
        Serpt::new().with_fair_turns(turns()).patience(tasks),
        Priority::new().with_fair_turns(turns()).patience(tasks),
    ]
}

/// The bounds on waiting that their documentation gives.
#[test]
fn the_bound_of_each_policy_is_within_its_patience() {
    for (n, turns) in [(32, FairTurns::default()), (1_000, every(1_000))] {
        for tasks in [1_u64, 10, 1_000] {
            // Fair turns until it is popped. Each comes after 2¹⁸·N pops at most, and the first after as many.
            let pops = |fair_turns: u64| SLACK + (n << 18) * (fair_turns + 1);
            // Half of the tasks in its group and the others in one each, of up to 64 levels; with one passed over.
            let levels = |tasks: u64| tasks.min(64) * (tasks + 1).div_ceil(2).pow(2);
            let [las, qlas, serpt] = [tasks * tasks, levels(tasks), levels(tasks + 1)].map(pops);
            let priority = SLACK + 1_024 * n * tasks;
            let of = usize::try_from(tasks).unwrap();
            assert_eq!(promises(&turns, of), [las, qlas, serpt, priority].map(Some));
            assert_eq!(RunnableFifo::new().patience(of), Some(SLACK + tasks));
            assert_eq!(WokenFirst::new().patience(of), Some(SLACK + 32 * tasks));
            assert_eq!(Deadline::new().patience(of), None);
        }
    }
}

#[test]
fn without_fair_turns_nothing_is_promised() {
    assert_eq!(promises(&FairTurns::NEVER, 3), [None; 4]);
}

#[test]
fn no_number_of_tasks_is_too_large() {
    let most = usize::MAX;
    assert_eq!(promises(&FairTurns::default(), most), [Some(u64::MAX); 4]);
    let others = [
        RunnableFifo::new().patience(most),
        WokenFirst::new().patience(most),
        FairGroups::new().patience(most),
    ];
    assert_eq!(others, [Some(u64::MAX); 3]);
}

/// Has what every scheduler must have, and no task.
struct Bare;

impl Scheduler for Bare {
    fn push(&mut self, _: Task, _: Ready) {}

    fn pop(&mut self) -> Option<TaskId> {
        None
    }
}

#[test]
fn unless_a_scheduler_says_otherwise_nothing_is_promised() {
    assert_eq!(Bare.patience(1_000), None);
}

// ---- How it looks

/// How a policy looks with 5,000 ready tasks, one of which has had a millisecond. It works as before when all have left.
fn look(mut policy: impl Scheduler + Debug) -> String {
    policy.served(task(0), 1, 1 << 20);
    spawn(&mut policy, (0..5_000).map(task));
    let looks = format!("{policy:?}");
    assert!(looks.len() < 300, "{looks}");
    assert_eq!(drain(&mut policy).len(), 5_000);
    policy.drained();
    spawn(&mut policy, [task(2), task(1)]);
    assert_eq!(drain(&mut policy), [2, 1]);
    looks
}

#[test]
fn debug_is_short_however_many_tasks_there_are() {
    assert_eq!(look(RunnableFifo::new()), "RunnableFifo { ready: 5000, next: Some(task 0.0), .. }");
    assert_eq!(look(WokenFirst::new()), "WokenFirst { woken: 5000, yielded: 0, passed: 0, ahead_ns: 0, .. }");
    let fair =
        "FairGroups { quantum_ns: 16384, burst_ns: 100000, turn: None, waiting_groups: 5000, debts: 0, .. }";
    assert_eq!(look(FairGroups::new()), fair);
    for (looks, wanted) in [
        (look(Priority::new()), "Priority { ready: 5000, levels: 1, "),
        (look(Deadline::new()), "Deadline { dated: 0, undated: 5000, rule: InOrder, "),
        (look(Qlas::new()), "Qlas { base_ns: 16384, ready: 5000, half_life_ns: Some(1000000000), "),
        (look(Serpt::new()), "Serpt { base_ns: 16384, ready: 5000, half_life_ns: Some(1000000000), "),
        (look(Las::new()), "Las { "),
    ] {
        assert!(looks.contains(wanted), "{looks}");
    }
}

// ---- Wrong calls

proptest! {
    /// Calls that no executor should make: a task pushed twice or into two groups, what never was, groups closed while ready.
    #[test]
    fn wrong_calls_do_not_panic(calls in prop::collection::vec((0..8_u8, 0..4_u32, 0..4_u32), 0..200)) {
        make_calls(Las::new().with_resolution_ns(1).with_fair_turns(every(2)), &calls);
        make_calls(Qlas::new().with_base_ns(16).with_fair_turns(every(2)).with_half_life_ns(0), &calls);
        make_calls(Serpt::new().with_base_ns(16).with_fair_turns(every(2)).with_half_life_ns(0), &calls);
        make_calls(FairGroups::new().with_quantum_ns(30), &calls);
    }
}

fn make_calls(mut policy: impl Scheduler, calls: &[(u8, u32, u32)]) {
    for &(call, slot, group) in calls {
        match call {
            0 | 1 => policy.push(member(slot, group), Ready::Woken),
            2 => drop(policy.pop()),
            3 => policy.served(member(slot, group), 1, 40 << (10 * slot)),
            4 => policy.group_closed(GroupId::new(group)),
            5 => policy.group_opened(GroupId::new(group), slot.into(), &attributes(slot + 1)),
            6 => policy.group_changed(GroupId::new(group), &attributes(slot + 1)),
            _ => policy.drained(),
        }
        policy.peek(slot as usize);
    }
}
