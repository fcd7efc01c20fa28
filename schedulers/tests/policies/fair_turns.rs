//! Fair turns have one part in N of the time, under each policy that is told of service.

use clockworker_schedulers::{FairTurns, GroupId, Las, Qlas, Ready, Scheduler, Serpt, Task, TaskId};

/// The part of the queue's time, in millionths, that an old task of polls of `old_ns` gets beside new ones that never stop
/// coming, each of which ends after a poll of `new_ns`.
fn part_of_the_old(mut policy: impl Scheduler, old_ns: u64, new_ns: u64) -> u64 {
    let old = Task { id: TaskId::new(0, 0), group: GroupId::new(0) };
    let new = |generation| Task { id: TaskId::new(1, generation), group: GroupId::new(1) };
    policy.served(old, 60_000_000_000);
    policy.push(old, Ready::Woken);
    policy.push(new(0), Ready::Spawned);
    let (mut generation, mut of_the_old_ns, mut passed_ns) = (0, 0, 0);
    let (mut pops, mut warm) = (0, false);
    while !warm || pops < 400_000 {
        pops += 1;
        let id = policy.pop().unwrap();
        let (task, ns) = if id == old.id { (old, old_ns) } else { (new(generation), new_ns) };
        policy.served(task, ns);
        passed_ns += ns;
        // What was served before counts as a fair turn: 31 times 67 ms come first.
        if !warm && passed_ns > 2_200_000_000 {
            (warm, pops, passed_ns, of_the_old_ns) = (true, 0, ns, 0);
        }
        if id == old.id {
            of_the_old_ns += ns;
            policy.push(old, Ready::Yielded);
        } else {
            policy.finished(task);
            policy.group_closed(task.group);
            generation += 1;
            policy.push(new(generation), Ready::Spawned);
        }
    }
    of_the_old_ns * 1_000_000 / passed_ns
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
