//! `Serpt`: as `Qlas` until groups end, then by what remains; equal ranks in FIFO order; its fair turns.

use core::num::NonZeroU32;

use clockworker_schedulers::{FairTurns, GroupId, Qlas, Ready, Scheduler, Serpt};
use fastrand::Rng;

use super::script::{Told, drain, every, spawn, spawn_served, task, trace};
use super::world::{Beside, World};

/// A group index that no waiting task has.
const TEACHER: u32 = 1_000;

/// Strict, with levels that end at 16, 32, 64 ns and so on.
fn strict() -> Serpt {
    Serpt::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER)
}

/// The same, after the ends of groups of these sizes.
pub(crate) fn taught(sizes: impl IntoIterator<Item = u64>) -> Serpt {
    let mut serpt = strict();
    teach(&mut serpt, sizes);
    serpt
}

fn teach(serpt: &mut Serpt, sizes: impl IntoIterator<Item = u64>) {
    for size in sizes {
        serpt.timed(task(TEACHER), size);
        serpt.finished(task(TEACHER));
        serpt.group_closed(task(TEACHER).group);
    }
}

/// One long task of 1,000 ns to nine short ones of 10.
pub(crate) fn bimodal() -> impl Iterator<Item = u64> {
    (0..640).map(|n| if n % 10 == 0 { 1_000 } else { 10 })
}

/// What level `level` begins with.
fn start_ns(level: u32) -> u64 {
    if level == 0 { 0 } else { 8 << level }
}

/// Spawns a task in a slot, whose group is at the beginning of a level.
fn spawn_in(serpt: &mut Serpt, level: u32, slot: u32) {
    spawn_served(serpt, start_ns(level), [task(slot)]);
}

/// The rank of a group at the beginning of each level.
fn ranks(serpt: &Serpt, levels: u32) -> Vec<u32> {
    (0..levels).map(|level| serpt.rank_at(start_ns(level))).collect()
}

// ---- What is learnt

/// Two kinds of sizes: the long ones are equal among themselves, as far as sizes are known.
#[test]
fn of_two_kinds_the_long_ones_are_equal() {
    let serpt = taught(bimodal());
    assert_eq!(ranks(&serpt, 9), [0, 1, 1, 1, 1, 1, 1, 7, 8]);
    // (9 · 10 + 1,000) / 10 at the start, 1,000 − 16 in level 1 and, as it falls from there, above.
    let expected = [0, 1, 6].map(|level| serpt.expected_at(start_ns(level)));
    assert_eq!(expected, [109, 984, 984]);
}

#[test]
fn ranks_say_what_is_known_of_what_remains() {
    // Nothing can be foretold from what was attained: what remains is two units of 16 ns wherever one is.
    let memoryless = taught((1..=4_096_u64).map(|n| 16 * (u64::from(n.trailing_zeros()) + 1) - 1));
    assert_eq!(ranks(&memoryless, 7), [0, 0, 0, 0, 0, 5, 6], "16 went beyond 128 ns and none beyond 256");
    // What has doubled its size will do so again as likely as not.
    assert_eq!(ranks(&taught(heavy(1_024)), 12), Vec::from_iter(0..12));
    assert_eq!(ranks(&taught([1_000; 100]), 8), [0, 0, 0, 0, 0, 0, 0, 7]);
}

fn heavy(number: u64) -> impl Iterator<Item = u64> {
    (1..=number).map(|n| (16 << n.trailing_zeros()) - 1)
}

/// The shortest memory is 16 exits: each 8 exits of a level halve what was before.
#[test]
fn ranks_follow_when_sizes_change() {
    let mut serpt = strict().with_memory(NonZeroU32::MIN);
    teach(&mut serpt, bimodal());
    assert_eq!(ranks(&serpt, 5), [0, 1, 1, 1, 1]);
    // One in 16 comes to level 4: 32 of these leave a sixteenth of what was before. And 64 exits until the last look.
    teach(&mut serpt, heavy(32 * 16 + 64));
    assert_eq!(ranks(&serpt, 5), [0, 1, 2, 3, 4]);
    teach(&mut serpt, bimodal());
    assert_eq!(ranks(&serpt, 5), [0, 1, 1, 1, 1]);
}

#[test]
fn those_that_never_end_are_told_apart_as_by_qlas() {
    // Sixty of them, and nothing else: nothing is known.
    let mut serpt = strict();
    (0..60).for_each(|slot| serpt.timed(task(slot), 1 << 40));
    assert_eq!(ranks(&serpt, 39), Vec::from_iter(0..39));
    // Among two kinds that end, what they add is known too little of for them to be equal to any.
    teach(&mut serpt, bimodal());
    (60..80).for_each(|slot| serpt.timed(task(slot), 1 << 40));
    assert_eq!(ranks(&serpt, 9), [0, 1, 1, 1, 1, 1, 1, 7, 8]);
    assert_eq!(serpt.rank_at(serpt.attained_ns(task(60).group)), 37);
}

#[test]
fn groups_that_received_nothing_teach_nothing() {
    let mut serpt = taught(bimodal());
    let before = serpt.expected_at(0);
    teach(&mut serpt, [0; 10_000]);
    assert_eq!(serpt.expected_at(0), before);
}

#[test]
fn a_closed_group_starts_from_nothing() {
    let mut serpt = strict();
    serpt.timed(task(3), 1_000);
    assert_eq!((serpt.attained_ns(task(3).group), serpt.level(task(3).group)), (1_000, 6));
    serpt.group_closed(task(3).group);
    assert_eq!((serpt.attained_ns(task(3).group), serpt.level(task(3).group)), (0, 0));
    serpt.group_closed(GroupId::new(7_000)); // never heard of
}

#[test]
fn the_largest_sizes_overflow_nothing() {
    for base in [2, 16_384, u64::MAX] {
        let mut serpt =
            Serpt::new().with_base_ns(base).with_fair_turns(FairTurns::NEVER).with_memory(NonZeroU32::MAX);
        teach(&mut serpt, [u64::MAX; 1_000]);
        serpt.timed(task(0), u64::MAX);
        serpt.timed(task(0), u64::MAX);
        spawn(&mut serpt, [task(0), task(1)]);
        assert_eq!(serpt.expected_at(0), u64::MAX, "{base}");
        assert_eq!(drain(&mut serpt).len(), 2);
    }
}

// ---- The order

/// With fewer than eight ends nothing is known, and nothing differs from QLAS.
#[test]
fn until_groups_end_it_is_qlas() {
    let lengths: Vec<u64> = (0..14).map(|bits| (1 << bits) - 1).collect();
    for seed in 0..300 {
        let qlas = Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER);
        let mut world = World::new(Beside::new(strict(), qlas, |_, _| true));
        let mut random = Rng::with_seed(seed);
        for _ in 0..400 {
            let may_end = world.closed < 7;
            world.step(&mut random, &lengths, may_end);
        }
    }
}

#[test]
fn it_is_qlas_also_where_tails_are_heavy() {
    let mut serpt = taught(heavy(1_024));
    let mut qlas = Qlas::new().with_base_ns(16).with_fair_turns(FairTurns::NEVER);
    spawn(&mut serpt, [0, 1, 2].map(task));
    spawn(&mut qlas, [0, 1, 2].map(task));
    assert_eq!(trace(&mut serpt, 60, |_| 10), trace(&mut qlas, 60, |_| 10));
}

#[test]
fn a_long_task_goes_on_to_its_end_once_it_is_known_for_one() {
    let mut serpt = taught(bimodal());
    spawn(&mut serpt, [0, 1, 2].map(task));
    // The first poll of each shows it to be long. Then each goes on until it has had more than any that ended.
    let expected = [vec![0, 1, 2], vec![0; 10], vec![1; 10], vec![2; 10]].concat();
    assert_eq!(trace(&mut serpt, 33, |_| 100), expected);
}

#[test]
fn a_new_task_goes_before_one_that_has_shown_itself_long() {
    let mut serpt = taught(bimodal());
    spawn(&mut serpt, [task(0)]);
    assert_eq!(trace(&mut serpt, 5, |_| 100), [0; 5]);
    spawn(&mut serpt, [task(1)]);
    assert_eq!(drain(&mut serpt), [1, 0]);
}

#[test]
fn equal_ranks_are_fifo() {
    let mut serpt = taught([1_000; 100]);
    spawn(&mut serpt, [0, 1, 2].map(task));
    assert_eq!(trace(&mut serpt, 4, |_| 100), [0; 4], "one after another");
    assert_eq!(serpt.pop(), Some(task(0).id));
    serpt.timed(task(0), 100);
    serpt.push(task(0), Ready::Woken);
    assert_eq!(drain(&mut serpt), [1, 2, 0], "woken is behind those that wait, though it has had more");
}

#[test]
fn levels_that_become_equal_are_joined_in_their_order() {
    let mut serpt = strict();
    [3, 2, 1].into_iter().for_each(|level| spawn_in(&mut serpt, level, level));
    teach(&mut serpt, bimodal());
    spawn_in(&mut serpt, 1, 4);
    assert_eq!(drain(&mut serpt), [1, 2, 3, 4]);
}

#[test]
fn levels_that_become_different_are_parted_as_turns_come() {
    let mut serpt = taught(bimodal()).clone();
    [3, 1].into_iter().for_each(|level| spawn_in(&mut serpt, level, level));
    teach(&mut serpt, heavy(100_000));
    assert_eq!(serpt.peek(0), Some(task(3).id));
    assert_eq!(drain(&mut serpt), [1, 3]);
}

/// Those that were joined behind others are parted from them again.
#[test]
fn levels_that_are_joined_and_parted_again_are_in_their_order() {
    let mut serpt = strict();
    spawn_in(&mut serpt, 3, 3);
    teach(&mut serpt, bimodal());
    spawn_in(&mut serpt, 1, 1); // of equal rank, so behind
    assert_eq!(serpt.peek(1), Some(task(1).id));
    teach(&mut serpt, heavy(100_000));
    spawn_in(&mut serpt, 2, 2);
    assert_eq!(drain(&mut serpt), [1, 2, 3]);
}

#[test]
fn a_task_goes_on_before_those_that_came_to_its_rank_meanwhile() {
    let mut serpt = strict();
    spawn_in(&mut serpt, 3, 3);
    teach(&mut serpt, bimodal());
    serpt.timed(task(1), start_ns(1));
    assert_eq!(serpt.pop(), Some(task(3).id)); // it waited in level 3
    spawn(&mut serpt, [task(1)]); // waits in level 1, which is now of the same rank
    serpt.push(task(3), Ready::Yielded);
    assert_eq!(drain(&mut serpt), [3, 1]);
}

// ---- Fair turns

/// The same, and from now on every so many pops are fair turns, where none takes time.
fn fair_every(pops: u32, serpt: Serpt) -> Serpt {
    serpt.with_fair_turns(every(pops))
}

#[test]
fn a_fair_turn_leaves_the_one_that_goes_on_in_front() {
    let mut serpt = taught(bimodal());
    spawn_served(&mut serpt, 100, (0..3).map(task));
    let mut serpt = fair_every(3, serpt);
    //                                      fair:        .        .        .        .
    assert_eq!(trace(&mut serpt, 12, |_| 0), [0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 2]);
}

#[test]
fn a_fair_turn_takes_the_front_if_it_was_not_polled_since_the_last() {
    let mut serpt = strict();
    spawn_served(&mut serpt, start_ns(1), [task(1), task(2)]);
    let mut serpt = fair_every(2, serpt);
    assert_eq!(trace(&mut serpt, 1, |_| 0), [1]);
    spawn(&mut serpt, [task(0)]); // level 0, for ever
    // Fair turns go round the levels 1, 0, 1, 0 ...: task 1 is passed over once.
    //                                       fair:   .     .     .     .     .     .
    assert_eq!(trace(&mut serpt, 11, |_| 0), [2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0]);
}

#[test]
fn a_fair_turn_takes_the_front_if_the_one_that_went_on_has_left() {
    let mut serpt = fair_every(3, strict());
    spawn(&mut serpt, (0..4).map(task));
    assert_eq!(trace(&mut serpt, 1, |_| 0), [0]);
    assert_eq!(serpt.pop(), Some(task(0).id)); // and sleeps
    assert_eq!(trace(&mut serpt, 4, |_| 0), [1, 2, 2, 3]); // the first and the last are fair turns
}
