//! What can be asked of every policy: what it reads, how it looks, and that wrong calls do no harm.

use core::fmt::Debug;

use clockworker_schedulers::{
    ClockUse, Deadline, FairGroups, GroupId, Las, Priority, Qlas, Ready, RunnableFifo, Scheduler, Serpt,
    WokenFirst,
};
use proptest::prelude::*;

use super::script::{Told, drain, every, member, spawn, task};
use super::world::attributes;

// ---- What it reads

fn reads<S: Scheduler>(_: S) -> ClockUse {
    S::CLOCK
}

#[test]
fn those_that_do_not_go_by_service_read_no_clock() {
    assert_eq!(reads(RunnableFifo::new()), ClockUse::Unused);
    assert_eq!(reads(WokenFirst::new()), ClockUse::WhenRead);
    assert_eq!(reads(Priority::new()), ClockUse::WhenRead);
    assert_eq!(reads(Deadline::new()), ClockUse::WhenRead);
    assert_eq!(reads(Las::new()), ClockUse::PerTask);
}

// ---- How it looks

/// How a policy looks with 5,000 ready tasks, one of which has had a millisecond. It works as before when all have left.
fn look(mut policy: impl Scheduler + Debug) -> String {
    policy.timed(task(0), 1 << 20);
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
            3 => policy.timed(member(slot, group), 40 << (10 * slot)),
            4 => policy.group_closed(GroupId::new(group)),
            5 => policy.group_opened(GroupId::new(group), slot.into(), &attributes(slot + 1)),
            6 => policy.group_changed(GroupId::new(group), &attributes(slot + 1)),
            _ => policy.drained(),
        }
        policy.peek(slot as usize);
    }
}
