//! `Qlas`: levels in powers of two, FIFO inside them, and its fair turns.

use clockworker_schedulers::{FairTurns, GroupId, Qlas, Ready, Scheduler};

use super::script::{Told, drain, every, member, spawn, task, trace};

/// Strict, with levels that end at 16, 32, 64 ns and so on.
fn strict() -> Qlas {
    Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER)
}

#[test]
fn levels_are_powers_of_two_from_the_base() {
    let mut qlas = Qlas::new();
    assert_eq!(qlas.base_ns(), 16_384);
    let group = GroupId::new(3);
    assert_eq!(qlas.level(group), 0);
    let mut levels = Vec::new();
    for step in [16_383, 1, 16_383, 1, 32_768, u64::MAX] {
        qlas.timed(member(0, 3), step);
        levels.push(qlas.level(group));
    }
    // 16,383 | 16,384 | 32,767 | 32,768 | 65,536 | saturated
    assert_eq!(levels, [0, 1, 1, 2, 3, 50]);
    let mut finest = Qlas::new().with_base_ns(2);
    finest.timed(member(0, 3), u64::MAX);
    assert_eq!(finest.level(group), 63);
}

#[test]
fn a_task_goes_on_until_it_leaves_its_level_for_the_tail_of_the_next() {
    let mut qlas = strict();
    spawn(&mut qlas, [task(0), task(1)]);
    // 8 ns polls: two in level 0, two in level 1, four in level 2.
    assert_eq!(trace(&mut qlas, 16, |_| 8), [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]);
    let mut qlas = strict();
    spawn(&mut qlas, [task(0), task(1)]);
    // 0 → 20 (level 1), 1 → 20 (level 1), 0 → 40 (level 2), 1 → 40 (level 2), 0 → 60, 0 → 80 (level 3), 1 ...
    assert_eq!(trace(&mut qlas, 8, |_| 20), [0, 1, 0, 1, 0, 0, 1, 1]);
}

#[test]
fn spawned_and_woken_tasks_go_to_the_tail_of_their_level() {
    let mut qlas = strict();
    spawn(&mut qlas, [task(0), task(1)]);
    assert_eq!(qlas.pop(), Some(task(0).id));
    qlas.timed(task(0), 4);
    qlas.push(task(2), Ready::Spawned);
    qlas.push(task(0), Ready::Woken); // it slept, and was woken between two polls
    assert_eq!(drain(&mut qlas), [1, 2, 0]);
}

#[test]
fn only_what_was_popped_last_goes_to_the_front() {
    let mut qlas = strict();
    spawn(&mut qlas, [task(0), task(1), task(2)]);
    assert_eq!(qlas.pop(), Some(task(0).id));
    assert_eq!(qlas.pop(), Some(task(1).id));
    qlas.push(task(0), Ready::Yielded);
    qlas.push(task(1), Ready::Yielded);
    assert_eq!(drain(&mut qlas), [1, 2, 0]);
}

#[test]
fn fair_turns_go_round_the_levels_and_rotate_inside_them() {
    let mut qlas = Qlas::new().with_base_ns(16);
    qlas.timed(task(2), 16); // level 1
    qlas.timed(task(3), 16);
    let mut qlas = qlas.with_fair_turns(every(2));
    spawn(&mut qlas, (0..4).map(task));
    // Polls of no time, so levels stay. Fair turns visit levels 1, 0, 1, 0 ...; their tasks go to the tail.
    //                                              fair:    .     .     .     .     .     .
    assert_eq!(trace(&mut qlas, 12, |_| 0), [0, 2, 0, 0, 1, 3, 1, 1, 0, 2, 0, 0]);
}

#[test]
fn a_fair_turn_leaves_the_other_tasks_of_its_group_at_the_tail() {
    let mut qlas = Qlas::new().with_base_ns(16);
    qlas.timed(member(2, 2), 16); // level 1
    let mut qlas = qlas.with_fair_turns(every(2));
    spawn(&mut qlas, [member(9, 9), member(0, 0), member(1, 0), member(3, 3), member(2, 2)]);
    assert_eq!(qlas.pop(), Some(member(9, 9).id)); // and sleeps
    assert_eq!(qlas.pop(), Some(member(2, 2).id), "a fair turn: level 1");
    assert_eq!(qlas.pop(), Some(member(0, 0).id));
    qlas.push(member(0, 0), Ready::Yielded);
    assert_eq!(qlas.pop(), Some(member(1, 0).id), "a fair turn: level 0");
    assert_eq!(drain(&mut qlas), [3, 0]);
}
