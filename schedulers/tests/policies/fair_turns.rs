//! Fair turns have one part in N of the time, under each policy that is told of service.

use clockworker_schedulers::{FairTurns, Las, Qlas, Scheduler, Serpt};

use super::script::{Told, task};
use super::world::{End, World};

const OLD: u64 = 0;
const NEW: u64 = 1;

/// The part of the queue's time, in millionths, that an old task of polls of `old_ns` gets beside new ones that never stop
/// coming, each of which ends after a poll of `new_ns`.
fn part_of_the_old(mut policy: impl Scheduler, old_ns: u64, new_ns: u64) -> u64 {
    policy.timed(task(0), 60_000_000_000);
    let mut world = World::new(policy);
    world.join(OLD, 1, 1);
    world.join(NEW, 1, 1);
    let poll = |world: &mut World<_>| {
        let length = |key| if key == OLD { (old_ns, End::Yields) } else { (new_ns, End::Finishes) };
        if world.poll(length) == Some(NEW) {
            world.join(NEW, 1, 1);
        }
    };
    // What was served before counts as a fair turn: 31 times 67 ms come first.
    let (mut passed_ns, mut received_ns) = (0, 0);
    while world.passed_ns <= 2_200_000_000 {
        (passed_ns, received_ns) = (world.passed_ns, world.received_ns(OLD));
        poll(&mut world);
    }
    (0..400_000).for_each(|_| poll(&mut world));
    (world.received_ns(OLD) - received_ns) * 1_000_000 / (world.passed_ns - passed_ns)
}

/// Fair turns go to old and new in turn, and one part in 32 is 31,250 millionths. A pop counts for a little besides its service.
#[test]
fn they_have_their_part_of_the_time_however_long_polls_are() {
    for (old_ns, new_ns, least, most) in [
        // The old one's turns are almost all of the time of fair turns.
        (10_000_000, 10_000, 31_250, 34_000),
        (1_000_000, 20_000, 30_000, 32_000),
        // They are half.
        (10_000, 10_000, 15_500, 16_000),
        // A poll of 10 µs for one of 10 ms in 64.
        (10_000, 10_000_000, 15, 40),
        // More than 2²⁶ ns of a poll do not count.
        (1_000_000_000, 10_000, 300_000, 450_000),
    ] {
        for part in [
            part_of_the_old(Las::new().without_half_life(), old_ns, new_ns),
            part_of_the_old(Qlas::new().without_half_life(), old_ns, new_ns),
            part_of_the_old(Serpt::new().without_half_life(), old_ns, new_ns),
        ] {
            assert!((least..=most).contains(&part), "{old_ns} beside {new_ns}: {part}");
        }
    }
}

#[test]
fn without_them_the_old_one_gets_nothing() {
    let never = || FairTurns::NEVER;
    let parts = [
        part_of_the_old(Las::new().without_half_life().with_fair_turns(never()), 1_000, 1_000),
        part_of_the_old(Qlas::new().without_half_life().with_fair_turns(never()), 1_000, 1_000),
        part_of_the_old(Serpt::new().without_half_life().with_fair_turns(never()), 1_000, 1_000),
    ];
    assert_eq!(parts, [0; 3]);
}
